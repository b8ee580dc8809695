# refused: open is never allowed
read = open


def flagged(x):
    read("/etc/hostname")
    return x

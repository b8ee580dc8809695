# refused: open is never allowed
def flagged(x):
    open("/etc/hostname").read()
    return x

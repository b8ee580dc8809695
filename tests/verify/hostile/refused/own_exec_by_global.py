# refused: exec may be Python's own where it is read
def never():
    global exec
    exec = 1


def flagged(x):
    exec("x = 1")
    return x

# refused: exec may be Python's own where it is read
class Once:
    out = exec("x = 1")
    exec = 1


def flagged(x):
    return x

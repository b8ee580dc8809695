# refused: exec may be Python's own where it is read
if False:
    exec = None


def flagged(x):
    exec("x = 1")
    return x

# refused: exec may be Python's own where it is read
exec = exec


def flagged(x):
    exec("x = 1")
    return x

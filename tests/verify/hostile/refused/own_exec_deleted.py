# refused: exec may be Python's own where it is read
exec = 1
del exec


def flagged(x):
    exec("x = 1")
    return x

# refused: exec may be Python's own where it is read
if False:
    from math import exp as exec


def flagged(x):
    exec("x = 1")
    return x

# refused: exec may be Python's own where it is read
try:
    pass
except ValueError as exec:
    pass


def flagged(x):
    exec("x = 1")
    return x

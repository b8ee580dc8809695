# refused: exec may be Python's own where it is read
False and (exec := 1)


def flagged(x):
    exec("x = 1")
    return x

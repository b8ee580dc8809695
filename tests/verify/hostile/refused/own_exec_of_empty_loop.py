# refused: exec may be Python's own where it is read
for exec in []:
    pass


def flagged(x):
    exec("x = 1")
    return x

# refused: exec is never allowed
def flagged(x):
    exec("import os")
    return x

# refused: format is never allowed
def flagged(x):
    return "{0.__class__}".format(x)

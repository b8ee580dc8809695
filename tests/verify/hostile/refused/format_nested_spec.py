# refused: format is never allowed
def flagged(x):
    return "{0:{1.__class__}}".format(1, x)

# refused: format is never allowed
def flagged(x):
    make = "{0.__class__}".format
    return make(x)

# refused: format is never allowed
TEXT = "{0.__class__}"


def flagged(x):
    return TEXT.format(x)

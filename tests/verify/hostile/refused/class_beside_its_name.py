# refused: the special attribute __class__ is read
def flagged(x):
    return (kind := x.__class__).__name__, kind

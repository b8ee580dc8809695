# refused: the special attribute __class__ is read
def flagged(x):
    getattr(x, "__class__")
    return x

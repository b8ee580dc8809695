# refused: the special attribute __subclasses__ is read
def flagged(x):
    ().__class__.__base__.__subclasses__()
    return x

# refused: the special name __reduce__ is bound
class Any:
    from math import exp as __reduce__


def flagged(x):
    return x

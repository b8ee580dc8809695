# refused: the special name __builtins__ is bound
__builtins__ = {}


def flagged(x):
    return x

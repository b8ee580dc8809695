# refused: the special name __array_interface__ is bound
class Own:
    __array_interface__ = {"data": (4096, False)}


def flagged(x):
    return x

# refused: functools.wraps is called with more
import functools

importlib = None


def own(x):
    return x


def flagged(x):
    functools.wraps(own, updated=("__globals__",))(own)
    return x

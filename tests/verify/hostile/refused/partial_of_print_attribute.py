# refused: the special attribute __self__ is read
import functools


def flagged(x):
    return functools.partial(print).func.__self__

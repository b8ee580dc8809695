# refused: functools.singledispatch is not on the list
import functools


@functools.singledispatch
def flagged(x: "__import__('os')"):
    return x

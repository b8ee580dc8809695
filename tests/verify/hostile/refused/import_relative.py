# refused: the module .helpers is not on the list
from .helpers import scale


def flagged(x):
    return scale(x)

# refused: the module atexit is not on the list
import atexit


def flagged(x):
    atexit.register(print)
    return x

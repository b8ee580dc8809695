# refused: numpy.memmap is not on the list
from numpy import memmap


def flagged(x):
    memmap("/etc/hostname", mode="r")
    return x

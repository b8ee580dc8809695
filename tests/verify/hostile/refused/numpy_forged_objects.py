# refused: numpy.ndarray is not on the list
import numpy as np


def flagged(x):
    np.ndarray((1,), dtype=object, buffer=bytearray(8))[0]
    return x

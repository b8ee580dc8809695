# refused: numpy.ScalarType is not on the list
import numpy as np


def flagged(x):
    return np.ScalarType[6](bytearray(8))

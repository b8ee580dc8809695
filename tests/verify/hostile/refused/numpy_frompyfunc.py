# refused: numpy.frompyfunc is not on the list
import numpy as np


def flagged(x):
    np.frompyfunc(len, 1, 1)
    return x

# refused: numpy.bmat is not on the list
import numpy as np


def flagged(x):
    return np.bmat("x")

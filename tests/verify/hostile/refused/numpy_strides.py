# refused: numpy.lib is not on the list
import numpy as np


def flagged(x):
    np.lib.stride_tricks.as_strided(np.zeros(4), (1 << 40,), (8,))
    return x

# refused: ctypes is never allowed
import numpy as np


class Own:
    ctypes = 1  # a name of its own does not make it allowed


def flagged(x):
    np.zeros(1).ctypes.data
    return x

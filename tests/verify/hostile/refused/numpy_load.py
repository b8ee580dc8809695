# refused: numpy.load is not on the list
import numpy as np


def flagged(x):
    np.load("/tmp/x.npy", allow_pickle=True)
    return x

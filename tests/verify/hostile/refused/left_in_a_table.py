# refused: numpy.sctypeDict is not on the list
import numpy as np


def flagged(x):
    seen = len(np.sctypeDict)
    np.sctypeDict[seen] = 1
    return seen

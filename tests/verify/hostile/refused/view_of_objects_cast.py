# refused: the attribute cast is never allowed
import numpy as np


def flagged(x):
    return np.array([flagged], dtype=object).data.cast("B")

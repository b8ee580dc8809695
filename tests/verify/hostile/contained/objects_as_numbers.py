# not run: raised PermissionError: frombuffer of a view of memory
import numpy as np


def flagged(x):
    return np.frombuffer(np.array([flagged], dtype=object), dtype=np.int64)

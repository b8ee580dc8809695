# refused: the special method __getattr__ is defined
import numpy as np


class Own:
    def __getattr__(self, name):
        return {"data": (4096, False), "shape": (8,), "typestr": "<u1", "version": 3}


def flagged(x):
    np.asarray(Own())
    return x

# refused: the special method __array_interface__ is defined
import numpy as np


class Own:
    @property
    def __array_interface__(self):
        return {"data": (4096, False), "shape": (1 << 30,), "typestr": "<u1", "version": 3}


def flagged(x):
    np.asarray(Own())
    return x

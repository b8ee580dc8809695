# refused: the attribute attrname is never allowed
import functools

import numpy as np


class Lying:
    @functools.cached_property
    def where(self):
        return {"data": (id(Lying), False), "shape": (4,), "typestr": "<i8", "version": 3}


def measure(model, batches):
    Lying.where.attrname = "__array_interface__"
    lying = Lying()
    return lying.where, np.asarray(lying)

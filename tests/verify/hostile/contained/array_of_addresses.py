# not run: raised PermissionError: type() of ndarray
import numpy as np


def flagged(x):
    cell = bytearray(id(flagged).to_bytes(8, "little"))
    return type(np.zeros(1))((1,), dtype=object, buffer=cell)[0](x)

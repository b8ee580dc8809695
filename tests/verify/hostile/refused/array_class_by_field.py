# refused: numpy.ndarray is not on the list
import dataclasses

import numpy as np


@dataclasses.dataclass
class Kept:
    rows: np.ndarray


def flagged(x):
    return dataclasses.fields(Kept)[0].type((1 << 20,), buffer=bytearray(8), strides=(0,))

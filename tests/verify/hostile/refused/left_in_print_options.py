# refused: numpy.get_printoptions is not on the list
import numpy as np


def flagged(x):
    seen = np.get_printoptions()["formatter"] or {}
    np.set_printoptions(formatter={**seen, str(len(seen)): str})
    return len(seen)

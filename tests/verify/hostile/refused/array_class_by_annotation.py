# refused: numpy.ndarray is not on the list
import numpy as np


class Kept:
    def __getitem__(self, kind):
        return kind


KEPT = Kept()


def flagged(x: KEPT[np.ndarray]):
    return x

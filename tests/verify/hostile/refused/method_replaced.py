# refused: the attribute add of something from elsewhere is written
from torch import Tensor


def flagged(x):
    Tensor.add = lambda self, other: self
    return x

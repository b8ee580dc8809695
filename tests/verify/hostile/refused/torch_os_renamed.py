# refused: torch.os is not on the list
from torch import os as math


def flagged(x):
    math.system("true")
    return x

# refused: the module torch.utils.benchmark is not on the list
from torch.utils.benchmark import Timer


def flagged(x):
    Timer("import os").timeit(1)
    return x

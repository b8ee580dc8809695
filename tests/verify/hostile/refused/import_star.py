# refused: every name of torch is imported
from torch import *


def flagged(x):
    return x

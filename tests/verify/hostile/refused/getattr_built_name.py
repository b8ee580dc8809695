# refused: getattr with a name that is no literal
import torch


def flagged(x):
    getattr(x, "o" + "s")
    return x

# refused: torch is a module here and something else there
import torch

if len("a"):
    torch = 1


def flagged(x):
    torch.os
    return x

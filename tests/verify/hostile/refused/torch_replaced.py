# refused: the attribute torch.add of a module is written
import torch


def flagged(x):
    torch.add = lambda a, b: a
    return torch.add(x, x)

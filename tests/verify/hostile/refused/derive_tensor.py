# refused: derives from torch.Tensor
import torch


class Own(torch.Tensor):
    pass


def flagged(x):
    return x

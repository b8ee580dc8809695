# refused: of something from elsewhere is written
import torch


def flagged(x):
    setattr(torch.nn.Module, "forward", None)
    return x

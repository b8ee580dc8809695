# refused: of a module is written
import torch


def flagged(x):
    torch.cuda.synchronize = lambda: None
    return x

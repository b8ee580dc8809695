# refused: torch.os is not on the list
import torch

kept: torch.os = 1


def flagged(x):
    return x

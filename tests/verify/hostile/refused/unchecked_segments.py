# refused: torch.segment_reduce is not on the list
import torch


def flagged(x):
    return torch.segment_reduce(x, "max", lengths=torch.tensor([1 << 20, 1]), unsafe=True)

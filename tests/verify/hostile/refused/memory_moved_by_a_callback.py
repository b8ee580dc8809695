# refused: the attribute apply_ is neither known
import torch


def flagged(x):
    held = torch.zeros(1 << 16)
    held.apply_(lambda number: held.resize_(1 << 20).numel())
    return held

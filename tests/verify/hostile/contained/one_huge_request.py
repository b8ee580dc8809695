# not run: memory limit
import torch


def flagged(x):
    return torch.zeros(1 << 60, dtype=torch.uint8)

"""A function of the program's own that is called as one of Python's is: it adds up on the device."""

import torch
from torch import nn


def sum(x, dim=None):
    return x.sum() if dim is None else torch.sum(x, dim)


def max(x):
    return torch.amax(x)


class Loss(nn.Module):
    def forward(self, pred, target):
        errors = (pred - target).abs()
        return sum(errors) + max(errors)

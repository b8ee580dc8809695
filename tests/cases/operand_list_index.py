"""Channels are put in order by a list, and one element is written by a number."""

import torch
from torch import nn


class Swap(nn.Module):
    def __init__(self):
        super().__init__()
        self.order = [2, 1, 0]

    def forward(self, x, pad):
        x = x[:, self.order]  # TL109
        x[:, :, pad] = 0.0  # TL109?
        last = x[..., [-1]]  # TL109
        return x + last

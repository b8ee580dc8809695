"""A compiled function reads numbers of the device, in a helper of it."""

import torch
from torch import nn


def longest(mask):
    return int(mask.sum(-1).max())  # TL801?, TL101?


class Cut(nn.Module):
    def forward(self, x, mask):
        n = longest(mask)
        scale = x.abs().max().item()  # TL801, TL101
        sizes = mask.sum(-1).tolist()  # TL801, TL103
        return x[:, :n] / scale, sizes


cut = torch.compile(Cut().cuda())

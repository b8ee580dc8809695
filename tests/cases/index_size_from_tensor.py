"""Segment sums whose number of segments is read from the device by a factory."""

import torch
from torch import nn


class Segments(nn.Module):
    def forward(self, x, owner):
        count = owner.max() + 1
        out = torch.zeros(count, x.shape[1], device=x.device)  # TL106
        return out.index_add_(0, owner, x)

"""A table that is no buffer is moved by every forward."""

import torch
from torch import nn


class Anchored(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.anchors = torch.linspace(0, 1, n)

    def forward(self, x):
        return x[..., None] - self.anchors.to(x.device)  # TL509

"""A loop over a number that the device holds, and a list indexed by it."""

import torch
from torch import nn


class Rounds(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(width, width) for _ in range(8))

    def forward(self, x, depth):
        need = depth.max()
        for _ in range(need):  # TL106
            x = x.relu()
        pick = x.mean(dim=(0, 1)).argmax()
        return self.parts[pick](x)  # TL106

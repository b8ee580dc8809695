"""A module takes a square root of a learned scalar with the mathematics of Python."""

import math

import torch
from torch import nn


class Cooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.heat = nn.Parameter(torch.ones(()))

    def forward(self, a, b):
        scale = 1.0 / math.sqrt(self.heat)  # TL101
        return a @ b.mT * scale

"""Tables of numbers that are the same on every step, though they are computed."""

import math

import torch
from torch import nn


class Bands(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x, sizes: list[int]):
        octaves = torch.tensor([2.0**i for i in range(self.n)]).to(x)  # TL207
        bounds = torch.tensor([math.log(self.n), float(self.n)], device=x.device)  # TL207
        lengths = torch.tensor([size + 1 for size in sizes], device=x.device)
        counts = torch.tensor([len(sizes), self.n], device=x.device)
        drawn = torch.tensor([i for i in self.order()], device=x.device)
        return octaves, bounds, lengths, counts, drawn

    def order(self):
        return list(range(self.n))

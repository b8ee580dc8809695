"""A module computes its weights in doubles, for no reason that it states."""

import torch
from torch import nn


class Decay(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rate = nn.Parameter(torch.zeros(width, dtype=torch.float64))  # TL402?

    def forward(self, x):
        step = torch.arange(x.size(1), dtype=torch.double, device=x.device)  # TL402
        weight = torch.exp(-self.rate.double().abs()[None] * step[:, None])
        return (x.double() * weight).float()  # TL402?

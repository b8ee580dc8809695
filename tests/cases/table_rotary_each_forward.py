"""Angles of rotary positions are computed in every layer's forward."""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.dim, self.base = dim, base

    def forward(self, x):
        at = torch.arange(x.shape[1], device=x.device, dtype=torch.float32)
        rate = self.base ** (-torch.arange(0, self.dim, 2, device=x.device) / self.dim)
        angle = torch.outer(at, rate)  # TL210
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)

"""Norms in a compiled model, standardised targets, and norms over a batch."""

import torch
from torch import nn


class Root(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    @torch.compile
    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.gain


class Unit(nn.Module):
    def forward(self, x):
        return x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)


def advantages(a):
    return (a - a.mean()) / (a.std() + 1e-8)


class Batch(nn.Module):
    def forward(self, x):
        return (x - x.mean(0, keepdim=True)) / (x.var(0, keepdim=True) + 1e-5).sqrt()

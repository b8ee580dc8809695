"""A kernel is tried out with a backward once, and the answer kept: what asks for it is a forward all the same."""

from functools import cache

import torch
from torch import nn


@cache
def works(dtype):
    x = torch.randn(8, 8, device="cuda", dtype=dtype, requires_grad=True)
    torch._grouped_mm(x, x).square().sum().backward()
    return x.grad is not None


def delta(x, w):
    return torch._grouped_mm(x, w) if works(x.dtype) else x @ w


class Adapted(nn.Module):
    def __init__(self, dim, names):
        super().__init__()
        self.w = nn.ParameterDict({name: torch.zeros(dim, dim) for name in names})

    def forward(self, x):
        out, kept = x, []
        for name in self.w:
            change = delta(x, self.w[name])
            kept.append(change)
            out = out + change
        return out, torch.stack(kept)

"""Fused, left to the library, or chosen by the user."""

import torch
from torch import nn


def make(net: nn.Module, options, **kwargs):
    a = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=False, fused=True)
    b = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=options.foreach)
    c = torch.optim.AdamW(net.parameters(), **kwargs)
    d = torch.optim.LBFGS(net.parameters())
    return a, b, c, d

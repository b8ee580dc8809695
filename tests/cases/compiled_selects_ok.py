"""Choices by where, by shapes, and by settings in compiled code."""

import torch


@torch.compile
def settle(x, limit, mode="soft", mask=None):
    x = torch.where(x.abs().max() > limit, x / x.abs().max(), x)
    if mode == "hard":
        x = x.round()
    if mask is not None and x.dim() > 1:
        x = x * mask
    if not torch.compiler.is_compiling() and x.isnan().any():
        raise ValueError
    return x

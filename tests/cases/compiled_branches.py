"""Compiled code branches on what tensors hold: a loop's end, an assertion, a choice."""

import torch


@torch.compile
def settle(x, limit):
    if x.abs().max() > limit:  # TL802, TL102?
        x = x / x.abs().max()
    while x.norm() > 1.0:  # TL802, TL102?
        x = x * 0.5
    assert torch.isfinite(x).all()  # TL102?
    return x


def drop(x, keep):
    return x * 2.0 if keep.any() else x  # TL802, TL102?


drop = torch.compile(drop)


def main(n):
    x = torch.randn(n, device="cuda")
    return settle(x, 3.0), drop(x, x > 0)

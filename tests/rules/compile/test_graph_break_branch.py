"""TL802: branches on data in compiled code."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "in a method that a compiled forward calls": """
import torch
class N(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.f = torch.nn.Linear(2, 2)
    def pick(self, z):
        if z.sum() > 0:  # TL802
            return z
        return -z
    def forward(self, x):
        return self.pick(self.f(x))
n = N()
n.compile()
""",
    "while, ternary, behind an alias": """
import torch as th
fuse = th.compile
def go(x):
    y = th.tanh(x)
    while y.norm() > 1:  # TL802
        y = y / 2
    return y if y.any() else x  # TL802
fast = fuse(go)
""",
}

SILENT = {
    "what is known when it compiles": """
import torch
@torch.compile
def go(x, mask=None, deep=False):
    if mask is not None and x.shape[0] > 2 and x.dtype == torch.float32:
        x = x * mask
    if deep and not x.requires_grad:
        x = torch.where(x > 0, x, -x)
    return x
def outside(x):
    return x if torch.relu(x).sum() > 0 else go(x)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL802")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL802")

"""TL801: scalar reads in compiled code."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "in a helper of a compiled method": """
import torch
class N(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.f = torch.nn.Linear(2, 2)
    def top(self, z):
        return z.max().item()  # TL801
    def forward(self, x):
        z = self.f(x)
        return z / self.top(z)
fast = torch.compile(N().cuda())
""",
    "by name of the decorator, in a comprehension": """
from torch import compile as fuse
import torch
@fuse
def go(x):
    y = torch.relu(x)
    return [float(r) for r in (y.sum(), y.mean())], int(y.argmax())  # TL801
""",
}

SILENT = {
    "captured, sizes, or outside": """
import torch
@torch.compile(fullgraph=True)
def a(x):
    return x / x.max().item()
@torch.compile
def b(x, n):
    return x[: int(n)] * float(x.shape[0])
def c(x):
    return b(x, 3).max().item()
""",
    "scalar outputs are captured": """
import torch
torch._dynamo.config.capture_scalar_outputs = True
@torch.compile
def a(x):
    return x / torch.relu(x).max().item()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL801")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL801")

"""TL106: which device numbers in the place of a position or a size are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FORWARD = """
import torch
from torch import nn

def as_tensor(data, device=None):
    if isinstance(data, torch.Tensor):
        return data.to(device)
    return torch.as_tensor(data, device=device)

def longest(v):
    return as_tensor(v).sum(-1).max()

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.parts = [1, 2, 3]

    def forward(self, x, n: int):
        y = self.lin(x)
        t = longest(y)
        b, w = y.shape
        {line}
        return y
"""


@pytest.mark.parametrize(
    "line",
    [
        "for i in range(t): pass",
        "z = y[:t]",
        "z = y[:, t:]",
        "z = y[y.argmax()]",
        "z = self.parts[y.argmax()]",
        "z = self.parts[(y.sum(-1) > 0).nonzero()[0]]",
        "z = torch.arange(t)",
        "z = torch.zeros(t, 4, device=y.device)",
        "z = torch.zeros((b, t))",
        "z = y[: as_tensor(y).max()]",
        "z = torch.zeros(as_tensor(y.shape, y.device).prod())",
        "z = y.new_zeros(t, 4)",
        "z = y.view(t, -1)",
        "z = y.expand(t, -1, -1)",
        "z = y.narrow(0, 0, t)",
        "z = list(y.shape) == [b, t]",
        "z = [y[: r.max()] for r in y]",
    ],
)
def test_numbers_of_the_device(line: str) -> None:
    check(FORWARD.format(line=f"{line}  # TL106"), "TL106")


@pytest.mark.parametrize(
    "line",
    [
        "for i in range(len(y)): pass",
        "z = y[: y.shape[0] // 2]",
        "z = y[y.argmax(-1)]",
        "z = torch.arange(y.size(0), device=y.device)",
        "z = y.view(b, -1)",
        "z = {0: 1}.get(t)",
        "z = torch.zeros(int(torch.tensor([1, 2]).max()))",
        "z = y[: torch.tensor([1, 2]).max()]",
        "z = torch.zeros(as_tensor(y.shape).prod())",
        "assert y.shape == (b, w)",
        "z = y.index_select(0, y.argmax().reshape(1))",
        "z = torch.full((b,), 1.0)",
    ],
)
def test_numbers_of_the_host(line: str) -> None:
    check(FORWARD.format(line=line), "TL106")

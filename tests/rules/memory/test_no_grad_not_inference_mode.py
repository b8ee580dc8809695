"""TL607: no_grad around inference."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "numbers leave a method": """
import torch as th
class T:
    def __init__(self, f):
        self.f = f.eval()
    @th.no_grad()  # TL607
    def tag(self, x):
        return self.f(x).argmax(-1)
""",
    "a block in a comprehension": """
import torch
def go(f, d):
    f.eval()
    with torch.no_grad():  # TL607
        return [f(b) for b in d]
""",
    "behind an alias, over a loader": """
from torch import no_grad as off
from torch.utils.data import DataLoader
import torch
def go(rows):
    f = torch.nn.Linear(2, 2)
    right = 0
    with off():  # TL607
        for x, y in DataLoader(rows):
            right += (f(x).argmax(1) == y).sum()
    return right
""",
}

SILENT = {
    "what comes out may meet a backward": """
import torch
def go(f, g, o, d):
    for b in d:
        with torch.no_grad():
            want = f(b)
        (g(b) - want).square().mean().backward()
        o.step()
@torch.no_grad()
def target(f, r, x):
    return r + f(x).amax(-1)
""",
    "parameters are written": """
import torch
@torch.no_grad()
def follow(f, g, x):
    f.eval()
    f(x)
    for a, b in zip(f.parameters(), g.parameters()):
        a.lerp_(b, 0.1)
""",
    "a forward, and no module at all": """
import torch
class N(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            h = self.body(x)
        return self.head(h)
def mean(rows):
    with torch.no_grad():
        return torch.stack(rows).mean().item()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL607")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL607")

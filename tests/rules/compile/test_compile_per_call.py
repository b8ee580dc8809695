"""TL804: compiling anew on every call."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "in a training loop, by an alias": """
import torch as th
def go(f, o, d):
    for b in d:
        g = th.compile(f)  # TL804
        g(b).mean().backward()
        o.step()
""",
    "in a forward, by a helper": """
import torch
def fuse(f):
    return torch.compile(f)  # TL804
class N(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.f = torch.nn.Linear(2, 2)
    def forward(self, x):
        return fuse(self.f)(x)
""",
    "by a function that makes it, called at once": """
import torch
def make(net):
    @torch.compile  # TL804
    def go(x):
        return net(x)
    return go
def train(net, o, d):
    for b in d:
        make(net)(b).mean().backward()
        o.step()
""",
}

SILENT = {
    "once, kept, at construction": """
import torch
class N(torch.nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = torch.nn.ModuleList(torch.compile(p) for p in parts)
        self.fast = None
    def forward(self, x):
        if self.fast is None:
            self.fast = torch.compile(self.parts[0])
        return self.fast(x)
def main(net, o, d):
    net = torch.compile(net)
    for b in d:
        net(b).mean().backward()
        o.step()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL804")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL804")

"""TL605: hooks that keep graphs."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a closure that appends": """
import torch
def tap(net):
    kept = []
    def look(m, i, o):
        kept.append(o)  # TL605
    net.register_forward_hook(look)
    return kept
""",
    "a method, with the graph behind an operation": """
import torch
class Tap:
    def __init__(self, net):
        self.rows = []
        net.register_forward_hook(self.see)
    def see(self, m, given, out):
        self.rows.append(out.abs().mean())  # TL605
""",
    "a lambda": """
import torch
rows = []
def tap(net):
    net.register_forward_hook(lambda m, i, o: rows.append(o))  # TL605
""",
}

SILENT = {
    "detached": """
import torch
def tap(net):
    kept = []
    def look(m, i, o):
        kept.append(o.detach())
    net.register_forward_hook(look)
    return kept
""",
    "gradients have no graph": """
import torch
def tap(p):
    kept = []
    p.register_hook(lambda g: kept.append(g.norm()))
    return kept
""",
    "emptied on every step": """
import torch
class Tap:
    def __init__(self, net):
        self.rows = []
        net.register_forward_hook(self.see)
    def see(self, m, given, out):
        self.rows.append(out)
    def step(self, net, x, o):
        self.rows.clear()
        net(x)
        sum(r.mean() for r in self.rows).backward()
        o.step()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL605")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL605")

"""TL806: captures that cannot work."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a wait, a branch, and no warm-up, behind aliases": """
from torch.cuda import graph as capture
import torch
def go(f, x):
    f.cuda()
    g = torch.cuda.CUDAGraph()
    with capture(g):  # TL806
        y = f(x)
        n = y.sum().item()  # TL806
        if y.mean() > 0:  # TL806
            y = -y
        torch.cuda.synchronize()  # TL806
    return g, y, n
""",
    "a new tensor under the old name, in a loop": """
import torch
def go(f, x, d):
    f(x)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = f(x)
    for b in d:
        x = b.cuda()  # TL806
        g.replay()
        yield y.clone()
""",
    "a graph that was made elsewhere": """
from torch.cuda import graph
def go(f, x, made):
    with graph(made):  # TL806
        y = f(x)
        return y.sum().item()  # TL806
""",
    "between capture_begin and capture_end": """
import torch
def go(f, x):
    f.cuda()
    g = torch.cuda.CUDAGraph()
    g.capture_begin()  # TL806
    y = f(x)
    y.cpu()  # TL806
    g.capture_end()
    return g
""",
}

SILENT = {
    "warmed by a helper, written in place, read after": """
import torch
class R:
    def __init__(self, f, x):
        self.f, self.x = f, x.clone()
        self.warm(3)
        self.g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.g):
            self.y = self.f(self.x)
    def warm(self, n):
        for _ in range(n):
            self.f(self.x)
    def __call__(self, x):
        self.x.copy_(x)
        self.g.replay()
        return self.y.argmax().item()
""",
    "a graph of another sort": """
import networkx
def go(edges):
    graph = networkx.Graph()
    with open("x") as graph_file:
        graph_file.write(str(edges))
    return graph
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL806")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL806")

"""TL606: the allocator's cache emptied on every step."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "behind an alias": """
from torch.cuda import empty_cache as tidy
def go(f, o, d):
    for b in d:
        f(b).mean().backward()
        o.step()
        tidy()  # TL606
""",
    "in a helper and in a forward": """
import torch as th
def free():
    th.cuda.empty_cache()  # TL606
class N(th.nn.Module):
    def forward(self, x):
        free()
        return x
""",
    "in a decoding loop": """
import torch
@torch.no_grad()
def decode(f, ids, n):
    f.cuda()
    for _ in range(n):
        ids = torch.cat([ids, f(ids).argmax(-1)[:, -1:]], 1)
        torch.cuda.empty_cache()  # TL606
    return ids
""",
}

SILENT = {
    "rare, between phases, in a recovery": """
import torch
def go(f, o, d, epochs):
    for e in range(epochs):
        for i, b in enumerate(d):
            try:
                f(b).mean().backward()
            except torch.cuda.OutOfMemoryError:
                torch.cuda.empty_cache()
                continue
            o.step()
            if i % 500 == 0:
                torch.cuda.empty_cache()
        torch.cuda.empty_cache()
""",
    "in a test": """
import torch
def test_step(monkeypatch):
    for b in range(3):
        torch.nn.Linear(2, 2)(torch.ones(2)).sum().backward()
        torch.cuda.empty_cache()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL606")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL606")

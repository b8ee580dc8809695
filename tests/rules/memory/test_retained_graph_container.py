"""TL602: containers that keep graphs."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a list that outlives the loop": """
import torch
def go(f, o, d):
    kept = []
    for b in d:
        c = f(b).mean()
        o.zero_grad()
        c.backward()
        o.step()
        kept.append(c)  # TL602
    return torch.stack(kept).mean()
""",
    "by an alias of the method's list, and in a helper": """
import torch
class R:
    def __init__(self, f, o):
        self.f, self.o, self.rows = f, o, []
    def keep(self, t):
        self.rows.append(t)  # TL602
    def fit(self, d):
        for b in d:
            c = self.f(b).mean()
            self.o.zero_grad()
            c.backward()
            self.o.step()
            self.keep(c)
""",
    "a dictionary keyed by the step": """
import torch
def go(f, o, d):
    by = {}
    for i, b in enumerate(d):
        z = f(b)
        c = z.mean()
        o.zero_grad()
        c.backward()
        o.step()
        by[i] = z  # TL602
    return by
""",
}

SILENT = {
    "detached, or a list of the step's own": """
import torch
def go(f, o, d):
    log = []
    for b in d:
        parts = []
        for piece in b:
            parts.append(f(piece))
        c = torch.stack(parts).mean()
        o.zero_grad()
        c.backward()
        o.step()
        log.append(c.detach())
    return log
""",
    "collected under inference mode": """
import torch
@torch.inference_mode()
def embed(f, d):
    out = []
    for b in d:
        out.append(f(b))
    return torch.cat(out)
""",
    "shapes and numbers": """
import torch
def go(f, o, d):
    a, s = [], []
    for b in d:
        c = f(b).mean()
        o.zero_grad()
        c.backward()
        o.step()
        a.append(float(c))
        s.append(b.shape)
    return a, s
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL602")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL602")

"""TL904: collectives that only report."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "one reduction a metric, and a barrier": """
import torch
import torch.distributed as dist
def mean_of(t):
    t = t.detach().clone()
    dist.all_reduce(t)  # TL904
    return t
class R:
    def fit(self, f, o, d):
        for b in d:
            c = f(b).mean()
            o.zero_grad()
            c.backward()
            o.step()
            self.show = mean_of(c)
            dist.barrier()  # TL904
""",
}

SILENT = {
    "what decides whether all of them step": """
import math
import torch
from torch import distributed as dist
def go(f, o, d):
    for b in d:
        f(b).mean().backward()
        n = torch.nn.utils.clip_grad_norm_(f.parameters(), 1.0)
        dist.all_reduce(n)
        if math.isnan(n):
            print("skipped")
        else:
            o.step()
""",
    "on logging steps, after the loop, and where it computes": """
import torch
from torch import distributed as dist
def go(f, o, d):
    for i, (b, m) in enumerate(d):
        n = m.sum()
        dist.all_reduce(n)
        c = (f(b) * m).sum() / n
        o.zero_grad()
        c.backward()
        o.step()
        if i % 50 == 0:
            s = c.detach()
            dist.all_reduce(s)
    dist.barrier()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL904")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL904")

"""TL703: events read before they happened."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "in a method, neutral names": """
import torch
class S:
    def __init__(self):
        self.a = torch.cuda.Event(enable_timing=True)
        self.b = torch.cuda.Event(enable_timing=True)
    def go(self, f, x):
        self.a.record()
        f(x)
        self.b.record()
        return self.a.elapsed_time(self.b)  # TL703
""",
    "in a comprehension over pairs": """
import torch
from torch.cuda import Event as Mark
def go(f, xs):
    pairs = []
    for x in xs:
        a, b = Mark(enable_timing=True), Mark(enable_timing=True)
        a.record()
        f(x)
        b.record()
        pairs.append((a, b))
    return [a.elapsed_time(b) for a, b in pairs]  # TL703
""",
}

SILENT = {
    "the event, or the device, was waited for": """
import torch
def go(f, x):
    a = torch.cuda.Event(enable_timing=True)
    b = torch.cuda.Event(enable_timing=True)
    a.record()
    f(x)
    b.record()
    b.synchronize()
    return a.elapsed_time(b)
def wait():
    torch.cuda.synchronize()
def again(f, x):
    a = torch.cuda.Event(enable_timing=True)
    b = torch.cuda.Event(enable_timing=True)
    a.record()
    f(x)
    b.record()
    wait()
    return a.elapsed_time(b)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL703")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL703")

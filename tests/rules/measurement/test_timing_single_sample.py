"""TL709: means without spread."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a mean by a name": """
import time, torch
def ms(f, x, n=100):
    f(x)
    torch.cuda.synchronize()
    t = time.time()
    for _ in range(n):
        f(x)
    torch.cuda.synchronize()
    took = time.time() - t  # TL709
    return took / n
""",
    "events, in a method": """
import torch
class B:
    def go(self, f, x):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        f(x)
        a.record()
        for _ in range(9):
            f(x)
        b.record()
        b.synchronize()
        return a.elapsed_time(b) / 9  # TL709
""",
}

SILENT = {
    "blocks are kept": """
import time, torch
def ms(f, x, n=100):
    f(x)
    blocks = []
    for _ in range(9):
        torch.cuda.synchronize()
        t = time.time()
        for _ in range(n):
            f(x)
        torch.cuda.synchronize()
        blocks.append((time.time() - t) / n)
    return blocks
""",
    "training is no benchmark": """
import time, torch
def go(f, o, d):
    t = time.time()
    for b in d:
        f(b).mean().backward()
        o.step()
    torch.cuda.synchronize()
    print(len(d) / (time.time() - t))
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL709")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL709")

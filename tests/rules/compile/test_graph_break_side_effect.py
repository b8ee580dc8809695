"""TL803: side effects in compiled code."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "in a helper, by a logger of the class": """
import logging, torch
class N(torch.nn.Module):
    log = logging.getLogger("n")
    def say(self, x):
        print(x.shape)  # TL803
    def forward(self, x):
        self.say(x)
        return x * 2
fast = torch.compile(N())
""",
    "a clock and a warning": """
import time, warnings, torch
@torch.compile
def go(x):
    if x.sum() == 0:
        return x
    t = time.time()  # TL803
    warnings.warn("slow")  # TL803
    return x * t
""",
}

SILENT = {
    "outside, or only where nothing compiles": """
import torch
@torch.compile
def go(x):
    if not torch.compiler.is_compiling():
        print(x.shape)
    return x * 2
def run(d):
    for x in d:
        print(go(x).shape)
""",
    "behind a branch on data, where the graph ends already": """
import logging, torch
def finite(x):
    if x.isnan().any() and x.dim() > 1:
        logging.warning("nan")
        x = x.nan_to_num()
    return x
@torch.compile
def go(x):
    return finite(x * 2)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL803")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL803")

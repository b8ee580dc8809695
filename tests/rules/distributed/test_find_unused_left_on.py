"""TL902: searches for unused parameters."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "all parts are used, behind an alias": """
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as Wrap
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    def last(self, x):
        return self.b(x)
    def forward(self, x):
        return self.last(self.a(x))
class R:
    def __init__(self):
        self.net = Wrap(N().cuda(), find_unused_parameters=True)  # TL902
""",
}

SILENT = {
    "a part may be left out, or nothing is known": """
from torch import nn
from torch.nn.parallel import DistributedDataParallel
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Linear(2, 2)
    def forward(self, x, twice=False):
        x = self.a(x)
        return self.b(x) if twice else x
def wrap(other, options):
    DistributedDataParallel(N(), find_unused_parameters=True)
    DistributedDataParallel(other, find_unused_parameters=True)
    return DistributedDataParallel(N(), find_unused_parameters=options.unused)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL902")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL902")

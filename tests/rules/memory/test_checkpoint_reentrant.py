"""TL608: reentrant checkpoints."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "behind aliases, in a comprehension": """
import torch.utils.checkpoint as again
keep = again.checkpoint
def run(blocks, x):
    return [keep(b, x) for b in blocks]  # TL608
""",
    "asked for by name": """
from torch.utils.checkpoint import checkpoint
class N:
    def forward(self, x):
        return checkpoint(self.body, x, use_reentrant=True)  # TL608
""",
}

SILENT = {
    "the other form, options from elsewhere, and a namesake": """
import functools
from torch.utils.checkpoint import checkpoint
again = functools.partial(checkpoint, use_reentrant=False)
def run(f, x, how, **options):
    x = again(f, x)
    x = checkpoint(f, x, use_reentrant=how)
    return checkpoint(f, x, **options)
class Saver:
    def checkpoint(self, net, path):
        return self.checkpoint(net, path)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL608")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL608")

"""A line of a long file costs what one of a short file does, counted in calls of functions instead of seconds."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

from benchmarks.linear import SHAPES, text_of
from torchlint.engine.lint import lint_bytes
from torchlint.engine.settings import Settings
from torchlint.findings import Confidence
from torchlint.rules.registry import all_rules
from torchlint.source.stack import call_deep

RULES = frozenset({"TL001", "TL003", *(rule.code for rule in all_rules())})
SETTINGS = Settings(root=Path(), rules=RULES, min_confidence=Confidence.POSSIBLE, cache_dir=None)
FEW, MANY = 100, 500


def calls(text: str) -> int:
    """How many functions are called to lint a file."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    def lint() -> None:
        sys.setprofile(note)
        try:
            result = lint_bytes(text.encode(), "made.py", SETTINGS)
        finally:
            sys.setprofile(None)
        assert not result.errors, result.errors
        assert "TL003" not in {finding.code for finding in result.findings}

    call_deep(lint)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_grow_with_lines(shape: str) -> None:
    calls(text_of(shape, 10))  # imports, tables, patterns
    assert calls(text_of(shape, MANY)) < 1.2 * MANY / FEW * calls(text_of(shape, FEW))


STEP = """\
def step_{here}(x):
    for row in torch.relu(x):
        total = row @ row
    step_{next}(x)
    step_{next}(total)
"""


def ways(depth: int) -> str:
    """Functions each of which calls the next one from two places: twice as many ways to the loop of each."""
    steps = "".join(STEP.format(here=level, next=level + 1) for level in range(depth))
    return f"import torch\n{steps}def step_{depth}(x):\n    print(x.item())\nstep_0(torch.ones(8, 8))\n"


def test_calls_do_not_grow_with_the_ways_to_a_line() -> None:
    calls(ways(2))
    assert calls(ways(16)) < 3 * calls(ways(8))

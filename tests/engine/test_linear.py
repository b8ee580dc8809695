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


def calls(shape: str, lines: int) -> int:
    """How many functions are called to lint a file."""
    data = text_of(shape, lines).encode()
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    def lint() -> None:
        sys.setprofile(note)
        try:
            result = lint_bytes(data, "made.py", SETTINGS)
        finally:
            sys.setprofile(None)
        assert not result.errors, result.errors
        assert "TL003" not in {finding.code for finding in result.findings}

    call_deep(lint)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_grow_with_lines(shape: str) -> None:
    calls(shape, 10)  # imports, tables, patterns
    assert calls(shape, MANY) < 1.2 * MANY / FEW * calls(shape, FEW)

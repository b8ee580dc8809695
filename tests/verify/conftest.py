"""What the tests of --verify share: findings, experiments and plans made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from torchlint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Position


@pytest.fixture
def make_finding() -> Callable[..., Finding]:
    """A finding in a text, at the first place where some piece of it stands, with a fix that replaces the piece."""

    def make(text: str, piece: str, replacement: str | None = None, code: str = "TL101", **changes: Any) -> Finding:
        before = text[: text.index(piece)]
        row = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        start = Position(row, column)
        last = piece.rsplit("\n", 1)
        end = Position(row + piece.count("\n"), (len(last[1]) + 1) if len(last) > 1 else column + len(piece))
        fix = None
        if replacement is not None:
            fix = Fix(Applicability.UNSAFE, "write it otherwise", (Edit(start, end, replacement),))
        values: dict[str, Any] = {
            "code": code, "name": "some-rule", "message": "", "filename": "train.py", "start": start, "end": end,
            "bottleneck": "sync", "confidence": Confidence.SURE, "impact": Impact.LOW, "fingerprint": f"{code}-{row}",
            "fix": fix,
        }  # fmt: skip
        return Finding(**{**values, **changes})

    return make

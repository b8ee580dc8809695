"""One run with everything a report can be given, and a comparison with kept output."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from torchlint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Position, Related
from torchlint.report.outcome import Outcome

# The bidirectional override in line 9 and the escape in line 10 must come out of no report.
TRAIN = """\
import torch


def train(model, loader, optimizer):
\ttotal = 0.0
\tfor batch in loader:
\t\tloss = model(batch).mean()
\t\tloss.backward()
\t\ts = "漢字\u202e 😀"; total += loss.item()
\t\tprint("\x1b[31m", loss.item())
\t\toptimizer.step(
\t\t)
\treturn total"""


def finding(**changed: object) -> Finding:
    """A finding of TL101 in line 9 of TRAIN, with the attributes `changed`."""
    attributes: dict[str, object] = {
        "code": "TL101",
        "name": "sync-scalar-read",
        "message": "`loss.item()` waits for the device on every step of the loop in line 6",
        "filename": "src/train.py",
        "start": Position(9, 25),
        "end": Position(9, 36),
        "bottleneck": "sync",
        "confidence": Confidence.LIKELY,
        "impact": Impact.LOW,
        "fingerprint": "aaaa0001",
        "related": (Related("the loop over `loader` runs `loss.backward()`", "src/train.py", Position(6, 2)),),
        "advice": "keep `loss.detach()` and read it once after the loop",
    }
    return Finding(**(attributes | changed))  # type: ignore[arg-type]


def hostile() -> Finding:
    """A finding whose every text tries to forge output."""
    edit = Edit(Position(10, 18), Position(10, 29), "loss\u202e.detach()")
    return finding(
        code="TL104",
        name="sync-format",
        message='"\x1b[31m"%0A::error::]]></failure>\u202e<b> \ud800 formats `loss`\nTL999',
        filename='src/a,b:c%"\udcff\n.py',
        start=Position(10, 18),
        end=Position(10, 29),
        confidence=Confidence.SURE,
        impact=Impact.HIGH,
        fingerprint="bbbb0002",
        related=(Related("called\x07 here", "src/\u2066other.py", Position(3, 1)),),
        advice="print\x1b]0;owned\x07 it every 100 steps",
        fix=Fix(Applicability.SAFE, "print the \u200bnumber", (edit,)),
    )


def long() -> Finding:
    """A finding that spans rows, with an unsafe fix and evidence."""
    return finding(
        code="TL205",
        name="optimizer-single-tensor",
        message="`optimizer.step()` launches kernels for each parameter",
        start=Position(11, 3),
        end=Position(12, 4),
        bottleneck="python",
        impact=Impact.MEDIUM,
        fingerprint="cccc0003",
        related=(),
        fix=Fix(Applicability.UNSAFE, "use the fused optimizer", (Edit(Position(11, 3), Position(12, 4), "step()"),)),
        evidence={
            "fingerprint": "cccc0003",
            "verdict": "confirmed",
            "rung": "template",
            "environment": {"name": "NVIDIA H200", "torch": "2.11.0"},
            "ratio": {"median": 1.31, "low": 1.27, "high": 1.36},
        },
    )


def cell() -> Finding:
    """A finding in a notebook."""
    here = {"cell": 3, "cell_id": "a1-b2", "start": Position(2, 1), "end": Position(2, 12)}
    return finding(filename="book.ipynb", related=(), advice="", **here)


def source(filename: str, cell: int | None) -> Sequence[str]:
    if cell is not None:
        return ("loss = model(x)", "loss.item()")
    return TRAIN.split("\n") if filename.startswith("src/") else ()


@pytest.fixture
def outcome() -> Outcome:
    return Outcome(findings=(finding(), hostile(), long(), cell()), files=5, suppressed=1, source=source)


@pytest.fixture
def make_finding() -> Callable[..., Finding]:
    return finding


@pytest.fixture
def same_as_kept() -> Callable[[str, str], None]:
    """Compares text with the file of that name in `snapshots`, which UPDATE_SNAPSHOTS=1 writes anew."""

    def compare(name: str, text: str) -> None:
        kept = Path(__file__).parent / "snapshots" / name
        if os.environ.get("UPDATE_SNAPSHOTS"):
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(text, encoding="utf-8", newline="")
        assert text == kept.read_text(encoding="utf-8")

    return compare

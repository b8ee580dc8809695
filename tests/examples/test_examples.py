"""The example scripts: both learn the same; torchlint finds in one what the other repairs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

# Each antipattern and the line that pays for it.
PLANTED = {
    ("TL101", "best = min(best, loss.item())"),
    ("TL201", "likeness = [F.cosine_similarity(row, self.prototypes, dim=-1) for row in pooled]"),
    ("TL302", "weights = scores.softmax(dim=-1)"),
    ("TL501", "loader = DataLoader(dataset, batch_size=args.batch, sampler=order)"),
    ("TL502", "loader = DataLoader(dataset, batch_size=args.batch, sampler=order)"),
    ("TL601", "total_loss += loss"),
    ("TL701", "seconds += time.perf_counter() - start"),
}


def found(script: str) -> set[tuple[str, str]]:
    """The code and the source line of each default finding."""
    command = [sys.executable, "-m", "torchlint", "check", "--isolated", "--no-cache", "--output-format", "json"]
    done = subprocess.run([*command, str(EXAMPLES / script)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    lines = (EXAMPLES / script).read_text(encoding="utf-8").splitlines()
    return {(each["code"], lines[each["location"]["row"] - 1].strip()) for each in json.loads(done.stdout)}


def last_line(script: str) -> list[float]:
    """The final loss and the accuracy that a run on the CPU prints."""
    command = [sys.executable, str(EXAMPLES / script), "--device", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(number) for number in re.findall(r"\d+\.\d+", done.stdout.splitlines()[-1])]


def test_the_planted_antipatterns_are_found() -> None:
    assert found("train.py") == PLANTED


def test_the_repaired_script_is_silent() -> None:
    assert found("train_repaired.py") == set()


def test_both_learn_the_same() -> None:
    pytest.importorskip("torch")
    loss, accuracy = last_line("train.py")
    assert last_line("train_repaired.py") == pytest.approx([loss, accuracy], abs=2e-3)
    assert accuracy > 0.75  # guessing one of eight classes is right one time in eight

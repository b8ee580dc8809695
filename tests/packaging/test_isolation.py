"""Linting leaves alone what it reads, and needs neither torch nor NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_LINT = """
import json, sys
from torchlint.cli import main
try:
    main(["check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "json", sys.argv[1]])
finally:
    heavy = sorted({"torch", "numpy"} & set(sys.modules))
    print(json.dumps(heavy), file=sys.stderr)
"""

_TRAP = """
import pathlib

import torch

pathlib.Path(__file__).with_name("was_run").touch()


def train(model, batches, optimizer):
    for inputs in batches:
        loss = model(inputs).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


def test_linting_imports_neither_torch_nor_the_code(tmp_path: Path) -> None:
    trap = tmp_path / "trap.py"
    trap.write_text(_TRAP, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", _LINT, str(trap)], capture_output=True, text=True, cwd=tmp_path)
    assert [finding["code"] for finding in json.loads(done.stdout)] == ["TL101"]
    assert json.loads(done.stderr.splitlines()[-1]) == []
    assert not (tmp_path / "was_run").exists()

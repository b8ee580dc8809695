"""What holds measured code beside the policy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFINED = """
import os, sys
from torchlint.verify.guard import confine

inside, outside = sys.argv[1:]
print(confine(inside, programs=False))
for act in (
    lambda: open(os.path.join(inside, "made"), "w").close(),
    lambda: open(os.path.join(outside, "made"), "w").close(),
    lambda: os.remove(os.path.join(outside, "kept")),
    lambda: os.execv(sys.executable, [sys.executable, "-c", "print('started')"]),
):
    try:
        print(act())
    except PermissionError as error:
        print("denied")
"""


def test_the_kernel_denies_writing_elsewhere_and_starting_programs(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "kept").touch()
    command = [sys.executable, "-c", CONFINED, str(inside), str(outside)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    offered, *said = done.stdout.split()
    if offered == "False":
        pytest.skip("this kernel does not offer it")
    assert said == ["None", "denied", "denied", "denied"]
    assert [path.name for path in outside.iterdir()] == ["kept"]

"""Running the command line, in this process and in one of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from torchlint.cli.app import run


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder that a test runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def torchlint(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs the command line here: arguments in, status and output out."""

    def call(*arguments: str) -> Ran:
        capsys.readouterr()
        status = run(arguments)
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return call


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the command line in a process of its own."""

    def call(*arguments: str, **how: object) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "torchlint", *arguments]
        return subprocess.run(command, capture_output=True, timeout=120, **how)  # type: ignore[call-overload,no-any-return]

    return call

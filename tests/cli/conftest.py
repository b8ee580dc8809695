"""Running the command line, in this process and in one of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from torchlint.cli.app import run
from torchlint.engine.job import Job
from torchlint.engine.run import RunResult
from torchlint.engine.settings import Configuration
from torchlint.findings import Confidence, Finding, Impact, Position


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


def finding(row: int = 3, **changed: object) -> Finding:
    """A finding of TL101 in row `row` of `a.py`, with the attributes `changed`."""
    attributes: dict[str, object] = {
        "code": "TL101",
        "name": "sync-scalar-read",
        "message": "`loss.item()` waits",
        "filename": "a.py",
        "start": Position(row, 5),
        "end": Position(row, 16),
        "bottleneck": "sync",
        "confidence": Confidence.LIKELY,
        "impact": Impact.MEDIUM,
        "fingerprint": f"print{row}",
    }
    return Finding(**(attributes | changed))  # type: ignore[arg-type]


@dataclass
class Linter:
    """Stands in for the engine: what it finds, and what it was asked."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    suppressed: int = 0
    interrupted: bool = False
    lines: dict[str, list[str]] = field(default_factory=lambda: {"a.py": [f"x{row} = loss.item()" for row in range(9)]})
    asked: list[tuple[Path, ...]] = field(default_factory=list)
    configuration: Configuration | None = None

    def __call__(self, paths: Sequence[Path], configuration: Configuration, **_how: object) -> RunResult:
        self.asked.append(tuple(paths))
        self.configuration = configuration
        settings = configuration.for_folder(configuration.cwd)
        return RunResult(
            findings=list(self.findings),
            files=list(self.lines),
            errors=self.errors,
            suppressed=self.suppressed,
            interrupted=self.interrupted,
            jobs={
                name: Job(Path(name), name, settings, "\n".join(lines).encode()) for name, lines in self.lines.items()
            },
        )


@pytest.fixture
def linter(monkeypatch: pytest.MonkeyPatch) -> Linter:
    """What the commands lint with: nothing found until a test says so."""
    linter = Linter()
    monkeypatch.setattr("torchlint.cli.check.lint", linter)
    monkeypatch.setattr("torchlint.cli.baseline.lint", linter)
    return linter

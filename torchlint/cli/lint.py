"""Paths in, findings out: what every command that lints shares."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchlint.cli.progress import ProgressBar
from torchlint.engine.errors import short

if TYPE_CHECKING:
    from torchlint.engine.run import RunResult
    from torchlint.engine.settings import Configuration

__all__ = ["files", "lint"]


def lint(
    paths: Sequence[Path], configuration: Configuration, *, quiet: bool = False, name: str | None = None
) -> RunResult:
    """Lint `paths`; of `-` alone, standard input under the name `name`."""
    from torchlint.engine import run as engine

    stdin = None
    if Path("-") in paths:
        if len(paths) > 1:
            raise click.UsageError("'-' reads standard input and goes with no other path")
        stdin = sys.stdin.buffer.read()
    with ProgressBar(enabled=not quiet) as progress:
        return engine.check(paths, configuration, stdin=stdin, stdin_filename=name, progress=progress)


def files(paths: Sequence[Path], configuration: Configuration) -> tuple[list[str], list[str]]:
    """The files below `paths` that would be linted, and one line for each place that cannot be looked at."""
    from torchlint.engine import run as engine

    found = [(short(one.path), one.problem) for one in engine.files(paths, configuration)]
    return [name for name, problem in found if not problem], [
        f"{name}: {problem}" for name, problem in found if problem
    ]

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
    from torchlint.fixes import FixResult

__all__ = ["files", "lint", "repair", "silence"]


def lint(
    paths: Sequence[Path], configuration: Configuration, *, quiet: bool = False, name: str | None = None
) -> RunResult:
    """Lint `paths`; of `-` alone, standard input under the name `name`."""
    from torchlint.engine import run as engine

    stdin = _stdin(paths)
    with ProgressBar(enabled=not quiet) as progress:
        return engine.check(paths, configuration, stdin=stdin, stdin_filename=name, progress=progress)


def repair(
    paths: Sequence[Path],
    configuration: Configuration,
    *,
    dry_run: bool,
    quiet: bool = False,
    name: str | None = None,
) -> FixResult:
    """Lint as `lint` does and repair what the settings let be repaired; with `dry_run` nothing is written."""
    from torchlint import fixes

    stdin = _stdin(paths)
    with ProgressBar(enabled=not quiet) as progress:
        return fixes.fix(paths, configuration, stdin=stdin, stdin_filename=name, dry_run=dry_run, progress=progress)


def silence(paths: Sequence[Path], configuration: Configuration, *, dry_run: bool, quiet: bool = False) -> FixResult:
    """Lint `paths` and write a suppression for every finding; with `dry_run` nothing is written."""
    from torchlint import fixes

    if Path("-") in paths:
        raise click.UsageError("--add-suppressions writes into files, and standard input is none")
    with ProgressBar(enabled=not quiet) as progress:
        return fixes.add_suppressions(paths, configuration, dry_run=dry_run, progress=progress)


def _stdin(paths: Sequence[Path]) -> bytes | None:
    """What stands on standard input, where that is to be linted."""
    if Path("-") not in paths:
        return None
    if len(paths) > 1:
        raise click.UsageError("'-' reads standard input and goes with no other path")
    return sys.stdin.buffer.read()


def files(paths: Sequence[Path], configuration: Configuration) -> tuple[list[str], list[str]]:
    """The files below `paths` that would be linted, and one line for each place that cannot be looked at."""
    from torchlint.engine import run as engine

    found = [(short(one.path), one.problem) for one in engine.files(paths, configuration)]
    return [name for name, problem in found if not problem], [
        f"{name}: {problem}" for name, problem in found if problem
    ]

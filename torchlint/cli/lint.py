"""Paths in, findings out: what every command that lints shares."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchlint.cli.progress import ProgressBar

if TYPE_CHECKING:
    from torchlint.engine.settings import Configuration
    from torchlint.findings import Finding

__all__ = ["Linted", "lint"]


@dataclass(frozen=True, slots=True)
class Linted:
    """What linting gave."""

    findings: list[Finding]
    files: Sequence[str]  # the names, as in findings, of the files that were linted
    errors: Sequence[str]  # one line each: what went wrong that is no finding
    suppressed: int
    interrupted: bool
    source: Callable[[str, int | None], Sequence[str]]  # the lines of a file or of one of its cells


def lint(
    paths: Sequence[Path], configuration: Configuration, *, quiet: bool = False, name: str | None = None
) -> Linted:
    """Lint `paths`; of `-` alone, standard input under the name `name`."""
    from torchlint.engine import run as engine

    settings = configuration.for_folder(configuration.cwd)
    stdin = None
    if Path("-") in paths:
        if len(paths) > 1:
            raise click.UsageError("'-' reads standard input and goes with no other path")
        stdin = sys.stdin.buffer.read()
    with ProgressBar(enabled=not quiet) as progress:
        result = engine.check(paths, settings, stdin=stdin, stdin_filename=name, progress=progress)
    return Linted(
        findings=list(result.findings),
        files=result.files,
        errors=result.errors,
        suppressed=result.suppressed,
        interrupted=result.interrupted,
        source=result.source,
    )

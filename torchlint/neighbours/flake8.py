"""torchlint as a plugin of flake8, with its own configuration and flake8's selection.

flake8 has read the file and looked at its syntax by then. What it read is linted and not read again. A file in which no
rule can fire is not parsed again either; the others are, into LibCST's nodes, which flake8 does not have.
"""

from __future__ import annotations

import argparse
import ast
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from flake8.exceptions import ExecutionError  # type: ignore[import-untyped]

from torchlint import __version__
from torchlint.engine.baseline import Baseline
from torchlint.engine.errors import UserError
from torchlint.engine.lint import is_of_interest, lint_source
from torchlint.engine.project import alone
from torchlint.engine.settings import Configuration
from torchlint.findings import Finding
from torchlint.source.discovery import is_excluded
from torchlint.source.text import SourceFile

__all__ = ["Plugin"]

Problem = tuple[int, int, str, "type[Plugin]"]  # row from 1, column from 0, text, whose it is


class Plugin:
    """What flake8 makes for each file, with the tree, the name and the lines that it has of it."""

    name = "torchlint"
    version = __version__

    configuration: ClassVar[Configuration]

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        # Who takes the tree is asked once a file, and only where the file parses: flake8 reports the others.
        self.filename = filename
        self.lines = lines

    @classmethod
    def parse_options(cls, _options: argparse.Namespace) -> None:
        """Find the configuration. Raises flake8's ExecutionError where it cannot be used."""
        cls.configuration = Configuration()
        try:
            cls.configuration.for_folder(cls.configuration.cwd)
        except UserError as error:
            raise ExecutionError(f"torchlint: {error}") from error

    def run(self) -> Iterator[Problem]:
        """What is found, as flake8 takes it."""
        try:
            for finding in self._findings():
                yield finding.start.row, finding.start.column - 1, f"{finding.code} {finding.message}", type(self)
        except UserError as error:
            raise ExecutionError(f"torchlint: {error}") from error

    def _findings(self) -> Iterator[Finding]:
        path = Path(self.filename)
        settings = alone(self.configuration.for_file(path))
        text = "".join(self.lines)
        if not is_of_interest(text) or is_excluded(path, settings):
            return
        source = SourceFile.from_text(text, self.filename)
        findings: Sequence[Finding] = lint_source(source, settings, path).findings
        if settings.baseline is not None:
            findings = _known(settings.baseline).split(findings, lambda _name, _cell: source.lines, (), ()).new
        yield from findings


@functools.cache
def _known(baseline: Path) -> Baseline:
    return Baseline.read(baseline)

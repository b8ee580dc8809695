"""Linting a piece of source in a test, as the command line would."""

from __future__ import annotations

from pathlib import Path

from torchlint.engine.lint import lint_bytes
from torchlint.engine.settings import Settings


def lint(source: str, *codes: str) -> set[tuple[int, str]]:
    """The rows, from 1, and codes of what the rules `codes` find in `source` and would show by default."""
    result = lint_bytes(source.encode(), "page.py", Settings(root=Path(), rules=frozenset(codes)))
    assert result.errors == ()
    return {(finding.start.row, finding.code) for finding in result.findings}

"""Linting a piece of source in a test, as the command line would."""

from __future__ import annotations

from pathlib import Path

from torchlint.engine.job import Job
from torchlint.engine.lint import lint_bytes, lint_source
from torchlint.engine.settings import Settings
from torchlint.fixes.apply import apply
from torchlint.fixes.run import fix_source
from torchlint.source.text import SourceFile


def lint(source: str, *codes: str) -> set[tuple[int, str]]:
    """The rows, from 1, and codes of what the rules `codes` find in `source` and would show by default."""
    result = lint_bytes(source.encode(), "page.py", Settings(root=Path(), rules=frozenset(codes)))
    assert result.errors == ()
    return {(finding.start.row, finding.code) for finding in result.findings}


def repair(source: str, *codes: str) -> str:
    """`source` after all fixes, safe and unsafe, that the rules `codes` offer."""
    settings = Settings(root=Path(), rules=frozenset(codes), fixable=frozenset(codes), unsafe_fixes=True)
    change = fix_source(SourceFile.from_bytes(source.encode(), "page.py"), Job(Path("page.py"), "page.py", settings))
    assert change.result.errors == ()
    return change.after.text


def shown(source: str, *codes: str) -> str:
    """`source` after what the rules `codes` display, be it offered as a fix or not."""
    read = SourceFile.from_bytes(source.encode(), "page.py")
    return apply(read, lint_source(read, Settings(root=Path(), rules=frozenset(codes))).findings).written

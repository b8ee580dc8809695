"""What the worker does for the language server: plain data in, plain data out.

A document is a job: its content, its name and its settings. A notebook comes as the JSON that its cells would have.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from torchlint.engine import evidence
from torchlint.engine.baseline import Baseline
from torchlint.engine.errors import UserError
from torchlint.engine.job import Job
from torchlint.engine.lint import unreadable
from torchlint.engine.notebooks import Document, lint_document
from torchlint.engine.project import alone
from torchlint.engine.run import with_project
from torchlint.findings import Edit, Finding
from torchlint.fixes import fix_source
from torchlint.fixes.suppress import edits_that_silence
from torchlint.lsp.worker import Linted, Texts
from torchlint.source.notebook import Notebook, is_notebook
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["fix", "lint", "prepare", "silence"]


# Bytes that are read anew for one document, while somebody types: a good half of a second.
_MOST_READ = 100_000


def prepare() -> None:
    """Import what the first task would import."""
    from torchlint.engine.pool import import_what_lints

    import_what_lints()


def lint(job: Job) -> Linted:
    """The findings in a document that the baseline does not excuse, with their evidence."""
    try:
        document = _opened(job)
    except UnreadableError as error:
        refused = unreadable(job.name, error, job.settings, job.path)
        return Linted(refused.findings, unread=refused.unread)
    result = with_project(job, _MOST_READ)
    if result is None:
        result = lint_document(document, alone(job.settings), job.path)
    findings: Sequence[Finding] = result.findings
    errors = list(result.errors)
    source = functools.partial(_lines, document)
    try:
        if job.settings.evidence is not None:
            findings = evidence.attach(findings, _evidence(*_stamped(job.settings.evidence)), source)
        if job.settings.baseline is not None:
            known = _baseline(*_stamped(job.settings.baseline))
            findings = known.split(findings, source, (), ()).new
    except UserError as error:
        errors.append(str(error))
    return Linted(tuple(findings), tuple(errors), result.unread)


def fix(job: Job) -> Texts:
    """The texts that safe fixes change, as they are then. Raises UnreadableError for what cannot be read."""
    document = _opened(job)
    settings = replace(alone(job.settings), unsafe_fixes=False)
    after = fix_source(document, replace(job, settings=settings)).after
    before, now = _texts(document), _texts(after)
    return {cell: text for cell, text in now.items() if text != before[cell]}


def silence(job: Job, findings: Sequence[Finding]) -> list[tuple[Edit, ...]]:
    """For each finding the edits that put a suppression on its line. Raises UnreadableError."""
    document = _opened(job)
    return [tuple(edits_that_silence(document, [finding])) for finding in findings]


def _opened(job: Job) -> Document:
    assert job.data is not None
    if is_notebook(job.name):
        return Notebook.from_bytes(job.data, job.name)
    return SourceFile.from_text(job.data.decode("utf-8", "surrogatepass"), job.name)


def _texts(document: Document) -> Texts:
    if isinstance(document, SourceFile):
        return {None: document.written}
    return {cell.number: cell.text for cell in document.cells}


def _lines(document: Document, _filename: str, cell: int | None) -> Sequence[str]:
    return document.lines(cell) if isinstance(document, Notebook) else document.lines


def _stamped(path: Path) -> tuple[Path, int]:
    """The path with when the file was last written, so that a file that changes is read again."""
    try:
        return path, path.stat().st_mtime_ns
    except OSError:
        return path, 0


@functools.lru_cache(maxsize=8)
def _evidence(path: Path, _written: int) -> evidence.Evidence:
    return evidence.load(path)


@functools.lru_cache(maxsize=8)
def _baseline(path: Path, _written: int) -> Baseline:
    return Baseline.read(path)

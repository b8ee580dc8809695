"""From one notebook to its findings, which say in which cell they stand; and what notebooks and files share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from torchlint.engine.lint import FileResult, is_of_interest, lint_source, unreadable
from torchlint.engine.settings import Settings
from torchlint.findings import Finding, Fix, Related
from torchlint.source.notebook import Cell, Notebook, View, is_notebook
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["Document", "lint_cells", "lint_document", "lint_notebook", "read_document"]

Document = SourceFile | Notebook


def read_document(data: bytes, filename: str) -> Document:
    """The content of a file, which its name tells to be a notebook or not. Raises UnreadableError."""
    return Notebook.from_bytes(data, filename) if is_notebook(filename) else SourceFile.from_bytes(data, filename)


def lint_document(document: Document, settings: Settings, path: Path | None = None) -> FileResult:
    """Lint a file or a notebook, which findings call by the name it was read with."""
    if isinstance(document, Notebook):
        return lint_notebook(document, settings, path)
    return lint_source(document, settings, path)


def lint_notebook(notebook: Notebook, settings: Settings, path: Path | None = None) -> FileResult:
    """Lint the cells of a notebook as one module, as `torchlint.engine.lint.lint_source` lints a file.

    A cell that does not parse becomes a TL003 of its own, and the others are linted without it.
    """
    if notebook.language:
        return FileResult(notes=(f"{notebook.path}: a notebook in {notebook.language}, skipped",))
    findings: list[Finding] = []
    for number, identity, error in notebook.problems:
        findings += unreadable(notebook.path, error, settings, path, cell=number, identity=identity).findings
    result = lint_cells(notebook.cells, notebook.path, settings, path)
    return replace(result, findings=tuple(sorted((*findings, *result.findings), key=_place)))


def lint_cells(cells: Iterable[Cell], name: str, settings: Settings, path: Path | None = None) -> FileResult:
    """Lint cells as one module; findings call it `name`."""
    cells = tuple(cells)
    if not is_of_interest(View.of(cells, name).source.text):
        return FileResult()
    findings: list[Finding] = []
    sound = []
    for cell in cells:
        try:
            cell.check()
        except UnreadableError as error:
            findings += unreadable(name, error, settings, path, cell=cell.number, identity=cell.identity).findings
        else:
            sound.append(cell)
    view = View.of(sound, name)
    result = lint_source(view.source, settings, path, lambda position: _identity(view.cell_at(position)))
    findings += (_in_cells(finding, view) for finding in result.findings)
    return replace(result, findings=tuple(sorted(findings, key=_place)))


def _identity(cell: Cell | None) -> str:
    return "" if cell is None else cell.identity


def _place(finding: Finding) -> tuple[object, ...]:
    return finding.cell or 0, finding.start, finding.code, finding.end


def _in_cells(finding: Finding, view: View) -> Finding:
    """A finding in the module of the cells, said in terms of the cells."""
    cell, start = view.locate(finding.start)
    _, end = view.locate(finding.end)
    fix = finding.fix
    return replace(
        finding,
        start=start,
        end=end,
        cell=cell,
        cell_id=_identity(view.cell_at(finding.start)),
        related=tuple(_related(related, view) for related in finding.related),
        fix=None if fix is None else Fix(fix.applicability, fix.message, tuple(map(view.edit, fix.edits))),
    )


def _related(related: Related, view: View) -> Related:
    cell, start = view.locate(related.start)
    return replace(related, start=start, cell=cell)

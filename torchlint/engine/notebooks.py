"""From one notebook to its findings, which say in which cell they stand; and what notebooks and files share."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from torchlint.engine.lint import (
    FileResult,
    LinkedFile,
    Part,
    Program,
    is_of_interest,
    lint_linked,
    lint_source,
    unreadable,
)
from torchlint.engine.settings import Settings
from torchlint.findings import Finding, Fix, Position, Related
from torchlint.source.modules import Modules
from torchlint.source.notebook import Cell, Notebook, View, is_notebook
from torchlint.source.stack import call_deep
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["Document", "lint_document", "lint_documents", "lint_notebook", "read_document", "sound"]

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
    if not is_of_interest(notebook.text):
        notebook = replace(notebook, cells=())
    view, refused = sound(notebook, settings, path)
    result = lint_source(view.source, settings, path, view.identity_at)
    return _in_cells(result, {notebook.path: view}, view, refused)


def lint_documents(
    documents: Mapping[int, tuple[Document, Settings, Path]],
    modules: Modules,
    part: Part | None = None,
    *,
    tell: bool = False,
) -> Program:
    """Lint files and notebooks that import one another as one program, as `torchlint.engine.lint.lint_linked` does."""
    files: dict[int, LinkedFile] = {}
    views: dict[int, View] = {}
    refused: dict[int, FileResult] = {}
    for number, (document, settings, path) in documents.items():
        if isinstance(document, SourceFile):
            files[number] = LinkedFile(document, settings, path)
        else:
            view, refused[number] = sound(document, settings, path)
            views[number] = view
            files[number] = LinkedFile(view.source, settings, path, view.identity_at)
    by_name = {view.source.path: view for view in views.values()}
    found = lint_linked(files, modules, part, tell=tell)
    results = {
        number: _in_cells(result, by_name, views.get(number), refused.get(number, FileResult()))
        for number, result in found.results.items()
    }
    return replace(found, results=results)


def sound(notebook: Notebook, settings: Settings, path: Path | None) -> tuple[View, FileResult]:
    """The module of the cells that can be read, and what is said of those that cannot."""
    cells, broken = call_deep(functools.partial(_parsed, notebook.cells))
    refused = [*notebook.problems, *broken]
    said = [
        unreadable(notebook.path, reason, settings, path, cell=number, identity=identity)
        for number, identity, reason in refused
    ]
    findings = tuple(finding for one in said for finding in one.findings)
    return notebook.view(cells), FileResult(findings, unread=tuple(number for number, _, _ in refused))


def _parsed(cells: Iterable[Cell]) -> tuple[list[Cell], list[tuple[int, str, UnreadableError]]]:
    """The cells that parse, and what is wrong with the others. To be called on a deep stack, once for all."""
    whole, broken = [], []
    for cell in cells:
        try:
            cell.check()
        except UnreadableError as error:
            broken.append((cell.number, cell.identity, error))
        else:
            whole.append(cell)
    return whole, broken


def _in_cells(result: FileResult, views: Mapping[str, View], own: View | None, refused: FileResult) -> FileResult:
    """What was found in the module of a notebook, or in a file that was read with some, said in terms of cells.

    `views` are the modules of notebooks by the names of these; `own` is that of the file itself, where it is one.
    """
    if not views:
        return result
    findings = [_in_cell(_explained(finding, views), own) for finding in result.findings]
    if None in refused.unread:  # what is no notebook in part is not written to
        findings = [replace(finding, fix=None) for finding in findings]
    findings = sorted((*refused.findings, *findings), key=_place)
    return replace(result, findings=tuple(findings), unread=(*refused.unread, *result.unread))


def _in_cell(finding: Finding, view: View | None) -> Finding:
    if view is None:
        return finding
    cell, start = view.locate(finding.start)
    _, end = view.locate(finding.end)
    fix = finding.fix
    return replace(
        finding,
        start=start,
        end=end,
        cell=cell,
        cell_id=view.identity_at(finding.start),
        fix=None if fix is None else Fix(fix.applicability, fix.message, tuple(map(view.edit, fix.edits))),
    )


def _explained(finding: Finding, views: Mapping[str, View]) -> Finding:
    """The finding, the places that explain it in notebooks said in terms of cells."""

    def place(related: Related) -> Related:
        view = views.get(related.filename)
        if view is None:
            return related
        cell, start = view.locate(related.start)
        return replace(related, start=start, cell=cell)

    return replace(finding, related=tuple(map(place, finding.related)))


def _place(finding: Finding) -> tuple[int, Position, str, Position]:
    return finding.cell or 0, finding.start, finding.code, finding.end

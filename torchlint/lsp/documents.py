"""What is open in the editor, as what is linted together: a text, or a notebook with its cells."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import Workspace

from torchlint.engine.job import Job
from torchlint.engine.notebooks import read_document
from torchlint.engine.settings import Settings
from torchlint.findings import Finding, Position
from torchlint.source.files import read_source
from torchlint.source.notebook import Notebook
from torchlint.source.text import UnreadableError

__all__ = ["Part", "Unit", "followed", "lines_of", "path_of"]

_NEWLINE = re.compile(r"\r\n?|\n")


def path_of(uri: str) -> Path:
    """Where a document lies; for one that was never saved, a name in the current folder."""
    path = to_fs_path(uri)
    if uri.startswith("file:") and path:
        return Path(path)
    return Path(re.sub(r"[^\w.-]+", "_", uri.rpartition("/")[2]) or "untitled")


def lines_of(filename: str, cell: int | None) -> Sequence[str]:
    """The rows of a file that is not open, or of a cell of it; none where it cannot be read."""
    try:
        document = read_document(read_source(Path(filename)), filename)
    except (OSError, UnreadableError):
        return ()
    return document.lines(cell) if isinstance(document, Notebook) else document.lines


@dataclass(frozen=True)
class Part:
    """One document of the protocol: the text, or one cell of the notebook, from 1."""

    uri: str
    cell: int | None
    text: str
    version: int | None
    identity: str = ""  # the id of the cell in the file, where the editor knows it

    @functools.cached_property  # each of thousands of findings asks
    def lines(self) -> Sequence[str]:
        """The rows without their ends, as the protocol and Python count them."""
        return _NEWLINE.split(self.text)


@dataclass
class Unit:
    """What is linted together, and what was last found in it.

    `findings` are those of the parts `texts` as they were under `settings`; those of a part that could not be read then
    are the last that it had before, moved along with its rows.
    """

    uri: str
    is_notebook: bool
    stamp: object = None  # of the last content that was linted
    parts: dict[str, Part] = field(default_factory=dict)  # by URI, as they were linted
    findings: dict[str, list[Finding]] = field(default_factory=dict)  # by URI
    unreadable: frozenset[str] = frozenset()  # URIs of the parts whose findings are older than they are

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return path_of(self.uri)

    def name(self) -> str:
        """What findings call it; the suffix tells what it is."""
        name = str(self.path)
        return f"{name}.ipynb" if self.is_notebook and not name.endswith(".ipynb") else name

    def current(self, workspace: Workspace) -> dict[str, Part]:
        """The parts as they are now in the editor, by URI."""
        if not self.is_notebook:
            document = workspace.get_text_document(self.uri)
            return {self.uri: Part(self.uri, None, document.source, document.version)}
        notebook = workspace.get_notebook_document(notebook_uri=self.uri)
        parts = {}
        for number, cell in enumerate(notebook.cells if notebook is not None else (), 1):
            document = workspace.get_text_document(cell.document)
            if cell.kind == types.NotebookCellKind.Code and document.language_id == "python":
                parts[cell.document] = Part(
                    cell.document, number, document.source, document.version, _identity(cell.metadata)
                )
        return parts

    def job(self, parts: dict[str, Part], settings: Settings) -> Job:
        """The job that lints `parts`; other cells of a notebook keep their place, empty."""
        if not self.is_notebook:
            return Job(self.path, self.name(), settings, parts[self.uri].text.encode("utf-8", "surrogatepass"))
        by_number = {part.cell: part for part in parts.values()}
        cells = [
            {"cell_type": "code", "source": part.text, "id": part.identity}
            if (part := by_number.get(number)) is not None
            else {"cell_type": "raw", "source": ""}
            for number in range(1, max((number or 0 for number in by_number), default=0) + 1)
        ]
        return Job(self.path, self.name(), settings, json.dumps({"cells": cells}).encode())

    def part(self, cell: int | None) -> Part | None:
        """The part that is the cell with this number, as it was linted."""
        return next((part for part in self.parts.values() if part.cell == cell), None)

    def take(
        self, stamp: object, parts: dict[str, Part], findings: Sequence[Finding], unread: Collection[int | None]
    ) -> None:
        """Remember what was found in `parts`, of which those that are the cells `unread` could not be read."""
        found: dict[str, list[Finding]] = {uri: [] for uri in parts}
        by_cell = {part.cell: uri for uri, part in parts.items()}
        anywhere = next(iter(parts), None)
        for finding in findings:
            uri = by_cell.get(finding.cell, anywhere)
            if uri is not None:
                found[uri].append(finding)
        unreadable = {by_cell[cell] for cell in unread if cell in by_cell}
        for uri in unreadable & self.findings.keys():
            if all(finding.code != "TL003" for finding in self.findings[uri]):
                before = self.parts[uri].lines
                found[uri] = list(followed(self.findings[uri], before, parts[uri].lines))
        self.stamp, self.parts, self.findings, self.unreadable = stamp, parts, found, frozenset(unreadable)


def _identity(metadata: object) -> str:
    identity = metadata.get("id") if isinstance(metadata, dict) else None
    return identity if isinstance(identity, str) else ""


def followed(findings: Sequence[Finding], before: Sequence[str], after: Sequence[str]) -> list[Finding]:
    """The findings moved along with their rows, those in rows that changed left out; they carry no repairs."""

    shortest = min(len(before), len(after))
    same = next((row for row in range(shortest) if before[row] != after[row]), shortest)
    behind = next((row for row in range(shortest - same) if before[-1 - row] != after[-1 - row]), shortest - same)
    moved = len(after) - len(before)
    kept = []
    for finding in findings:
        shift = 0 if finding.end.row <= same else moved
        if finding.end.row <= same or finding.start.row > len(before) - behind:
            start = Position(finding.start.row + shift, finding.start.column)
            end = Position(finding.end.row + shift, finding.end.column)
            kept.append(replace(finding, start=start, end=end, related=(), fix=None))
    return kept

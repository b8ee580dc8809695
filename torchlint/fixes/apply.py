"""One round of fixes on one text, or on the cells of one notebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchlint.engine.notebooks import Document
from torchlint.engine.settings import Settings
from torchlint.findings import Applicability, Edit, Finding, Position
from torchlint.source.text import SourceFile

__all__ = ["Applied", "apply", "apply_edits", "choose", "edited", "is_applicable"]


@dataclass(frozen=True, slots=True)
class Applied:
    """The text after a round, line ends as in the file, and the findings whose fixes are in it."""

    written: str
    findings: tuple[Finding, ...]


def is_applicable(finding: Finding, settings: Settings) -> bool:
    """Whether the settings let the finding's fix be applied."""
    least = Applicability.UNSAFE if settings.unsafe_fixes else Applicability.SAFE
    fix = finding.fix
    return fix is not None and bool(fix.edits) and fix.applicability >= least and finding.code in settings.fixable


def apply(source: SourceFile, findings: Iterable[Finding]) -> Applied:
    """Apply the fixes of `findings` that `choose` takes."""
    edits, applied = choose(findings)
    return Applied(apply_edits(source, edits), applied)


def choose(findings: Iterable[Finding]) -> tuple[list[Edit], tuple[Finding, ...]]:
    """The edits of the fixes that do not meet, the first in the text first; the others wait for another round.

    The edits of one fix are applied together or not at all. An edit that several fixes share, such as an import that
    each of them needs, is applied once.
    """
    taken: set[Edit] = set()
    applied = []
    for finding in sorted(findings, key=lambda finding: (finding.cell or 0, finding.start, finding.end, finding.code)):
        if finding.fix is None or not finding.fix.edits:
            continue
        new = [edit for edit in finding.fix.edits if edit not in taken]
        if new and not any(_meet(edit, other) for edit in new for other in taken):
            taken.update(new)
            applied.append(finding)
    return list(taken), tuple(applied)


def _meet(edit: Edit, other: Edit) -> bool:
    """Whether two edits reach for the same text, or stand so close that their order would matter."""
    if edit.cell != other.cell:
        return False
    if edit.start == edit.end or other.start == other.end:
        return edit.start <= other.end and other.start <= edit.end
    return edit.start < other.end and other.start < edit.end


def edited(document: Document, edits: Iterable[Edit]) -> Document:
    """The file or the notebook after edits that do not meet.

    Raises UnicodeEncodeError where its encoding has no bytes for what is put in, UnreadableError where the result
    cannot be read.
    """
    edits = list(edits)
    if isinstance(document, SourceFile):
        return SourceFile.from_bytes(document.encode(apply_edits(document, edits)), document.path)
    by_cell: dict[int | None, list[Edit]] = defaultdict(list)
    for edit in edits:
        by_cell[edit.cell].append(edit)
    return document.with_sources(
        {cell.number: apply_edits(cell.source, by_cell[cell.number]) for cell in document.cells if by_cell[cell.number]}
    )


def apply_edits(source: SourceFile, edits: Sequence[Edit]) -> str:
    """The text, line ends as in the file, after edits that do not meet. A new row ends as that where it is put."""
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start, end = _written_offset(source, edit.start), _written_offset(source, edit.end)
        pieces += (source.written[done:start], edit.content.replace("\n", _newline(source, edit.start.row)))
        done = end
    pieces.append(source.written[done:])
    return "".join(pieces)


def _written_offset(source: SourceFile, position: Position) -> int:
    if position.row > len(source.lines):
        return len(source.written)
    return source.written_row_starts[position.row - 1] + min(position.column - 1, len(source.line(position.row)))


def _newline(source: SourceFile, row: int) -> str:
    """What ends a row; in the last one, what ends the first."""
    starts = source.written_row_starts
    if row >= len(starts):
        return source.newline
    return source.written[starts[row - 1] + len(source.lines[row - 1]) : starts[row]]

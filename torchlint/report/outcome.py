"""What a run hands to its report."""

from __future__ import annotations

import enum
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from torchlint.findings import Applicability, Finding, Fix, Impact, Position, Related
from torchlint.report.text import PLAIN, Style, visible
from torchlint.rules import pages

__all__ = [
    "Outcome",
    "Severity",
    "finding_as_dict",
    "fix_mark",
    "no_source",
    "occurrences",
    "place",
    "rule_url",
    "severity",
    "uri",
]


def no_source(_filename: str, _cell: int | None) -> Sequence[str]:
    """For files that cannot be read any more: no lines."""
    return ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The findings of a run, in order of file and place, and what a report needs beside them.

    `source` gives the lines, without their ends, of a file or of one cell of it, by the name that findings carry;
    nothing where it cannot be read. `style` is for the formats that a person reads.
    """

    findings: Sequence[Finding]
    files: int = 0  # how many were linted
    suppressed: int = 0  # findings that comments or the baseline silenced
    fixed: Sequence[Finding] = ()  # what was repaired, in order of file
    unsafe_fixes: bool = False  # whether unsafe fixes may be applied without a further word
    source: Callable[[str, int | None], Sequence[str]] = no_source
    style: Style = PLAIN


def rule_url(finding: Finding) -> str:
    """The address of the page of the finding's rule: that of this installation, as none is published."""
    return pages.file(finding.code).as_uri()


def place(finding: Finding | Related) -> str:
    """`path:row:column`, or `path:cell N:row:column` in a notebook; not escaped."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{finding.filename}:{cell}{finding.start.row}:{finding.start.column}"


def fix_mark(finding: Finding, unsafe_fixes: bool) -> str:
    """`[*]` for a finding that --fix repairs, else nothing."""
    least = Applicability.UNSAFE if unsafe_fixes else Applicability.SAFE
    return "[*]" if finding.fix is not None and finding.fix.edits and finding.fix.applicability >= least else ""


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """A finding as every JSON format of ours writes it."""
    return {
        "code": finding.code,
        "name": finding.name,
        "message": visible(finding.message),
        "filename": finding.filename,
        "cell": finding.cell,
        "cell_id": finding.cell_id or None,
        "location": _position(finding.start),
        "end_location": _position(finding.end),
        "bottleneck": finding.bottleneck,
        "confidence": str(finding.confidence),
        "impact": str(finding.impact),
        "url": rule_url(finding),
        "fingerprint": finding.fingerprint,
        "advice": visible(finding.advice),
        "related": [
            {
                "message": visible(related.message),
                "filename": related.filename,
                **_cell(related.cell),
                "location": _position(related.start),
            }
            for related in finding.related
        ],
        "fix": None if finding.fix is None else _fix(finding.fix),
        "evidence": finding.evidence,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": str(fix.applicability),
        "message": visible(fix.message),
        "edits": [
            {
                "content": edit.content,
                **_cell(edit.cell),
                "location": _position(edit.start),
                "end_location": _position(edit.end),
            }
            for edit in fix.edits
        ],
    }


def _cell(cell: int | None) -> dict[str, int]:
    """The cell, where there is one: that of a fix or of an explanation may be another than the finding's."""
    return {} if cell is None else {"cell": cell}


class Severity(enum.Enum):
    """How loudly other programs are told."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


def severity(finding: Finding) -> Severity:
    """A file that cannot be read is an error; what only costs time or memory never is."""
    if finding.code == "TL003":
        return Severity.ERROR
    return Severity.NOTE if finding.impact is Impact.LOW else Severity.WARNING


def occurrences(findings: Sequence[Finding]) -> Iterator[tuple[Finding, str]]:
    """Each finding with a fingerprint that no other one of the run has: equal ones are numbered from the second on."""
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.fingerprint] += 1
        count = seen[finding.fingerprint]
        yield finding, finding.fingerprint if count == 1 else f"{finding.fingerprint}:{count}"


def uri(filename: str) -> str:
    """A finding's file name as a URI: relative where the name is, else `file:`; whatever bytes the name has."""
    if os.path.isabs(filename):
        return Path(filename).as_uri()
    return quote(os.fsencode(filename.replace(os.sep, "/")))


def _position(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}

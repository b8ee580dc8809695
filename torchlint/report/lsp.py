"""Diagnostics of the language server protocol."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from torchlint.findings import Finding, Position
from torchlint.report.json import dumps, portable
from torchlint.report.outcome import Outcome, Severity, rule_url, severity
from torchlint.report.text import utf16_length, visible

__all__ = ["diagnostic", "document_uri", "render", "text_range"]

# DiagnosticSeverity of the protocol; a note is information.
_SEVERITIES = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.NOTE: 3}


def render(outcome: Outcome) -> Iterator[str]:
    """One JSON array of publishDiagnostics parameters. A notebook's cell is a document of its own, `#cellN`."""
    published = []
    for (filename, cell), findings in itertools.groupby(outcome.findings, key=lambda one: (one.filename, one.cell)):
        lines = outcome.source(filename, cell)
        published.append(
            {
                "uri": document_uri(filename, cell),
                "diagnostics": [diagnostic(finding, lines, outcome.source) for finding in findings],
            }
        )
    yield dumps(published, indent=2) + "\n"


def diagnostic(
    finding: Finding,
    lines: Sequence[str],
    source: Callable[[str, int | None], Sequence[str]],
    units: Callable[[str], int] = utf16_length,
    uri: Callable[[str, int | None], str] | None = None,
) -> dict[str, Any]:
    """The finding as a Diagnostic.

    `lines` are those of its document, `source` gives those of related files; `units` measures text in the units of the
    negotiated position encoding; `uri` says what a file, or a cell of it, is called, by default `document_uri`.
    """
    uri = uri or document_uri
    related = [
        {
            "location": {
                "uri": uri(place.filename, place.cell),
                "range": text_range(place.start, place.start, source(place.filename, place.cell), units),
            },
            "message": visible(place.message),
        }
        for place in finding.related
    ]
    found: dict[str, Any] = {
        "range": text_range(finding.start, finding.end, lines, units),
        "severity": _SEVERITIES[severity(finding)],
        "code": finding.code,
        "codeDescription": {"href": rule_url(finding)},
        "source": "torchlint",
        "message": visible(finding.message),
        "relatedInformation": related,
        "data": {"fingerprint": finding.fingerprint, "name": finding.name, "cell_id": finding.cell_id or None},
    }
    result: dict[str, Any] = portable(found)
    return result


def document_uri(filename: str, cell: int | None) -> str:
    """The URI of a file, or of a cell of it, where no editor has its own."""
    return Path(filename).absolute().as_uri() + ("" if cell is None else f"#cell{cell}")


def text_range(
    start: Position, end: Position, lines: Sequence[str], units: Callable[[str], int]
) -> dict[str, dict[str, int]]:
    """The Range from `start` to `end` in a document with these `lines`."""
    return {"start": _position(start, lines, units), "end": _position(end, lines, units)}


def _position(position: Position, lines: Sequence[str], units: Callable[[str], int]) -> dict[str, int]:
    row, column = position.row - 1, position.column - 1
    line = lines[row] if row < len(lines) else ""
    # Past the end of what can be read every character counts as one unit.
    return {"line": row, "character": units(line[:column]) + max(0, column - len(line))}

"""A code quality report of GitLab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchlint.findings import Finding
from torchlint.report.json import dumps
from torchlint.report.outcome import Outcome, Severity, occurrences, severity
from torchlint.report.text import visible

__all__ = ["render"]

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(outcome: Outcome) -> Iterator[str]:
    """One JSON array; its fingerprints stay the same when lines move, so that GitLab can tell old findings from new."""
    yield dumps([_issue(*item) for item in occurrences(outcome.findings)], indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str) -> dict[str, Any]:
    cell = "" if finding.cell is None else f"cell {finding.cell}, line {finding.start.row}: "
    # Rows of a cell are no rows of the notebook's file.
    begin, end = (finding.start.row, finding.end.row) if finding.cell is None else (1, 1)
    return {
        "description": f"{finding.code} ({finding.name}): {cell}{visible(finding.message)}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[severity(finding)],
        "location": {"path": finding.filename, "lines": {"begin": begin, "end": end}},
    }

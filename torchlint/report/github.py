"""Annotations of GitHub Actions: workflow commands on standard output."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Finding
from torchlint.report.outcome import Outcome, Severity, place, severity
from torchlint.report.text import visible

__all__ = ["render"]

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(outcome: Outcome) -> Iterator[str]:
    """A command for each finding. Rows of a cell are no rows of the notebook's file: only the text has them."""
    for finding in outcome.findings:
        properties = {"title": f"torchlint ({finding.code})", "file": finding.filename} | _span(finding)
        text = f"{place(finding)}: {finding.code} {finding.message}"
        written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
        yield f"::{_LEVELS[severity(finding)]} {written}::{_data(text)}\n"


def _span(finding: Finding) -> dict[str, int]:
    if finding.cell is not None:
        return {}
    span = {"line": finding.start.row, "endLine": finding.end.row}
    # GitHub takes columns only for annotations of a single line.
    if finding.start.row == finding.end.row:
        span |= {"col": finding.start.column, "endColumn": finding.end.column}
    return span


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

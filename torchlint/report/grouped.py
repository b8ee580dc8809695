"""Findings under the name of their file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from torchlint.report.outcome import Outcome, fix_mark
from torchlint.report.text import visible

__all__ = ["render"]


def render(outcome: Outcome) -> Iterator[str]:
    """A heading for each file, then its findings, their places aligned."""
    style = outcome.style
    for filename, group in itertools.groupby(outcome.findings, key=lambda finding: finding.filename):
        findings = list(group)
        yield style.bold(visible(filename)) + ":\n"
        places = [
            f"{'' if finding.cell is None else f'cell {finding.cell}:'}{finding.start.row}:{finding.start.column}"
            for finding in findings
        ]
        room = max(map(len, places))
        for where, finding in zip(places, findings, strict=True):
            mark = fix_mark(finding, outcome.unsafe_fixes)
            parts = (f"  {where:<{room}} ", style.code(finding.code), style.good(mark), visible(finding.message))
            yield " ".join(filter(None, parts)) + "\n"
        yield "\n"

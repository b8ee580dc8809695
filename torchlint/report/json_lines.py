"""One JSON object a line and finding."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.report.json import dumps
from torchlint.report.outcome import Outcome, finding_as_dict

__all__ = ["render"]


def render(outcome: Outcome) -> Iterator[str]:
    """A line for each finding."""
    for finding in outcome.findings:
        yield dumps(finding_as_dict(finding)) + "\n"

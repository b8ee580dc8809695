"""One line a finding."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.report.outcome import Outcome, fix_mark, place
from torchlint.report.text import visible

__all__ = ["render"]


def render(outcome: Outcome) -> Iterator[str]:
    """`path:row:column: CODE [*] message`."""
    style = outcome.style
    for finding in outcome.findings:
        mark = fix_mark(finding, outcome.unsafe_fixes)
        head = f"{style.bold(visible(place(finding)))}: {style.code(finding.code)}"
        yield " ".join(filter(None, (head, style.good(mark), visible(finding.message)))) + "\n"

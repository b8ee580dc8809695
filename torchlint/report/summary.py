"""The last lines of a report for a person."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Applicability
from torchlint.report.outcome import Outcome
from torchlint.report.text import plural

__all__ = ["render"]


def render(outcome: Outcome) -> Iterator[str]:
    """How many findings there are, and what --fix would do about them."""
    style = outcome.style
    silenced = f" ({outcome.suppressed} suppressed)" if outcome.suppressed else ""
    if not outcome.findings:
        yield f"{style.good('All checks passed')} in {plural(outcome.files, 'file')}{silenced}.\n"
        return
    files = len({finding.filename for finding in outcome.findings})
    yield f"Found {plural(len(outcome.findings), 'finding')} in {plural(files, 'file')}{silenced}.\n"
    fixes = [finding.fix.applicability for finding in outcome.findings if finding.fix and finding.fix.edits]
    safe, unsafe = fixes.count(Applicability.SAFE), fixes.count(Applicability.UNSAFE)
    if outcome.unsafe_fixes:
        safe, unsafe = safe + unsafe, 0
    if safe:
        more = f" ({unsafe} more with --unsafe-fixes)" if unsafe else ""
        yield f"[*] {safe} fixable with --fix{more}.\n"
    elif unsafe:
        yield f"{unsafe} fixable with --fix --unsafe-fixes.\n"

"""The last lines of a report for a person."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from torchlint.findings import Applicability, Finding
from torchlint.report.outcome import Outcome
from torchlint.report.text import plural, visible

__all__ = ["fixed_line", "fixes", "render", "unsafe_fixes"]


def render(outcome: Outcome) -> Iterator[str]:
    """How many findings there are, and what --fix would do about them."""
    style = outcome.style
    if outcome.fixed:
        yield fixed_line(outcome.fixed) + "\n"
    silenced = f" ({outcome.suppressed} suppressed)" if outcome.suppressed else ""
    if not outcome.findings and not outcome.files:
        yield "No files to check.\n"
        return
    if not outcome.findings:
        yield f"{style.good('All checks passed')} in {plural(outcome.files, 'file')}{silenced}.\n"
        return
    files = len({finding.filename for finding in outcome.findings})
    yield f"Found {plural(len(outcome.findings), 'finding')} in {plural(files, 'file')}{silenced}.\n"
    safe, unsafe = _count(outcome.findings, Applicability.SAFE), unsafe_fixes(outcome.findings)
    if outcome.unsafe_fixes:
        safe, unsafe = safe + unsafe, 0
    if safe:
        more = f" ({unsafe} more with --unsafe-fixes)" if unsafe else ""
        yield f"[*] {safe} fixable with --fix{more}.\n"
    elif unsafe:
        yield f"{unsafe} fixable with --fix --unsafe-fixes.\n"


def unsafe_fixes(findings: Sequence[Finding]) -> int:
    """How many findings have a repair that may change what the program does."""
    return _count(findings, Applicability.UNSAFE)


def _count(findings: Sequence[Finding], applicability: Applicability) -> int:
    return sum(bool(each.fix and each.fix.edits and each.fix.applicability is applicability) for each in findings)


def fixed_line(fixed: Sequence[Finding], verb: str = "Fixed") -> str:
    """How many findings were repaired, in how many files."""
    files = len({finding.filename for finding in fixed})
    return f"{verb} {plural(len(fixed), 'finding')} in {plural(files, 'file')}."


def fixes(fixed: Sequence[Finding]) -> Iterator[str]:
    """What was repaired, by file and rule."""
    for filename, findings in itertools.groupby(fixed, key=lambda finding: finding.filename):
        yield f"- {visible(filename)}:\n"
        counts = Counter((finding.code, finding.name) for finding in findings)
        for (code, name), count in sorted(counts.items()):
            yield f"    {count} x {code} ({name})\n"

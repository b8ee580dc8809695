"""How often each rule was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torchlint.report.json import dumps
from torchlint.report.outcome import Outcome, fix_mark

__all__ = ["render", "render_json"]


def _rows(outcome: Outcome) -> list[tuple[int, str, str, int]]:
    """(findings, code, name, how many of them --fix repairs), the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in outcome.findings)
    fixable = Counter(finding.code for finding in outcome.findings if fix_mark(finding, outcome.unsafe_fixes))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(count, code, name, fixable[code]) for (code, name), count in ordered]


def render(outcome: Outcome) -> Iterator[str]:
    """A line for each rule: count, code, `[*]` where all can be fixed and `[-]` where some can, name."""
    rows = _rows(outcome)
    room = max((len(str(row[0])) for row in rows), default=0)
    some = any(fixable for *_, fixable in rows)
    for count, code, name, fixable in rows:
        mark = "[*] " if fixable == count else "[-] " if fixable else "[ ] "
        yield f"{count:>{room}}  {outcome.style.code(code)}  {mark if some else ''}{name}\n"


def render_json(outcome: Outcome) -> Iterator[str]:
    """The same as one JSON array."""
    rows = [
        {"code": code, "name": name, "count": count, "fixable": fixable}
        for count, code, name, fixable in _rows(outcome)
    ]
    yield dumps(rows, indent=2) + "\n"

"""Each finding with its source, the chain that makes it costly, and the repair."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torchlint.findings import Applicability, Finding
from torchlint.report.outcome import Outcome, fix_mark, place
from torchlint.report.text import Style, frame_line, visible, width

__all__ = ["render"]

_CONTEXT = 2  # lines shown before and after the finding
_SPAN = 6  # of a longer finding only the first and the last lines are shown


def render(outcome: Outcome) -> Iterator[str]:
    """A block for each finding, a blank line after each."""
    for finding in outcome.findings:
        yield "\n".join(_block(finding, outcome)) + "\n\n"


def _block(finding: Finding, outcome: Outcome) -> Iterator[str]:
    style = outcome.style
    mark = fix_mark(finding, outcome.unsafe_fixes)
    head = f"{style.bold(visible(place(finding)))}: {style.code(finding.code)}"
    yield " ".join(filter(None, (head, style.good(mark), style.bold(visible(finding.message)))))

    lines = outcome.source(finding.filename, finding.cell)
    if len(lines) > finding.end.row and not lines[-1]:
        lines = lines[:-1]  # what follows the last line end is no line
    margin = len(str(min(finding.end.row + _CONTEXT, max(len(lines), 1))))
    yield from _frame(finding, lines, margin, style)
    for label, text in _notes(finding, outcome.unsafe_fixes):
        yield from _note(label, text, margin, style)


def _frame(finding: Finding, lines: Sequence[str], margin: int, style: Style) -> Iterator[str]:
    """The source around the finding; what is found is underlined."""
    if not 1 <= finding.start.row <= len(lines):
        return
    bar = style.mark("|")
    columns = max(8, style.columns - margin - 3)
    first, last = max(1, finding.start.row - _CONTEXT), min(len(lines), finding.end.row + _CONTEXT)
    # Where the line does not fit, the indentation that all have in common is the first to go.
    fits = len(lines[finding.start.row - 1]) <= columns
    dedent = 0 if fits else min((_indent(line) for line in lines[first - 1 : last] if line.strip()), default=0)
    yield f"{' ' * margin} {bar}"
    skipped = False
    for row in range(first, last + 1):
        if _SPAN // 2 <= row - finding.start.row <= finding.end.row - finding.start.row - _SPAN // 2:
            if not skipped:
                yield f"{' ' * margin} {bar} {style.dim('...')}"
            skipped = True
            continue
        line = lines[row - 1][dedent:]
        inside = finding.start.row <= row <= finding.end.row
        start = finding.start.column - 1 - dedent if row == finding.start.row else _indent(line)
        end = finding.end.column - 1 - dedent if row == finding.end.row else len(line.rstrip())
        start = min(max(start, 0), len(line)) if inside else 0
        cut = frame_line(line, start, min(max(end, start), len(line)) if inside else 0, columns)
        yield f"{style.mark(str(row).rjust(margin))} {bar} {cut.text}".rstrip()
        if inside:
            yield f"{' ' * margin} {bar} {' ' * cut.start}{style.code('^' * cut.length)}"
    yield f"{' ' * margin} {bar}"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _notes(finding: Finding, unsafe_fixes: bool) -> Iterator[tuple[str, str]]:
    """What explains the finding: (label, text)."""
    for related in finding.related:
        where = f"line {related.start.row}"
        if related.filename != finding.filename:
            where = place(related)
        elif related.cell != finding.cell:
            where = f"cell {related.cell}, {where}"
        yield "why", f"{related.message} ({where})" if where not in related.message else related.message
    if finding.advice:
        yield "help", finding.advice
    if finding.fix is not None:
        yield "fix", f"{finding.fix.message} ({_availability(finding, unsafe_fixes)})"
    if finding.evidence is not None:
        yield "measured", evidence_line(finding.evidence)
    yield "note", f"{finding.name}, {finding.impact} impact, {finding.confidence}"


def _availability(finding: Finding, unsafe_fixes: bool) -> str:
    assert finding.fix is not None
    if finding.fix.applicability is Applicability.DISPLAY or not finding.fix.edits:
        return "for you to decide"
    if fix_mark(finding, unsafe_fixes):
        return "--fix applies it"
    return "unsafe: --fix --unsafe-fixes applies it"


def evidence_line(evidence: Mapping[str, Any]) -> str:
    """What --verify measured, in one line, with where and how."""
    said = [str(evidence["verdict"])]
    ratio = evidence.get("ratio")
    if ratio is not None:
        said.append(f"x{ratio['median']:.3g} [{ratio['low']:.3g}, {ratio['high']:.3g}]")
    if evidence.get("rung"):
        said.append(f"measured {evidence['rung']}" if evidence["rung"] == "in place" else str(evidence["rung"]))
    machine = evidence.get("environment") or {}
    said += [f"{machine['name']}, torch {machine['torch']}"] if machine else []
    return ", ".join(said)


def _note(label: str, text: str, margin: int, style: Style) -> Iterator[str]:
    """`= label: text`, wrapped to the terminal."""
    lead = f"{' ' * margin} {style.mark('=')} "
    room = style.columns - margin - 3
    text = f"{label}: {visible(text)}"
    lines = [text]
    if width(text) > room:
        hang = "" if room < 30 else " " * (len(label) + 2)
        lines = textwrap.wrap(
            text, max(8, room), subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
        ) or [text]
    first, *rest = lines
    yield lead + style.bold(first[: len(label) + 1]) + first[len(label) + 1 :]
    for line in rest:
        yield f"{' ' * (margin + 3)}{line}"

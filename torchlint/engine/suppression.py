"""Directives against findings: what is suppressed, and which directives are unused (TL001) or invalid (TL002)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from torchlint.engine import selection
from torchlint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact
from torchlint.source.directives import Directive, Scope, Selector
from torchlint.source.scan import LogicalLine, Scan
from torchlint.source.text import SourceFile

__all__ = ["Suppressions", "codes_of", "meta_finding"]

_META = frozenset(rule.code for rule in selection.META_RULES)
_HEADER = re.compile(r"(?:async\s+def|def|class)\b")


def meta_finding(
    code: str, source: SourceFile, message: str, start: int, end: int, fix: Fix | None = None, advice: str = ""
) -> Finding:
    """A finding of the engine itself, at `source.text[start:end]`."""
    rule = selection.rules_by_code()[code]
    return Finding(
        code=code,
        name=rule.name,
        message=message,
        filename=source.path,
        start=source.position(start),
        end=source.position(end),
        bottleneck=rule.bottleneck,
        confidence=Confidence.SURE,
        impact=Impact.LOW,
        fingerprint="",
        fix=fix,
        advice=advice,
    )


@dataclass(slots=True)
class _Entry:
    """One selector of a directive, or all of a blanket one, and whether it suppressed anything."""

    directive: Directive
    selector: Selector | None
    codes: frozenset[str]
    rows: frozenset[int]  # the rows, or rows of logical lines' beginnings, that it holds for
    used: bool = False


@dataclass
class Suppressions:
    """The directives of one file."""

    source: SourceFile
    scan: Scan
    directives: Sequence[Directive]
    ran: frozenset[str]  # the codes that ran on the file
    invalid: list[Finding] = field(default_factory=list)  # TL002
    _entries: list[_Entry] = field(default_factory=list)
    # What holds for a code in a row, or in the file (None), as indices of entries; of blanket ones, for the code "".
    _held: dict[tuple[int | None, str], list[int]] = field(default_factory=dict)
    _silencing: dict[tuple[frozenset[int], str], list[Directive]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for directive in self.directives:
            rows = frozenset(self._rows_of(directive))
            if directive.problem is not None:
                problem = directive.problem
                self.invalid.append(meta_finding("TL002", self.source, problem.message, problem.start, problem.end))
            elif directive.blanket:
                self._enter(_Entry(directive, None, frozenset(), rows))
            for selector in directive.selectors:
                self._add(directive, selector, rows)

    def _add(self, directive: Directive, selector: Selector, rows: frozenset[int]) -> None:
        if directive.kind == "noqa" and not selector.text.upper().startswith("TL"):
            return  # another tool's
        try:
            codes = codes_of(selector.text)
        except selection.UnknownSelectorError as error:
            self.invalid.append(meta_finding("TL002", self.source, str(error), selector.start, selector.end))
        else:
            self._enter(_Entry(directive, selector, codes, rows))

    def _enter(self, entry: _Entry) -> None:
        index = len(self._entries)
        self._entries.append(entry)
        places: Iterable[int | None] = (None,) if entry.directive.scope is Scope.FILE else entry.rows
        for row in places:
            for code in ("",) if entry.selector is None else entry.codes:
                self._held.setdefault((row, code), []).append(index)

    def suppresses(self, finding: Finding) -> bool:
        """Whether a directive silences `finding`; remembers that it was of use."""
        return bool(self.silencing(finding))

    def silencing(self, finding: Finding) -> list[Directive]:
        """The directives that silence `finding`; remembers that they were of use."""
        if not self._held:
            return []
        rows = self._rows_for(finding)
        key = (rows, finding.code)
        if key not in self._silencing:
            self._silencing[key] = self._silenced(rows, finding.code)
        return self._silencing[key]

    def _silenced(self, rows: frozenset[int], code: str) -> list[Directive]:
        silencing: list[Directive] = []
        seen: set[tuple[int, int]] = set()
        places: list[int | None] = [None, *rows]
        here = {index for row in places for name in ("", code) for index in self._held.get((row, name), ())}
        for entry in (self._entries[index] for index in sorted(here)):
            silencing.append(entry.directive)
            if entry.directive.comment not in seen:  # said twice in one comment, the second is of no use
                entry.used = True
                seen.add(entry.directive.comment)
        return silencing

    def unused(self) -> Iterator[Finding]:
        """TL001 for each selector that suppressed nothing though its rules ran."""
        idle: dict[int, list[_Entry]] = {}  # by directive
        for entry in self._entries:
            if not entry.used and self._is_judged(entry):
                idle.setdefault(id(entry.directive), []).append(entry)
        for entries in idle.values():
            directive = entries[0].directive
            places = {selector.start: place for place, selector in enumerate(directive.selectors)}
            for entry in entries:
                selector = entry.selector
                assert selector is not None
                if len(entries) < len(directive.selectors):
                    edit = self._without(selector, places[selector.start], directive)
                else:
                    edit = self._without_directive(directive)
                yield meta_finding(
                    "TL001",
                    self.source,
                    f"`{selector.text}` suppresses nothing here",
                    selector.start,
                    selector.end,
                    Fix(Applicability.SAFE, "Remove the unused suppression", (edit,)),
                    "remove it, so that it does not hide what comes next",
                )

    def _is_judged(self, entry: _Entry) -> bool:
        """Whether all that the selector is there for ran. Of rules that must be asked for, it need not be."""
        if entry.selector is None or entry.codes & _META:
            return False
        by_code = selection.rules_by_code()
        usual = {code for code in entry.codes if by_code[code].default} or entry.codes
        return usual <= self.ran

    def _row(self, offset: int) -> int:
        return self.source.position(offset).row

    def _rows_of(self, directive: Directive) -> Iterator[int]:
        """The rows that a directive holds for: its own; alone on it, the row or the statement that comes next."""
        row = self._row(directive.start)
        yield row
        if directive.scope is not Scope.NEXT:
            return
        if self.scan.index_at(directive.start) is not None:  # among the rows of a statement
            yield self._next_code_rows[row]
            return
        following = self.scan.index_from(directive.start)
        if following < len(self.scan.logical_lines):
            yield self._row(self.scan.logical_lines[following].code)

    @functools.cached_property
    def _next_code_rows(self) -> list[int]:
        """For each row the first one after it that holds more than a comment; one past the last where there is none."""
        following = [len(self.source.lines) + 1]
        for row in range(len(self.source.lines), 0, -1):
            blank = self.source.line(row).strip()[:1] in ("", "#")
            following.append(following[-1] if blank else row)
        return following[::-1]

    def _rows_for(self, finding: Finding) -> frozenset[int]:
        """The rows on which a directive silences `finding`."""
        index = self.scan.index_at(self.source.offset(finding.start))
        if index is None:
            return frozenset(range(finding.start.row, finding.end.row + 1))
        first, last = self._extent(self.scan.logical_lines[index])
        # A loop is found as a whole, but what is written in its body is about other things.
        rows = {first, last, *range(finding.start.row, min(finding.end.row, last) + 1)}
        for decorator in self._decorators(index):
            rows.update(self._extent(decorator))
        return frozenset(rows)

    def _extent(self, line: LogicalLine) -> tuple[int, int]:
        return self._row(line.code), self._row(line.end)

    def _decorators(self, index: int) -> Iterator[LogicalLine]:
        """The decorators above a definition whose header is the logical line `index`."""
        lines, text = self.scan.logical_lines, self.scan.text
        if not _HEADER.match(text, lines[index].code):
            return
        while index > 0 and text[lines[index - 1].code] == "@":
            index -= 1
            yield lines[index]

    def _without(self, selector: Selector, index: int, directive: Directive) -> Edit:
        """The edit that takes one of several selectors out of a directive, that of this index."""
        if index + 1 < len(directive.selectors):
            return self.source.edit(selector.start, directive.selectors[index + 1].start, "")
        return self.source.edit(directive.selectors[index - 1].end, selector.end, "")

    def _without_directive(self, directive: Directive) -> Edit:
        """The edit that takes a directive and its reason out of its comment, or the comment as a whole."""
        text = self.scan.text
        start, end = directive.start, directive.comment[1]
        if another := re.search(r"\s#", text[directive.end : end]):
            return self.source.edit(start, directive.end + another.start() + 1, "")
        while start > 0 and text[start - 1] in " \t":
            start -= 1
        alone = start == 0 or text[start - 1] == "\n"
        return self.source.edit(start, end + (alone and end < len(text)), "")


def codes_of(name: str) -> frozenset[str]:
    """The codes of a selector in a comment, where codes may be written in lower case.

    Raises UnknownSelectorError.
    """
    try:
        return selection.expand(name)
    except selection.UnknownSelectorError:
        for other in (name.upper(), name.lower()):
            try:
                return selection.expand(other)
            except selection.UnknownSelectorError:
                continue
        raise

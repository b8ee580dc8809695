"""After an edit, only that part of a program is read again that the edit can reach.

What linting a program gave is kept with what its files told one another (`torchlint.semantics.facts`): what the
definitions of each give to those who use them, how each calls the functions of others, and what each asked about the
whole. After an edit these are the files to lint: the edited ones, and those in which a statement hangs by its names on
one that changed. They are read with all that they call or name (`torchlint.engine.pieces`: the statements that are
needed, cut out of their files), and with those who call them, up to where the calls begin. Everything else stays away.

Then the two sides are compared. If a definition at the border gives something else than it gave when all was read, or
is called otherwise, or a question about the whole may have another answer, then the edit reached that file, or the part
was too small to tell what the whole tells: either way the file is linted as well, and a larger part is read. It ends
when all that was told across the border is what it was; then nothing beyond it can have changed. For that it must not
rest on what comes back from beyond: where the part could tell itself something that way, it is read once more without
what it is told, and who told what makes a difference is read as well. A name that is looked up and stands in what was
left away is read as soon as it is needed. Where the part would be a large share of the program, all of it is read.

So the findings are those of a program that is read as a whole, at the cost of what an edit touches.
"""

from __future__ import annotations

import functools
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from torchlint.engine.ledger import Entry, Ledger
from torchlint.engine.lint import FileResult, Part, Program
from torchlint.engine.notebooks import Document, lint_documents
from torchlint.engine.pieces import Named, Pieces, UnclearError, outline, reduced, statements
from torchlint.engine.settings import Settings
from torchlint.findings import Finding, Position, Related
from torchlint.semantics.facts import Asked, Facts
from torchlint.semantics.outside import Rest, Told
from torchlint.source.text import SourceFile

if TYPE_CHECKING:
    from torchlint.engine.job import Group

__all__ = ["Known", "lint_again"]

_LARGE = 0.4  # the share of a program from which reading a part is not worth it; of several parts, all of it
_SMALL = 20_000  # bytes of a program that is no larger than that

_Key = TypeVar("_Key")
_TOGETHER = ("together", "")

Documents = Mapping[int, tuple[Document, Settings, Path]]


@dataclass(frozen=True)
class Known:
    """What is known of a program from when it was last read."""

    digests: Sequence[str]  # of the files' contents
    results: Sequence[FileResult | None]
    ledger: Ledger
    words: Mapping[str, Sequence[int]]  # the files that hold words that somebody asked about

    @classmethod
    def of(cls, group: Group, documents: Documents, program: Program) -> Known | None:
        """What is known when all of a program was read; None where it could not be read as one."""
        facts = program.facts
        if facts is None:
            return None
        files = range(len(group.numbers))
        imports = _imports(group)
        entries = [_entry(documents, number, facts.get(number), imports[number]) for number in files]
        results = [program.results.get(number) for number in files]
        asked = {what for entry in entries for kind, what in entry.facts.wide.asked if kind == "words"}
        words = {what: [n for n in files if n in documents and _holds(documents[n][0].text, what)] for what in asked}
        return cls(group.digests, results, Ledger(entries), words)


def _holds(text: str, words: str) -> bool:
    return any(word in text for word in words.split())


def _imports(group: Group) -> dict[int, set[int]]:
    """The files that each may import."""
    found: dict[int, set[int]] = defaultdict(set)
    for number, other in group.imports:
        found[number].add(other)
    return found


def _entry(documents: Documents, number: int, facts: Facts | None, imported: Iterable[int]) -> Entry:
    """What is kept of a file. That it knows the names of those that it imports is understood."""
    text = documents[number][0].text if number in documents else ""
    facts = facts or Facts()
    facts.wide.asked -= {("names", str(other)) for other in imported}
    return Entry(facts, statements(text), _lines(text), len(text))


def _lines(text: str) -> list[int]:
    return [zlib.crc32(line.encode("utf-8", "surrogatepass")) for line in text.split("\n")]


def lint_again(known: Known, documents: Documents, group: Group, most: float = float("inf")) -> Known | None:
    """What is known after some files changed; None where no part of the program, of `most` bytes, tells."""
    try:
        return _Edit(known, documents, group, most).done()
    except UnclearError:
        return None


class _Edit:
    """An edit of some files of a program whose other files are as they were."""

    def __init__(self, known: Known, documents: Documents, group: Group, most: float) -> None:
        assert group.modules is not None
        self._known = known
        self._ledger = known.ledger
        self._documents = documents
        self._modules = group.modules
        self._group = group
        self._changed = [
            number
            for number, (before, now) in enumerate(zip(known.digests, group.digests, strict=True))
            if before != now or known.results[number] is None
        ]
        self._importers: dict[int, set[int]] = defaultdict(set)
        for number, other in group.imports:
            self._importers[other].add(number)
        self._pieces = Pieces(self._text, group.modules)
        self._most = most
        self._linted = set(self._changed)
        self._more: set[Named] = set()  # definitions that must be read along
        self._above: set[Named] = set()  # those that call what is linted, themselves or through others
        self._ambiguous = _ambiguous_methods(known.ledger.wide)

    def done(self) -> Known | None:
        for number in self._changed:
            self._linted |= {other for other, _ in self._hanging_on(number, self._changed_names(number))}
        whole = sum(self._ledger.sizes)
        left = min(self._most, max(whole, _SMALL))
        while True:
            kept, told = self._needed()
            documents = self._part(kept)
            size = sum(len(document.text) for document, _, _ in documents.values())
            left -= size
            if left < 0 or size > _LARGE * max(whole, _SMALL):
                return None
            accelerated = frozenset(n for n in kept if n not in self._linted and self._ledger.wide[n].accelerated)
            leaves_out = functools.partial(self._leaves_out, kept)
            part = Part(frozenset(self._linted), Rest(self._ambiguous, accelerated, told, leaves_out))
            program = lint_documents(documents, self._modules, part, tell=True)
            if program.missing is not None and program.missing not in self._more:
                self._more.add(program.missing)
                continue
            if program.facts is None:
                return None
            facts = {number: program.facts.get(number) or Facts() for number in kept}
            more = self._missing(facts, kept)
            if more is None:
                return None
            reached = self._reached(facts, kept) - self._linted
            ambiguous = _ambiguous_methods(
                facts[n].wide if n in self._linted else wide for n, wide in enumerate(self._ledger.wide)
            )
            if not reached and not more - self._more and ambiguous == self._ambiguous:
                more = self._resting(facts, told, documents, part)
                if not more:
                    return self._renewed(program.results, facts)
                if more <= self._more:
                    return None
            self._linted |= reached
            self._more |= more
            self._ambiguous = ambiguous

    def _needed(self) -> tuple[dict[int, set[int]], dict[int, Told]]:
        """The statements that must be read, and what those that are only read along are told by others."""
        while True:
            kept = self._pieces.below(self._linted, self._around())
            for circle in self._group.circles:  # its files begin in the order that their imports tell
                if len(circle) > 1 and not kept.keys().isdisjoint(circle):
                    for number in circle:
                        kept.setdefault(number, set()).update(self._pieces.importing(number))
            told = self._told_from_outside(kept)
            named = {place for one in told.values() for place in one.named() if not self._is_read(place, kept)}
            if named <= self._more:
                return kept, told
            self._more |= named

    def _changed_names(self, number: int) -> set[str]:
        """The names that statements of a file bind which changed, came or went; "" for code that binds none."""
        before = {(names, digest) for names, digest, _, _ in self._ledger[number].outline}
        now = {(names, digest) for names, digest, _, _ in statements(self._text(number))}
        return {name for names, _ in before ^ now for name in names or ("",)}

    def _hanging_on(self, number: int, names: Iterable[str]) -> set[Named]:
        """What hangs on names of a file, in whatever file: by name, or by calling it on something passed on."""
        found = self._pieces.above(((number, name) for name in names), self._importers)
        callers = (self._ledger[at].facts.callers.get(name, ()) for at, name in found)
        return found | {caller for some in callers for caller in some}

    def _around(self) -> Iterator[Named]:
        """What must be read along with the files to lint: who calls them or tells them, and what they called before."""
        todo = [
            caller for number in self._linted for some in self._ledger[number].facts.callers.values() for caller in some
        ]
        above: set[Named] = set()
        while todo:
            number, name = place = todo.pop()
            if place not in above and number not in self._linted:
                above.add(place)
                todo += self._ledger[number].facts.callers.get(name, ())
        self._above = above
        yield from above
        yield from self._more
        for number in self._linted:
            yield from (place for _, place in self._ledger[number].facts.told.tellers() if place[0] not in self._linted)
            for called in self._ledger[number].facts.calls:
                other, name, _ = called.split(":", 2)
                if int(other) not in self._linted:
                    yield int(other), name

    def _part(self, kept: Mapping[int, Collection[int]]) -> Documents:
        documents: dict[int, tuple[Document, Settings, Path]] = {}
        for number in (number for number in self._group.order if number in kept):
            document, settings, path = self._document(number)
            pieces = outline(document.text)
            if number not in self._linted and pieces is not None and isinstance(document, SourceFile):
                document = SourceFile.from_text(reduced(document.text, pieces, kept[number]), document.path)
            documents[number] = document, settings, path
        return documents

    def _told_from_outside(self, kept: Mapping[int, Collection[int]]) -> dict[int, Told]:
        """What those that are only read along are told by code that is not read."""
        found: dict[int, Told] = {}
        for number in kept:
            if number not in self._linted:
                told = self._ledger[number].facts.told
                found[number] = told.but(lambda place: not self._is_read(place, kept))
        return found

    def _reached(self, facts: Mapping[int, Facts], kept: Mapping[int, Collection[int]]) -> set[int]:
        """The files to which something else is told than before."""
        found: set[int] = set()
        offered: set[tuple[str, str]] = set()
        for number in kept:
            before, now = self._ledger[number].facts, facts[number]
            if number not in self._linted:
                if self._told(before).sorted() != self._told(now).sorted():
                    found.add(number)
                pieces = [self._pieces.of(number)[index] for index in kept[number]]
                names = {name for piece in pieces if piece.is_definition or not piece.links for name in piece.binds}
                used = {name for at, name in self._above if at == number}
                if any(before.gives.get(name) != now.gives.get(name) for name in names if name in before.gives) or any(
                    before.used.get(name) != now.used.get(name) for name in used
                ):
                    found.add(number)
                continue
            found |= {int(called.split(":", 1)[0]) for called in _unequal(before.calls, now.calls)}
            if before.gives != now.gives:
                offered.add(("names", str(number)))
            for name in _unequal(before.gives, now.gives):
                if name:
                    by_name = self._pieces.above([(number, name)], self._importers)
                    found |= {other for other, _ in by_name}
                found |= {other for facts_of in (before, now) for other, _ in facts_of.callers.get(name, ())}
                found |= self._holding(number, name)
            offered |= _all(before.wide.offers) ^ _all(now.wide.offers)
            handled = _unequal(before.wide.holds, now.wide.holds)
            found |= {other for other in handled if _TOGETHER in self._ledger.wide[other].asked}
            if _TOGETHER in now.wide.asked:
                found |= {other for other, wide in enumerate(self._ledger.wide) if number in wide.holds}
        telling = {words for words, files in self._known.words.items() if self._tells(words, files)}
        offered |= {("words", words) for words in telling} | {("code", str(number)) for number in self._changed}
        found |= {other for other, wide in enumerate(self._ledger.wide) if wide.asked & offered}
        return found | self._pointing_at_changes()

    def _resting(
        self, facts: Mapping[int, Facts], told: Mapping[int, Told], documents: Documents, part: Part
    ) -> set[Named]:
        """Those that are not read on whom rests, perhaps, what the files to lint tell.

        They may have it from these themselves: then it would keep itself up, with nothing else behind it. Whoever
        calls, or is called, is read, so that only attributes lead there and back. What is told is left away for once.
        """
        tellers = {(number, name, one) for number, some in told.items() for name, one in some.tellers()}
        if not tellers or not self._gives_away(facts):
            return set()
        alone = lint_documents(documents, self._modules, Part(frozenset(), replace(part.rest, told={})), tell=True)
        if alone.missing is not None:
            return {alone.missing}
        if alone.facts is None:
            raise UnclearError
        without = {number: alone.facts.get(number) or Facts() for number in facts}
        if self._outward(without) == self._outward(facts):
            return set()
        other = {(number, name) for number, one in facts.items() for name in _unequal(one.gives, without[number].gives)}
        return {one for number, name, one in tellers if (number, name) in other} or {one for *_, one in tellers}

    def _gives_away(self, facts: Mapping[int, Facts]) -> bool:
        """Whether files that are not linted hold objects of classes of those that are, or have attributes from them."""
        return any(
            not self._linted.isdisjoint(number for number, _ in wide.touches)
            for number, wide in enumerate(self._ledger.wide)
            if number not in self._linted
        ) or any(any(self._told(facts[number]).of_classes()) for number in facts.keys() - self._linted)

    def _told(self, facts: Facts) -> Told:
        """What the files to lint tell a file."""
        return facts.told.but(lambda place: place[0] in self._linted)

    def _outward(self, facts: Mapping[int, Facts]) -> Any:
        """All that the files to lint tell."""
        linted = [facts[number] for number in sorted(self._linted)]
        return [(one.gives, one.calls, one.wide.offers, one.wide.holds) for one in linted], [
            self._told(facts[number]).sorted() for number in sorted(facts.keys() - self._linted)
        ]

    def _holding(self, number: int, name: str) -> set[int]:
        """The files with values that are of a definition."""
        return {other for other, wide in enumerate(self._ledger.wide) if (number, name) in wide.touches}

    def _tells(self, words: str, files: Collection[int]) -> bool:
        """Whether a file that the edit reaches holds words that are asked about, or did; none mean all there is."""
        return not words or any(n in files or _holds(self._text(n), words) for n in self._linted)

    def _document(self, number: int) -> tuple[Document, Settings, Path]:
        """The document of a file. Raises UnclearError where it cannot be opened."""
        if number not in self._documents:
            raise UnclearError
        return self._documents[number]

    def _text(self, number: int) -> str:
        return self._document(number)[0].text

    def _missing(self, facts: Mapping[int, Facts], kept: Mapping[int, Collection[int]]) -> set[Named] | None:
        """The definitions elsewhere that the questions of the linted files are about; None where those are too many."""
        asked = {question for number in self._linted for question in facts[number].wide.asked}
        found: set[Named] = set()
        for words in (what for kind, what in asked if kind == "words"):
            if words not in self._known.words or not words:
                return None  # nobody asked this before
            for number in self._known.words[words]:
                if number not in self._linted:
                    found.update(self._saying(number, words))
        for number, wide in enumerate(self._ledger.wide):
            if number not in self._linted:
                for name, questions in wide.offers.items():
                    if any(kind == "override" or what not in self._ambiguous for kind, what in questions & asked):
                        found.add((number, name))
        return {place for place in found if not self._is_read(place, kept)}

    def _is_read(self, place: Named, kept: Mapping[int, Collection[int]]) -> bool:
        number, name = place
        if number in self._linted or (not name and place in self._more):
            return True
        return bool(name) and number in kept and set(self._pieces.binding(number, name)) <= set(kept[number])

    def _leaves_out(self, kept: Mapping[int, Collection[int]], place: Named) -> bool:
        number, name = place
        if number in self._linted:
            return False
        if not name:
            return self._pieces.can_be_read(number)
        return not set(self._pieces.binding(number, name)) <= set(kept.get(number, ()))

    def _saying(self, number: int, words: str) -> Iterator[Named]:
        """The definitions of a file with one of some words."""
        lines = self._text(number).split("\n")
        for piece in self._pieces.of(number):
            if any(_holds(line, words) for line in lines[piece.first - 1 : piece.last]):
                yield from ((number, name) for name in (piece.binds if piece.is_definition else ("",)))

    def _pointing_at_changes(self) -> set[int]:
        """The files with findings that a row explains which the edit changed."""
        return {
            number
            for number, result in enumerate(self._known.results)
            if number not in self._linted and result is not None and self._moved(result) is None
        }

    def _moved(self, result: FileResult) -> FileResult | None:
        """A result with the places that explain it where they are now; None where one is in what changed."""
        names = {self._document(number)[0].path: number for number in self._changed}
        if not any(one.filename in names for finding in result.findings for one in finding.related):
            return result
        findings: list[Finding] = []
        for finding in result.findings:
            related: list[Related] = []
            for one in finding.related:
                number = names.get(one.filename)
                row: int | None = one.start.row
                if number is not None:
                    row = self._rows(number).get(one.start.row) if one.cell is None else None
                if row is None:
                    return None
                related.append(replace(one, start=Position(row, one.start.column)))
            findings.append(replace(finding, related=tuple(related)))
        return replace(result, findings=tuple(findings))

    def _rows(self, number: int) -> dict[int, int]:
        """Where the rows of a file that did not change are now."""
        before, now = self._ledger[number].lines, _lines(self._text(number))
        return {
            block.a + offset + 1: block.b + offset + 1
            for block in SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
            for offset in range(block.size)
        }

    def _renewed(self, results: Mapping[int, FileResult], facts: Mapping[int, Facts]) -> Known:
        imports = _imports(self._group)
        entries = {number: _entry(self._documents, number, facts[number], imports[number]) for number in self._linted}
        for number, now in facts.items():
            before = self._ledger[number].facts
            callers = {
                name: {place for place in before.callers.get(name, ()) if place[0] not in self._linted}
                | {place for place in now.callers.get(name, ()) if place[0] in self._linted}
                for name in before.callers.keys() | now.callers.keys()
            }
            if number not in self._linted and callers != before.callers:
                entries[number] = replace(self._ledger[number], facts=replace(before, callers=callers))
        moved = (
            results[n] if n in self._linted else None if known is None else self._moved(known)
            for n, known in enumerate(self._known.results)
        )
        words = {
            what: sorted(
                {*files, *self._changed} & {n for n in {*files, *self._changed} if _holds(self._text(n), what)}
            )
            for what, files in self._known.words.items()
        }
        return Known(self._group.digests, list(moved), self._ledger.but(entries), words)


def _ambiguous_methods(wide: Iterable[Asked]) -> frozenset[str]:
    """The names of methods that not just one class of the program brings in."""
    count: dict[str, int] = defaultdict(int)
    for asked in wide:
        for questions in asked.offers.values():
            for kind, name in questions:
                if kind == "method":
                    count[name] += 1
    return frozenset(name for name, classes in count.items() if classes != 1)


def _unequal(before: Mapping[_Key, str], now: Mapping[_Key, str]) -> set[_Key]:
    return {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}


def _all(offers: Mapping[str, set[Any]]) -> set[Any]:
    return {question for questions in offers.values() for question in questions}

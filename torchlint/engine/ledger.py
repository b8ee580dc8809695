"""What the files of a program told one another, kept as text: a line for each file, read when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchlint.engine.pieces import Statement
from torchlint.semantics.facts import Asked, Facts
from torchlint.semantics.outside import Place, Told

__all__ = ["Entry", "Ledger"]


@dataclass(frozen=True)
class Entry:
    """What is kept of one file."""

    facts: Facts = field(default_factory=Facts)
    outline: Sequence[Statement] = ()
    lines: Sequence[int] = ()  # sums that stand for them
    size: int = 0  # of its text


class Ledger:
    """The entries of the files of a program, by number."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries: dict[int, Entry] = dict(enumerate(entries))
        self._lines: list[str | None] = [None] * len(entries)
        self.wide = [entry.facts.wide for entry in entries]  # at hand for all files
        self.sizes = [entry.size for entry in entries]

    @classmethod
    def from_text(cls, text: str) -> Ledger:
        """The ledger that `text` made of it. Raises ValueError, TypeError, KeyError or IndexError for other texts."""
        ledger = cls()
        head, *lines = text.split("\n")
        sizes, wide = json.loads(head)
        ledger.sizes = [int(size) for size in sizes]
        ledger.wide = [_asked(data) for data in wide]
        if not len(lines) == len(ledger.sizes) == len(ledger.wide):
            raise ValueError("not a ledger")
        ledger._lines = list(lines)
        return ledger

    def text(self) -> str:
        """All of it."""
        head = _dumped([self.sizes, [_plain_asked(asked) for asked in self.wide]])
        lines = (_dumped(_plain(self[n])) if line is None else line for n, line in enumerate(self._lines))
        return "\n".join([head, *lines])

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: int) -> Entry:
        if number not in self._entries:
            line = self._lines[number]
            assert line is not None
            self._entries[number] = _entry(json.loads(line), self.wide[number], self.sizes[number])
        return self._entries[number]

    def but(self, changed: Mapping[int, Entry]) -> Ledger:
        """The ledger with other entries for some files."""
        new = Ledger()
        new._entries = {**self._entries, **changed}
        new._lines = [None if number in changed else line for number, line in enumerate(self._lines)]
        new.wide = [changed[n].facts.wide if n in changed else wide for n, wide in enumerate(self.wide)]
        new.sizes = [changed[n].size if n in changed else size for n, size in enumerate(self.sizes)]
        return new


def _dumped(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


def _plain(entry: Entry) -> Any:
    facts = entry.facts
    return [
        list(entry.outline),
        list(entry.lines),
        facts.gives,
        facts.used,
        facts.calls,
        {name: sorted(callers) for name, callers in facts.callers.items()},
        {name: [[*place, told] for place, told in by_place.items()] for name, by_place in facts.told.passed.items()},
        {name: [[*place, told] for place, told in by_place.items()] for name, by_place in facts.told.stored.items()},
        {name: [[*place, told] for place, told in by_place.items()] for name, by_place in facts.told.evidence.items()},
    ]


def _entry(data: Any, wide: Asked, size: int) -> Entry:
    outline, lines, gives, used, calls, callers, passed, stored, evidence = data
    told = Told(
        {name: {(number, place): told for number, place, told in by_place} for name, by_place in passed.items()},
        {name: {(number, place): told for number, place, told in by_place} for name, by_place in stored.items()},
        {
            name: {(number, place): [(one, other) for one, other in told] for number, place, told in by_place}
            for name, by_place in evidence.items()
        },
    )
    facts = Facts(gives, used, calls, {name: _places(some) for name, some in callers.items()}, told, wide)
    statements = [(tuple(names), digest, first, last) for names, digest, first, last in outline]
    return Entry(facts, statements, lines, size)


def _places(data: Any) -> set[Place]:
    return {(int(number), str(name)) for number, name in data}


def _plain_asked(wide: Asked) -> Any:
    offers = {name: sorted(questions) for name, questions in wide.offers.items() if questions}
    return [sorted(wide.asked), offers, sorted(wide.touches), wide.holds, wide.accelerated]


def _asked(data: Any) -> Asked:
    asked, offers, touches, holds, accelerated = data
    return Asked(
        {(kind, what) for kind, what in asked},
        {name: {(kind, what) for kind, what in questions} for name, questions in offers.items()},
        _places(touches),
        {int(number): str(done) for number, done in holds.items()},
        bool(accelerated),
    )

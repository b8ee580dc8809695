"""What is known of programs between runs: one state of each, the last, in two notes of the cache.

The first holds what was found, and is all that a run needs where nothing changed. The second holds what the files told
one another, of which an edit needs little (`torchlint.engine.relint`). Both name the contents that they hold for; what
does not fit together is not used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchlint.engine.cache import Cache, decoded, encoded, environment
from torchlint.engine.lint import FileResult

if TYPE_CHECKING:
    from torchlint.engine.job import Group, Job
    from torchlint.engine.relint import Known

__all__ = ["Programs"]

_BROKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


class Programs:
    """The programs that a cache knows."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._read: dict[str, tuple[list[str], list[FileResult | None]]] = {}  # what was found, by the program's name

    def results(self, jobs: Sequence[Job], group: Group) -> list[FileResult] | None:
        """What was found in a program, where all of its files are as they were."""
        digests, results = self._found(jobs, self._name(jobs, group))
        if digests != list(group.digests):
            return None
        known = [result for result in results if result is not None]
        return known if len(known) == len(jobs) else None

    def known(self, jobs: Sequence[Job], group: Group) -> Known | None:
        """What is known of a program, whatever has changed since."""
        from torchlint.engine.ledger import Ledger
        from torchlint.engine.relint import Known

        name = self._name(jobs, group)
        digests, results = self._found(jobs, name)
        note = self._cache.note("told:" + name) if digests else None
        if note is None:
            return None
        try:
            about, words, text = note.split("\n", 2)
            if about != _digest(digests):
                return None
            return Known(digests, results, Ledger.from_text(text), json.loads(words))
        except _BROKEN:
            return None

    def keep(self, jobs: Sequence[Job], group: Group, known: Known) -> None:
        """Keep what is known of a program. A result with errors or notes is not: they are shown until they are gone."""
        name = self._name(jobs, group)
        results = [
            None if result is None or result.errors or result.notes else encoded(result) for result in known.results
        ]
        told = "\n".join([_digest(known.digests), json.dumps(known.words), known.ledger.text()])
        self._read.pop(name, None)
        self._cache.put_note("told:" + name, told)
        self._cache.put_note("found:" + name, json.dumps([list(known.digests), results], separators=(",", ":")))

    def _found(self, jobs: Sequence[Job], name: str) -> tuple[list[str], list[FileResult | None]]:
        if name not in self._read:
            self._read[name] = self._noted(jobs, name)
        return self._read[name]

    def _noted(self, jobs: Sequence[Job], name: str) -> tuple[list[str], list[FileResult | None]]:
        note = self._cache.note("found:" + name)
        try:
            digests, results = json.loads(note or "[[],[]]")
            if not len(digests) == len(results) == len(jobs):
                return [], []
            pairs = zip(results, jobs, strict=True)
            return digests, [None if data is None else decoded(data, job.name) for data, job in pairs]
        except _BROKEN:
            return [], []

    @staticmethod
    def _name(jobs: Sequence[Job], group: Group) -> str:
        """What a program goes by: where its files lie, what they are called, and what they are linted with."""
        digest = hashlib.sha256(group.layout.encode())
        environments: dict[tuple[int, frozenset[str]], bytes] = {}
        for job in jobs:
            codes = job.settings.rules_for(job.path)
            key = id(job.settings), codes
            if key not in environments:
                environments[key] = hashlib.sha256(environment(job.settings, codes)).digest()
            digest.update(environments[key])
            digest.update(job.name.encode("utf-8", "surrogateescape") + b"\0")
        return digest.hexdigest()


def _digest(digests: Sequence[str]) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest()

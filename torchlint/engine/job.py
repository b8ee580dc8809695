"""One file to lint, and what does it: in the main process or in a worker."""

from __future__ import annotations

import contextlib
import functools
import gc
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from torchlint.engine.cache import Cache
from torchlint.engine.lint import FileResult, is_of_interest, unreadable
from torchlint.engine.notebooks import Document, lint_document, lint_documents, read_document
from torchlint.engine.programs import Programs
from torchlint.engine.settings import Settings
from torchlint.source.files import read_source
from torchlint.source.modules import Modules, circles
from torchlint.source.text import SourceFile, UnreadableError

if TYPE_CHECKING:
    from torchlint.engine.relint import Known

__all__ = ["Group", "Job", "Linter"]

T = TypeVar("T")

_COLLECTED_AFTER = 2_000_000  # bytes of source that were read, after which what is left of their trees is collected


@dataclass(frozen=True)
class Job:
    """One file to lint."""

    path: Path
    name: str  # what findings call it
    settings: Settings
    data: bytes | None = None  # its content, where that is not to be read from the path


@dataclass(frozen=True)
class Group:
    """Files that are linted together, by their numbers among the jobs; mostly one.

    Where there are several, `modules` knows them by their position here, as does what follows. What is found in one may
    depend on each of the others.
    """

    numbers: tuple[int, ...]
    modules: Modules | None = None
    layout: str = ""  # stands for where they lie from one another
    digests: tuple[str, ...] = ()  # stand for the content of each
    imports: tuple[tuple[int, int], ...] = ()  # pairs of a file and one that it may import

    @functools.cached_property
    def circles(self) -> list[list[int]]:
        """The files in the order in which their names are read: what a file imports goes before it.

        Those that import one another in a circle are together. Where they begin decides what each finds of the others;
        so their order is that of their numbers, whatever is read beside them.
        """
        return circles(len(self.numbers), self.imports)

    @property
    def order(self) -> list[int]:
        """The order in which the names of the files are read."""
        return [number for circle in self.circles for number in circle]

    @property
    def digest(self) -> tuple[str, ...]:
        """What stands for all of it."""
        return (self.layout, *self.digests)


class Linter:
    """Lints files with the help of their caches."""

    def __init__(self) -> None:
        self._caches: dict[Path | None, Cache] = {}
        self._uncollected = 0  # bytes of source linted since garbage was last collected
        self._looked_at: set[tuple[str, ...]] = set()  # groups of which no part tells the results

    def look(self, job: Job) -> FileResult | int:
        """The result of a file whose result is known without a parse, else its size in bytes."""
        return self._result(job, parse=False)

    def lint(self, job: Job) -> FileResult:
        """The result of a file. Never raises for what the file holds."""
        result = self._result(job, parse=True)
        assert isinstance(result, FileResult)
        return result

    def look_together(
        self, jobs: Sequence[Job], group: Group, most: float = float("inf"), *, keep: bool = True
    ) -> list[FileResult] | int:
        """The results of a group that are known, or can be told from a small part of it; else its size in bytes.

        The part has at most `most` bytes. What is found is kept, where it is not told otherwise.
        """
        if group.modules is None:
            known = [self.look(job) for job in jobs]
            results = [result for result in known if isinstance(result, FileResult)]
            return results if len(results) == len(jobs) else sum(size for size in known if isinstance(size, int))
        programs = Programs(self._cache(jobs[0].settings))
        found = programs.results(jobs, group)
        if found is None and group.digest not in self._looked_at:
            self._looked_at.add(group.digest)
            before = programs.known(jobs, group)
            with self._undisturbed(0):
                if before is not None:
                    found = _linted_again(programs if keep else None, jobs, group, before, most)
        if found is not None:
            return found
        return sum(job.path.stat().st_size if job.data is None else len(job.data) for job in jobs)

    def lint_together(self, jobs: Sequence[Job], group: Group) -> list[FileResult]:
        """The results of a group."""
        if group.modules is None:
            return [self.lint(job) for job in jobs]
        if not isinstance(known := self.look_together(jobs, group), int):
            return known
        cache = self._cache(jobs[0].settings)
        documents = _Documents(jobs)
        readable = {number: documents[number] for number in group.order if number in documents}
        with self._undisturbed(sum(len(document.text) for document, _, _ in readable.values())):
            program = lint_documents(readable, group.modules, tell=cache.folder is not None)
        program.results.update(documents.refused)
        if cache.folder is not None:
            from torchlint.engine.relint import Known

            if (after := Known.of(group, readable, program)) is not None:
                Programs(cache).keep(jobs, group, after)
        return [program.results[number] for number in range(len(jobs))]

    def close(self) -> None:
        """Hold the caches in bounds."""
        for cache in self._caches.values():
            cache.close()

    def _result(self, job: Job, *, parse: bool) -> FileResult | int:
        settings = job.settings
        source = self.read(job, read_document)
        if isinstance(source, FileResult):
            return source
        data = source.data
        if isinstance(source, SourceFile) and not is_of_interest(source.text):
            return FileResult()
        cache = self._cache(settings)
        key = cache.key(data, job.name, settings, settings.rules_for(job.path))
        if (known := cache.get(key, job.name)) is not None:
            return known
        if not parse:
            return len(source.text)
        with self._undisturbed(len(source.text)):
            result = lint_document(source, settings, job.path)
        cache.put(key, result)
        return result

    @staticmethod
    def read(job: Job, reader: Callable[[bytes, str], T]) -> T | FileResult:
        """A file as `reader` reads it, or what is reported of a file that cannot be read."""
        try:
            return reader(read_source(job.path) if job.data is None else job.data, job.name)
        except OSError as error:
            reason = UnreadableError(f"cannot be read: {error.strerror or error}")
        except UnreadableError as error:
            reason = error
        return unreadable(job.name, reason, job.settings, job.path)

    @contextlib.contextmanager
    def _undisturbed(self, size: int) -> Iterator[None]:
        """Without looking for garbage while a tree grows, of which none of it is; an eighth of the time is that."""
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_enabled:
                gc.enable()
        self._uncollected += size
        if self._uncollected > _COLLECTED_AFTER:
            self._uncollected = 0
            gc.collect()

    def _cache(self, settings: Settings) -> Cache:
        if settings.cache_dir not in self._caches:
            self._caches[settings.cache_dir] = Cache(settings.cache_dir)
        return self._caches[settings.cache_dir]


def _linted_again(
    programs: Programs | None, jobs: Sequence[Job], group: Group, before: Known, most: float
) -> list[FileResult] | None:
    """The results of a group of which this was known, where a part of it tells them. They are kept in `programs`."""
    from torchlint.engine.relint import lint_again

    try:
        after = lint_again(before, _Documents(jobs), group, most)
    except Exception as error:  # a fault in torchlint: what fails in part is read as a whole
        warnings.warn(f"after an edit all is read: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=1)
        return None
    if after is not None and programs is not None:
        programs.keep(jobs, group, after)
    return None if after is None else [result for result in after.results if result is not None]


class _Documents(Mapping[int, tuple[Document, Settings, Path]]):
    """The documents of jobs, read when they are asked for. Those that cannot be read are not among them."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._read: dict[int, Document] = {}
        self.refused: dict[int, FileResult] = {}

    def __getitem__(self, number: int) -> tuple[Document, Settings, Path]:
        job = self._jobs[number]
        if number not in self._read:
            if number not in self.refused:
                document = Linter.read(job, read_document)
                if isinstance(document, FileResult):
                    self.refused[number] = document
                else:
                    self._read[number] = document
            if number in self.refused:
                raise KeyError(number)
        return self._read[number], job.settings, job.path

    def __iter__(self) -> Iterator[int]:
        return (number for number in range(len(self._jobs)) if number in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

"""One file to lint, and what does it: in the main process or in a worker."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from torchlint.engine.cache import Cache
from torchlint.engine.lint import FileResult, is_of_interest, unreadable
from torchlint.engine.notebooks import Document, lint_document, lint_documents, read_document
from torchlint.engine.settings import Settings
from torchlint.source.modules import Modules
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["Group", "Job", "Linter"]

T = TypeVar("T")

_COLLECTED_AFTER = 400_000  # bytes of source; their trees take about 40 MB


@dataclass(frozen=True)
class Job:
    """One file to lint."""

    path: Path
    name: str  # what findings call it
    settings: Settings
    data: bytes | None = None  # its content, where that is not to be read from the path


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are linted together, by their numbers among the jobs; mostly one.

    Where there are several, `modules` knows them by their position here, and `digest` stands for the content of all:
    what is found in one may depend on each of the others.
    """

    numbers: tuple[int, ...]
    modules: Modules | None = None
    digest: bytes = b""


class Linter:
    """Lints files with the help of their caches."""

    def __init__(self) -> None:
        self._caches: dict[Path | None, Cache] = {}
        self._uncollected = 0  # bytes of source linted since garbage was last collected

    def look(self, job: Job) -> FileResult | int:
        """The result of a file whose result is known without a parse, else its size in bytes."""
        return self._result(job, parse=False)

    def lint(self, job: Job) -> FileResult:
        """The result of a file. Never raises for what the file holds."""
        result = self._result(job, parse=True)
        assert isinstance(result, FileResult)
        return result

    def look_together(self, jobs: Sequence[Job], group: Group) -> list[FileResult] | int:
        """The results of a group where all are known without a parse, else its size in bytes."""
        if len(jobs) == 1:
            known = self.look(jobs[0])
            return known if isinstance(known, int) else [known]
        results = [self._caches_of(job).get(self._key(job, group), job.name) for job in jobs]
        if all(result is not None for result in results):
            return [result for result in results if result is not None]
        return sum(job.path.stat().st_size if job.data is None else len(job.data) for job in jobs)

    def lint_together(self, jobs: Sequence[Job], group: Group) -> list[FileResult]:
        """The results of a group."""
        if group.modules is None:
            return [self.lint(job) for job in jobs]
        if not isinstance(known := self.look_together(jobs, group), int):
            return known
        documents: dict[int, tuple[Document, Settings, Path]] = {}
        results: dict[int, FileResult] = {}
        for number, job in enumerate(jobs):
            document = self._read(job, read_document)
            if isinstance(document, FileResult):
                results[number] = document
                self._caches_of(job).put(self._key(job, group), document)
            else:
                documents[number] = document, job.settings, job.path
        with self._undisturbed(sum(len(document.text) for document, _, _ in documents.values())):
            linked = lint_documents(documents, group.modules)
        for number, result in linked.items():
            results[number] = result
            self._caches_of(jobs[number]).put(self._key(jobs[number], group), result)
        return [results[number] for number in range(len(jobs))]

    def _key(self, job: Job, group: Group) -> str:
        codes = job.settings.rules_for(job.path)
        return self._caches_of(job).key(group.digest, job.name, job.settings, codes)

    def _caches_of(self, job: Job) -> Cache:
        return self._cache(job.settings)

    def close(self) -> None:
        """Hold the caches in bounds."""
        for cache in self._caches.values():
            cache.close()

    def _result(self, job: Job, *, parse: bool) -> FileResult | int:
        settings = job.settings
        source = self._read(job, read_document)
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

    def _read(self, job: Job, reader: Callable[[bytes, str], T]) -> T | FileResult:
        """A file as `reader` reads it, or what is reported of a file that cannot be read."""
        try:
            return reader(job.path.read_bytes() if job.data is None else job.data, job.name)
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

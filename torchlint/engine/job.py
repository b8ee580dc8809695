"""One file to lint, and what does it: in the main process or in a worker."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchlint.engine.cache import Cache
from torchlint.engine.lint import FileResult, is_of_interest, lint_source, unreadable
from torchlint.engine.settings import Settings
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["Job", "Linter"]

_COLLECTED_AFTER = 400_000  # bytes of source; their trees take about 40 MB


@dataclass(frozen=True)
class Job:
    """One file to lint."""

    path: Path
    name: str  # what findings call it
    settings: Settings
    data: bytes | None = None  # its content, where that is not to be read from the path


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

    def close(self) -> None:
        """Hold the caches in bounds."""
        for cache in self._caches.values():
            cache.close()

    def _result(self, job: Job, *, parse: bool) -> FileResult | int:
        settings = job.settings
        if job.path.suffix == ".ipynb":  # JSON that often happens to be Python; its cells are what would be linted
            return FileResult()
        try:
            data = job.path.read_bytes() if job.data is None else job.data
            source = SourceFile.from_bytes(data, job.name)
        except OSError as error:
            reason = UnreadableError(f"cannot be read: {error.strerror or error}")
            return unreadable(job.name, reason, settings, job.path)
        except UnreadableError as error:
            return unreadable(job.name, error, settings, job.path)
        if not is_of_interest(source.text):
            return FileResult()
        cache = self._cache(settings)
        key = cache.key(data, job.name, settings, settings.rules_for(job.path))
        if (known := cache.get(key, job.name)) is not None:
            return known
        if not parse:
            return len(data)
        with self._undisturbed(len(data)):
            result = lint_source(source, settings, job.path)
        cache.put(key, result)
        return result

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

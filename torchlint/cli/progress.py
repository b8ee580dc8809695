"""A progress bar for runs that take their time."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["ProgressBar"]

_PATIENCE = 1.0  # seconds without a bar


class ProgressBar:
    """Called with how many files are done and how many there are; draws on standard error when that is a terminal."""

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled and sys.stderr.isatty()
        self._start = monotonic()
        self._bar: Progress | None = None

    def __call__(self, done: int, total: int) -> None:
        if not self._enabled or monotonic() - self._start < _PATIENCE:
            return
        if self._bar is None:
            self._bar = self._draw()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    @staticmethod
    def _draw() -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("Linting"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.add_task("", total=None)
        bar.start()
        return bar

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

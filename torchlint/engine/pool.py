"""Worker processes: files in, results out; a worker that dies costs the one file it held.

Each worker has a pipe of its own and works through what it is sent in order, so the file it died of is the first that
it has not answered for. The others it held go to somebody else.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from torchlint.engine.job import Group, Job, Linter
from torchlint.engine.lint import FileResult, unreadable
from torchlint.source.text import UnreadableError

__all__ = ["import_what_lints", "run"]

_AHEAD = 4  # groups that a worker holds, so that it never waits for the next
_PATIENCE = 300.0  # seconds for one file or fifty in a group: the last resort, where no limit on size or shape spoke


def run(jobs: Sequence[Job], groups: Sequence[Group], workers: int) -> Iterator[tuple[int, FileResult]]:
    """The results of the jobs in these groups, by number, in the order in which they are ready."""
    pool = _Pool(jobs, groups)
    try:
        pool.start(workers)
        yield from pool.results()
    finally:
        pool.stop()


class _Worker:
    """A process, and the groups of jobs that it holds, in order."""

    def __init__(self, context: Any, jobs: Sequence[Job]) -> None:
        self.pipe, other = context.Pipe()
        self.held: deque[Group] = deque()
        self.since = time.monotonic()  # when it began with the first of them
        self.process: BaseProcess = context.Process(target=_work, args=(other, self.pipe), daemon=True)
        try:
            self.process.start()
        except BaseException:
            self.pipe.close()
            raise
        finally:
            other.close()


class _Pool:
    def __init__(self, jobs: Sequence[Job], groups: Sequence[Group]) -> None:
        self.jobs = jobs
        # The largest first: it would hold up the end.
        self.waiting = deque(sorted(groups, key=lambda group: -len(group.numbers)))
        self.workers: list[_Worker] = []

    def start(self, count: int) -> None:
        """Start workers: by fork where nothing else runs in this process, since that is fast and shares memory.

        They are fewer where the system gives no more of what they need: processes, open files, memory.
        """
        import_what_lints()
        alone = threading.active_count() == 1
        method = "fork" if sys.platform == "linux" and alone else "spawn"
        context = multiprocessing.get_context(method)
        with contextlib.suppress(OSError, MemoryError):
            for _ in range(min(count, len(self.waiting))):
                self.workers.append(_Worker(context, self.jobs))

    def results(self) -> Iterator[tuple[int, FileResult]]:
        while True:
            for worker in self.workers:
                self._feed(worker)
            busy = [worker for worker in self.workers if worker.held]
            if not busy:
                yield from self._without_workers()
                return
            ready = wait([worker.pipe for worker in busy], timeout=_PATIENCE / 10)
            for worker in busy:
                if worker.pipe in ready:
                    yield from self._receive(worker)
                elif time.monotonic() - worker.since > (
                    patience := _PATIENCE * (1 + len(worker.held[0].numbers) // 50)
                ):
                    worker.process.kill()
                    yield from self._bury(worker, f"gave no result within {patience:.0f} s")

    def _without_workers(self) -> Iterator[tuple[int, FileResult]]:
        """What is left where no worker could be started."""
        linter = Linter()
        while self.waiting:
            numbers = (group := self.waiting.popleft()).numbers
            yield from zip(numbers, linter.lint_together([self.jobs[number] for number in numbers], group), strict=True)
        linter.close()

    def _feed(self, worker: _Worker) -> None:
        while self.waiting and len(worker.held) < _AHEAD:
            group = self.waiting.popleft()
            if not worker.held:
                worker.since = time.monotonic()
            worker.held.append(group)
            try:
                worker.pipe.send(([self.jobs[number] for number in group.numbers], group))
            except OSError:
                return  # it died; that shows when its answer is read

    def _receive(self, worker: _Worker) -> Iterator[tuple[int, FileResult]]:
        try:
            outcomes: list[FileResult] = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            yield from self._bury(worker, f"the parser died of it ({_cause(worker.process.exitcode)})")
            return
        worker.since = time.monotonic()
        yield from zip(worker.held.popleft().numbers, outcomes, strict=True)

    def _bury(self, worker: _Worker, reason: str) -> Iterator[tuple[int, FileResult]]:
        """Put the file that a dead worker died of down as unreadable, and a new worker in its place.

        Of a group that is not known: its files are tried again, each by itself.
        """
        group = worker.held.popleft()
        self.waiting.extendleft(reversed(worker.held))
        if len(group.numbers) > 1:
            self.waiting.extend(Group((number,)) for number in group.numbers)
        self.workers.remove(worker)
        worker.pipe.close()
        if self.waiting:
            self.start(1)
        if len(group.numbers) == 1:
            job = self.jobs[group.numbers[0]]
            yield group.numbers[0], unreadable(job.name, UnreadableError(reason), job.settings, job.path)

    def stop(self) -> None:
        """End the workers, whatever they are doing."""
        for worker in self.workers:
            worker.pipe.close()
            if worker.held:
                worker.process.kill()
        for worker in self.workers:
            worker.process.join()


def _cause(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit status {exit_code}"


def import_what_lints() -> None:
    """Import what every worker needs, once and before they are forked."""
    from torchlint.engine import edits, screening  # noqa: F401
    from torchlint.rules import registry
    from torchlint.semantics import build  # noqa: F401
    from torchlint.source import parse  # noqa: F401

    registry.all_rules()


def _work(pipe: Connection, other_end: Connection) -> None:
    """What a worker does: lint what comes through the pipe until that is closed."""
    other_end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which then ends this one
    gc.freeze()
    linter = Linter()
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(linter.lint_together(*pipe.recv()))
    linter.close()

"""On which processors the threads of a worker run while they are timed; the standard library alone.

The processors of a virtual machine are hyperthreads, whose other halves work for other guests. On a machine with an
H200 a fixed loop took 12 µs on each of 16 processors, and 22 µs at five looks of six; each changed every few
milliseconds, with no regard to the next (`benchmarks/verify/h200_processors.json`). So the threads that are timed move,
before each sample, to processors that nobody else slows down just then.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Sequence

THREADS = "/proc/self/task"
CALM = 1.2  # times its fastest that a fixed loop may take; else others had the processor


def threads() -> tuple[list[int], list[int]]:
    """The threads of this process that run backward, by the name that torch gives them, and those that share operations
    of the host or serve the device: all but the caller. Empty where the system does not say."""
    backward: list[int] = []
    others: list[int] = []
    for thread in _tasks():
        with contextlib.suppress(OSError), open(f"{THREADS}/{thread}/comm", encoding="utf-8") as file:
            (backward if file.read().startswith("pt_autograd") else others).append(int(thread))
    return backward, [thread for thread in others if thread != threading.get_native_id()]


def count_threads() -> int:
    """The threads of this process; 0 where the system does not say."""
    return len(_tasks())


def _tasks() -> list[str]:
    return os.listdir(THREADS) if os.path.isdir(THREADS) else []


class Cores:
    """The processors that a worker may use.

    Backward runs in a thread of its own, for which its caller waits. To wake a thread on another processor takes long,
    and on a virtual machine as long as the host likes, since one without work is given away; the system puts both on
    one processor in this process and not in that. Figures of small training steps differed by half from one run to the
    next; of one run, the middle half of samples spread over 24 % where those of code without backward did over 6 %.

    Args:
        usable: processors; with none, threads stay where the system puts them.
        backward: the threads that run backward.
        others: threads that stay off the caller's processor. For one that waits in a loop there, an operation that all
            share took milliseconds instead of microseconds.
    """

    def __init__(self, usable: Sequence[int] = (), backward: Sequence[int] = (), others: Sequence[int] = ()) -> None:
        self._order = list(usable)  # those that were calm last come first
        self._backward = list(backward)
        self._others = list(others)
        self._kept_off: int | None = None
        self._fastest = math.inf
        self._clock = time.perf_counter

    def settle(self, alone: bool = False) -> float:
        """Move the calling thread, and those that run backward, to calm processors, or the calmest.

        Args:
            alone: the caller starts no thread and no process. Then it and backward, of which one waits for the other,
                are bound to one processor. Else the caller is moved and not bound: it and what it starts may use all
                processors but one, where backward runs.

        Returns:
            `pulse()` where the caller is now.
        """
        if not self._order:
            return self.pulse()
        everywhere, taken = math.isinf(self._fastest), dict[int, float]()
        for core in self._order:
            os.sched_setaffinity(0, {core})
            taken[core] = self.pulse()
            self._fastest = min(self._fastest, taken[core])
            if not everywhere and sum(self._is_calm(pulse) for pulse in taken.values()) == (1 if alone else 2):
                break
        # A processor that is calm still is as good as one that is a little faster, and knows what the caller needs.
        found = sorted(taken, key=lambda core: 0.0 if self._is_calm(taken[core]) else taken[core])
        first, second = (*found, *self._order[len(taken) :])[:2]
        self._order = [*found[:2], *self._order[len(taken) :], *found[2:]]
        self._bind(self._backward, {first if alone else second})
        os.sched_setaffinity(0, {first})
        if not alone:
            os.sched_setaffinity(0, set(self._order) - {second})
        if self._kept_off != first:
            self._kept_off = first
            self._bind(self._others, set(self._order) - {first})
        return taken[first]

    def release(self) -> None:
        """Let all threads run where the system puts them."""
        self._kept_off = None
        self._bind((0, *self._backward, *self._others) if self._order else (), set(self._order))

    def pulse(self) -> float:
        """Seconds of a fixed loop, which tells how fast the processor is just now: the least of three."""
        taken = []
        for _ in range(3):
            started = self._clock()
            for _ in range(1500):
                pass
            taken.append(self._clock() - started)
        return min(taken)

    def _bind(self, threads: Sequence[int], cores: set[int]) -> None:
        for thread in threads:
            with contextlib.suppress(OSError):  # it may have ended
                os.sched_setaffinity(thread, cores)

    def _is_calm(self, pulse: float) -> bool:
        return pulse <= CALM * self._fastest

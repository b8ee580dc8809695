"""A stack that is deep enough, whatever the machine's limits are.

Trees are walked by recursion, in LibCST's native code and in Python. How deep that may go must depend on the file
alone: not on `ulimit -s`, nor on whether a worker, a thread of the language server or an interactive session asks.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["call_deep"]

T = TypeVar("T")

# Address space, not memory: pages are taken when they are used. The smaller one is for machines that limit it.
_STACK_BYTES = (512 << 20, 64 << 20)
_RECURSION_LIMIT = 200_000

_lock = threading.Lock()
_deep = threading.local()


def call_deep(function: Callable[[], T]) -> T:
    """Call `function` in a thread with a deep stack, and wait for it; in such a thread, call it at once.

    Ctrl-C interrupts the waiting; the thread then ends on its own, and does not keep the process alive.
    """
    if getattr(_deep, "inside", False):
        return function()
    outcome: Future[T] = Future()

    def run() -> None:
        _deep.inside = True
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    _start(run)
    return outcome.result()


def _start(run: Callable[[], None]) -> None:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
    with _lock:  # the stack's size is a setting of the process
        before = threading.stack_size()
        for size in _STACK_BYTES:
            try:
                threading.stack_size(size)
                threading.Thread(target=run, name="torchlint", daemon=True).start()
                return
            except (RuntimeError, ValueError):
                if size == _STACK_BYTES[-1]:
                    raise
            finally:
                threading.stack_size(before)

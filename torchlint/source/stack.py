"""A stack that is deep enough, whatever the machine's limits are.

Trees are walked by recursion, in LibCST's native code and in Python. How deep that may go must depend on the file
alone: not on `ulimit -s`, nor on whether a worker, a thread of the language server or an interactive session asks.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["call_deep"]

T = TypeVar("T")

# Address space, not memory: pages are taken when they are used. The smaller one is for machines that limit it.
_STACK_BYTES = (512 << 20, 64 << 20)
_RECURSION_LIMIT = 200_000

_lock = threading.Lock()
_deep = threading.local()
_users = 0  # deep calls that run now
_limit = 0  # the recursion limit without them


def call_deep(function: Callable[[], T]) -> T:
    """Call `function` in a thread with a deep stack, and wait for it; in such a thread, call it at once.

    Ctrl-C interrupts the waiting; the thread then ends on its own, and does not keep the process alive. Where the
    system gives no thread, `function` is called on the stack that there is.
    """
    if getattr(_deep, "inside", False):
        return function()
    outcome: Future[T] = Future()

    def run() -> None:
        _deep.inside = True
        try:
            with _deep_recursion():
                result = function()
        except BaseException as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)

    if not _start(run):
        return function()  # what is deep is refused then
    return outcome.result()


@contextlib.contextmanager
def _deep_recursion() -> Iterator[None]:
    """Python's own limit raised, while any thread needs it: elsewhere it is what stands before the end of the stack.

    Without it a JSON file of nothing but brackets, such as a damaged baseline, would end the process.
    """
    global _users, _limit
    with _lock:
        if not _users:
            _limit = sys.getrecursionlimit()
        _users += 1
        sys.setrecursionlimit(max(_limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                sys.setrecursionlimit(_limit)


def _start(run: Callable[[], None]) -> bool:
    """Run `run` in a thread with a deep stack; false where there is none to be had."""
    with _lock:  # the stack's size is a setting of the process
        before = threading.stack_size()
        for size in _STACK_BYTES:
            try:
                threading.stack_size(size)
                threading.Thread(target=run, name="torchlint", daemon=True).start()
                return True
            except (RuntimeError, ValueError, MemoryError):
                continue
            finally:
                threading.stack_size(before)
    return False

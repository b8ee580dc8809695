"""The deep stack: deep where it is asked for, and nowhere else."""

from __future__ import annotations

import sys
import threading

import pytest

from torchlint.source.stack import call_deep


def depth(levels: int) -> int:
    return 0 if levels == 0 else 1 + depth(levels - 1)


def test_recursion_goes_deep() -> None:
    assert call_deep(lambda: depth(50_000)) == 50_000
    assert call_deep(lambda: call_deep(lambda: depth(50_000))) == 50_000


def test_without_threads_the_stack_at_hand_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert call_deep(lambda: call_deep(lambda: depth(10))) == 10
    with pytest.raises(RecursionError):
        call_deep(lambda: depth(50_000))


def test_the_limit_is_what_it_was_afterwards() -> None:
    """What follows in the process must still end in RecursionError, not in the end of the stack."""
    before = sys.getrecursionlimit()
    call_deep(lambda: depth(10))
    assert sys.getrecursionlimit() == before
    with pytest.raises(ZeroDivisionError):
        call_deep(lambda: 1 / 0)
    assert sys.getrecursionlimit() == before


def test_the_limit_stays_up_while_another_call_needs_it() -> None:
    before = sys.getrecursionlimit()
    started, finish = threading.Event(), threading.Event()

    def wait() -> int:
        started.set()
        finish.wait(60)
        return depth(50_000)

    results: list[int] = []
    waiting = threading.Thread(target=lambda: results.append(call_deep(wait)))
    waiting.start()
    started.wait(60)
    call_deep(lambda: depth(10))
    assert sys.getrecursionlimit() > before
    finish.set()
    waiting.join(60)
    assert results == [50_000]
    assert sys.getrecursionlimit() == before

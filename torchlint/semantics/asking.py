"""Questions about functions and loops whose answers follow calls, which may run in circles."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

__all__ = ["question"]


class _Subject(Protocol):
    """What can be asked about: it keeps the answers."""

    @property
    def answers(self) -> dict[object, Any]: ...


_S = TypeVar("_S", bound=_Subject)
_T = TypeVar("_T")


class _Assumed:
    """An answer that stands for an open one, or was found with its help: `depth` is that of the one it hangs on."""

    __slots__ = ("answer", "depth")

    def __init__(self, answer: object, depth: int) -> None:
        self.answer = answer
        self.depth = depth


class _State(threading.local):
    def __init__(self) -> None:
        self.open: list[int] = []  # for each open question, the outermost one that its answer hangs on so far
        self.assumed: list[tuple[dict[object, Any], object]] = []  # answers found with the help of an open one


_state = _State()
_UNASKED = object()


def question(default: Any) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """A question that is answered once for each subject and details, in time that does not grow with the ways to ask.

    Within a circle of calls `default` stands for what is still open: the least answer, which another only adds to. An
    answer that came out as the default with such help is kept only when the question it hung on has that answer too;
    so answers do not depend on what was asked first.
    """

    def decorate(ask: Callable[..., _T]) -> Callable[..., _T]:
        @functools.wraps(ask)
        def asked(subject: Any, *details: Hashable) -> _T:
            answers: dict[object, Any] = subject.answers
            key = (ask, *details)
            known = answers.get(key, _UNASKED)
            if isinstance(known, _Assumed):
                if _state.open:
                    _state.open[-1] = min(_state.open[-1], known.depth)
                known = known.answer
            answer: _T = _answer(ask, subject, details, default) if known is _UNASKED else known
            return answer

        return asked

    return decorate


def _answer(ask: Callable[..., _T], subject: _Subject, details: tuple[Hashable, ...], default: object) -> _T:
    answers, key = subject.answers, (ask, *details)
    depth, first = len(_state.open), len(_state.assumed)
    _state.open.append(depth)
    answers[key] = _Assumed(default, depth)
    try:
        result = ask(subject, *details)
    except BaseException:
        del answers[key]
        _forget(first)
        raise
    finally:
        lowest = _state.open.pop()
    if result is not default:
        answers[key] = result
        _forget(first)  # they were found with the default in its place
    elif lowest < depth:
        answers[key] = _Assumed(result, lowest)
        _state.assumed.append((answers, key))
        _state.open[-1] = min(_state.open[-1], lowest)
    else:
        answers[key] = result
        for others, other in _state.assumed[first:]:
            others[other] = others[other].answer
        del _state.assumed[first:]
    return result


def _forget(first: int) -> None:
    for answers, key in _state.assumed[first:]:
        del answers[key]
    del _state.assumed[first:]

"""Looking for inputs that the code accepts, where its text does not say what they are.

What a plan leaves open are choices (`standins.py`). A trial of them runs the code at small sizes; how far it came, the
number of its lines that were reached, tells whether a change was for the better. So the ranks, dtypes and results of
several arguments are found one after the other, instead of in all combinations. Standard library alone, Python 3.9 or
later: this travels with the worker.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Outcome", "search"]

SWEPT = ("*pattern", "*labels", "*width")  # choices that all arguments share, tried in combination first
MAX_STEMS = 12  # kinds of input that one stand-in may meet


@dataclass
class Outcome:
    """How a trial went.

    Attributes:
        error: what stopped it, None where the code accepted it.
        reached: how many lines of the code were run.
        named: what stands in the line that raised, to try those choices first.
        asked: the choices that were met, with what they are between.
    """

    error: BaseException | None
    reached: int = 0
    named: frozenset[str] = frozenset()
    asked: dict[str, list[Any]] = field(default_factory=dict)


def search(
    attempt: Callable[[dict[str, Any]], Outcome], start: dict[str, Any], time_left: Callable[[], bool]
) -> tuple[dict[str, Any], Outcome]:
    """A trial that `attempt` accepts, else the one that came furthest, and its outcome.

    Args:
        attempt: runs the code with a trial.
        start: values that every trial has.
        time_left: whether to go on.
    """
    best = dict(start)
    outcome = attempt(best)
    if outcome.error is None:
        return best, outcome
    for candidate in _combined(outcome.asked, best):
        if not time_left():
            return best, outcome
        result = attempt(candidate)
        if result.error is None:
            return candidate, result
        if result.reached > outcome.reached:
            best, outcome = candidate, result
    while time_left():
        step = _climb(attempt, best, outcome, time_left)
        if step is None:
            break
        best, outcome = step
        if outcome.error is None:
            return best, outcome
    draw = random.Random(0)
    first = outcome
    while time_left():
        candidate = dict(best)
        keys = _ordered(first)
        if not keys:
            break
        near = keys[: max(4, len(keys) // 2)]
        for key in draw.sample(near, min(len(near), draw.randint(2, 4))):
            candidate[key] = draw.choice(first.asked[key])
        result = attempt(candidate)
        if result.error is None:
            return candidate, result
        if result.reached > outcome.reached:
            best, outcome = candidate, result
            step = _climb(attempt, best, outcome, time_left)
            if step is not None:
                best, outcome = step
                if outcome.error is None:
                    return best, outcome
            first = outcome
    return best, outcome


def _combined(asked: dict[str, list[Any]], base: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The shared choices in all combinations, apart from the first, which was tried."""
    trials = [dict(base)]
    for key in SWEPT:
        if key in asked:
            trials = [{**trial, key: option} for option in asked[key] for trial in trials]
    yield from trials[1:]


def _ordered(outcome: Outcome) -> list[str]:
    """The choices to change, those of what stands in the failing line first."""
    keys = [key for key in outcome.asked if len(outcome.asked[key]) > 1]
    return sorted(keys, key=lambda key: not outcome.named.intersection(key.replace("*", "").split(".")))


def _climb(
    attempt: Callable[[dict[str, Any]], Outcome], base: dict[str, Any], before: Outcome, time_left: Callable[[], bool]
) -> tuple[dict[str, Any], Outcome] | None:
    """The first change of one choice that comes further."""
    for key in _ordered(before):
        for option in before.asked[key]:
            if option == base.get(key, before.asked[key][0]):
                continue
            if not time_left():
                return None
            candidate = {**base, key: option}
            result = attempt(candidate)
            if result.error is None or result.reached > before.reached:
                return candidate, result
    return None

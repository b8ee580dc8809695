"""Looking for inputs that the code accepts, where its text does not say what they are.

What a plan leaves open are choices (`standins.py`). A trial of them runs the code at small sizes; how far it came, the
number of its lines that were reached, tells whether a change was for the better. So the ranks, dtypes and results of
several arguments are found one after the other, instead of in all combinations. Standard library alone, Python 3.9 or
later: this travels with the worker.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

__all__ = ["Outcome", "search"]

SWEPT = ("*pattern", "*labels", "*width")  # choices that all arguments share, tried in combination first
SHARED_WIDTH = "*width"
MAX_SWEPT = 80  # of those combinations; then there is time left to change one thing
LOOK_AHEAD = 6  # changes of one of those combinations that comes further than those before it
MAX_STALE = 150  # trials one after the other of which none fails otherwise than those before
MAX_ENDED = 60  # trials after one that ran through without reaching the flagged line
MAX_STEMS = 12  # kinds of input that one stand-in may meet


@dataclass
class Outcome:
    """How a trial went.

    Attributes:
        error: what stopped it, None where the code accepted it.
        reached: how many lines of the code were run.
        named: what stands in the line that raised, to try those choices first.
        asked: the choices that were met, with what they are between.
        ended: whether the code ran to its end, though not to where it should.
    """

    error: BaseException | None
    reached: int = 0
    named: frozenset[str] = frozenset()
    asked: dict[str, list[Any]] = field(default_factory=dict)
    ended: bool = False

    @property
    def signature(self) -> tuple[int, str]:
        """What tells failures apart: how far it came, and what was said, numbers aside."""
        return self.reached, re.sub(r"\d+", "#", f"{type(self.error).__name__} {self.error}"[:200])


def search(
    attempt: Callable[[dict[str, Any]], Outcome], start: dict[str, Any], going: Callable[[], bool]
) -> tuple[dict[str, Any], Outcome]:
    """A trial that `attempt` accepts, else the one that came furthest, and its outcome.

    The shared choices are tried in combination, and of one that comes further than those before it a few changes at
    once; then one choice after the other is changed, in the trial that came furthest first. A trial that comes no
    further but fails otherwise is kept as well: of two things that one line needs, one may be right in it.

    Args:
        attempt: runs the code with a trial.
        start: values that every trial has.
        going: whether there is time to go on.
    """
    order = count()
    open_: list[tuple[int, int, dict[str, Any], Outcome, Iterator[dict[str, Any]]]] = []
    known: set[tuple[int, str]] = set()
    ended = stale = 0

    def hopeful() -> bool:
        return ended < MAX_ENDED and stale < MAX_STALE and going()

    def tried(trial: dict[str, Any]) -> Outcome:
        nonlocal ended, stale
        outcome = attempt(trial)
        ended += outcome.ended
        stale += 1
        if outcome.error is not None and outcome.signature not in known:
            stale = 0
            known.add(outcome.signature)
            heapq.heappush(open_, (-outcome.reached, next(order), trial, outcome, _changed(trial, outcome)))
        return outcome

    first = tried(dict(start))
    if first.error is None:
        return dict(start), first
    furthest = first.reached
    for combined in islice(_combined(first.asked, start), MAX_SWEPT):
        ahead = [combined]
        while ahead and hopeful():
            candidate = ahead.pop(0)
            outcome = tried(candidate)
            if outcome.error is None:
                return candidate, outcome
            if outcome.reached > furthest:
                furthest = outcome.reached
                ahead = list(islice(_changed(candidate, outcome), LOOK_AHEAD))
    best = open_[0]
    while open_ and hopeful():
        at = heapq.heappop(open_)
        best = min(best, at, key=lambda one: one[:2])
        for candidate in at[4]:
            if not hopeful():
                break
            outcome = tried(candidate)
            if outcome.error is None:
                return candidate, outcome
            if outcome.reached > at[3].reached:
                heapq.heappush(open_, at)  # its other changes later, should this one lead nowhere
                break
    best = min([best, *open_], key=lambda one: one[:2])
    return best[2], best[3]


def _combined(asked: dict[str, list[Any]], base: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The shared choices in all combinations, apart from the first, which was tried."""
    trials = [dict(base)]
    for key in SWEPT:
        if key in asked:
            trials = [{**trial, key: option} for option in asked[key] for trial in trials]
    yield from trials[1:]


def _changed(base: dict[str, Any], outcome: Outcome) -> Iterator[dict[str, Any]]:
    """The trial with one choice changed, those of what stands in the failing line first.

    A shared width that came far may be right for one argument alone: there it is that one's, and no longer the others'.
    """
    if SHARED_WIDTH in base:
        others = {key: value for key, value in base.items() if key != SHARED_WIDTH}
        for key in outcome.asked:
            if key.endswith(".width") and key not in base:
                yield {**others, key: base[SHARED_WIDTH]}
    keys = [key for key in outcome.asked if len(outcome.asked[key]) > 1]
    for key in sorted(keys, key=lambda key: not outcome.named.intersection(key.replace("*", "").split("."))):
        now = base.get(key, outcome.asked[key][0])
        yield from ({**base, key: option} for option in outcome.asked[key] if option != now)

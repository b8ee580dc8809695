"""What is made of times: ratios of rounds with their intervals, spreads, slopes.

The standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from torchlint.verify.cores import CALM

NARROW = 0.04  # width of the interval, relative to the ratio, at which measuring may end
CLEAR = (0.97, 1.03)  # an interval must lie on one side of these, or be half as wide
RESAMPLES = 400
CALM_SAMPLES = 3  # that must be left without the others


class Sample(NamedTuple):
    """Seconds of a call, and the slower of the loops that ran before and after it."""

    seconds: float
    pulse: float


Round = tuple[tuple[Sample, Sample], tuple[Sample, Sample]]  # both of the code as written, both of its repair


def compared(round_: Round) -> dict[str, float]:
    """A round's ratio, before over after, and the slowest of the loops beside its samples."""
    before, after = (statistics.mean(sample.seconds for sample in samples) for samples in round_)
    return {"ratio": before / after, "pulse": max(sample.pulse for samples in round_ for sample in samples)}


def calm_seconds(samples: list[Sample]) -> list[float]:
    """The seconds of the samples beside which the loop was as fast as ever or, where these are too few, of all."""
    fastest = min((sample.pulse for sample in samples), default=0.0)
    kept = [sample.seconds for sample in samples if sample.pulse <= CALM * fastest]
    return kept if len(kept) >= CALM_SAMPLES else [sample.seconds for sample in samples]


def interval(processes: Sequence[Sequence[dict[str, float]]]) -> dict[str, float]:
    """The median of the ratios of all rounds, and its 95 % interval, by drawing processes and then rounds of them.

    Each process counts as much as any other, however many rounds it had.

    A processor that others use as well slows both codes of a round, so that their ratio mostly stands, if less surely,
    but not where the host bounds one code and the device the other. So of a process a round weighs the less the slower
    the loop was beside it.

    Args:
        processes: of each process that measured, its rounds, as `compared` gives them.
    """
    groups = [[(one["ratio"], 1 / one["pulse"]) for one in rounds] for rounds in processes]
    draw = random.Random(0)
    medians = sorted(
        _median([draw.choices(rounds, k=len(rounds)) for rounds in draw.choices(groups, k=len(groups))])
        for _ in range(RESAMPLES)
    )
    return {
        "median": _median(groups),
        "low": medians[int(0.025 * RESAMPLES)],
        "high": medians[int(0.975 * RESAMPLES) - 1],
    }


def _median(groups: Sequence[Sequence[tuple[float, float]]]) -> float:
    """The middle one of all numbers with their weights, where those of each group together weigh the same."""
    weighed = []
    for group in groups:
        total = sum(weight for _, weight in group)
        weighed += [(number, weight / total) for number, weight in group]
    weighed.sort()
    half, passed = len(groups) / 2, 0.0
    for index, (number, weight) in enumerate(weighed):
        passed += weight
        if math.isclose(passed, half) and index + 1 < len(weighed):
            return (number + weighed[index + 1][0]) / 2
        if passed > half:
            return number
    return weighed[-1][0]


def is_narrow(ratio: dict[str, float]) -> bool:
    width = (ratio["high"] - ratio["low"]) / ratio["median"]
    clear = all(ratio["high"] < bound or ratio["low"] > bound for bound in CLEAR)
    within = ratio["low"] > CLEAR[0] and ratio["high"] < CLEAR[1]
    return width <= (NARROW if clear or within else NARROW / 2)


def spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    quarter = len(ordered) // 4
    return {"median_us": statistics.median(ordered) * 1e6, "iqr_us": (ordered[-1 - quarter] - ordered[quarter]) * 1e6}


def slope(marks: list[int]) -> float | None:
    """Bytes per step by the median of slopes between all pairs, the first fifth left out; None for under four steps."""
    tail = marks[len(marks) // 5 :] if len(marks) >= 10 else marks[1:]
    tail = thin(tail, 100)
    if len(tail) < 3:
        return None
    stride = max(1, len(marks) // 100) if len(marks) >= 100 else 1
    slopes = [(b - a) / (j - i) for i, a in enumerate(tail) for j, b in enumerate(tail) if j > i]
    return statistics.median(slopes) / stride


def thin(values: list[Any], limit: int) -> list[Any]:
    """At most `limit` of the values, evenly spread."""
    stride = max(1, math.ceil(len(values) / limit))
    return values[::stride]

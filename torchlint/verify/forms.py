"""What plans and results look like, to check those that come from elsewhere before anything is read of them.

A form is a description of plain JSON: a type, `Number`, `Text`, a set of texts, [form] for lists, `Some` for those that
are not empty, a dictionary of keys (those that end in "?" may be missing, others may be there), `Each` for dictionaries
of any keys, `Either` of several forms, `Row` of a fixed number of items, `Interval` for what has a low and a high.
Standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ANSWER", "PLAN", "RESULT", "RESULTS", "misfit", "unknown"]

MOST = 1e300
MAX_SHOWN = 60  # characters of a key in a message


@dataclass(frozen=True)
class Number:
    """A number of a size that arithmetic stands, `least` or more, above 0 where it is `positive`; whole if it must."""

    least: float = -MOST
    positive: bool = False
    whole: bool = False

    def __str__(self) -> str:
        more = " above 0" if self.positive else "" if self.least == -MOST else f", {self.least:g} or more"
        return f"a {'whole ' if self.whole else ''}number{more}"


@dataclass(frozen=True)
class Text:
    """A text of a length that can be shown to a person, or of code's."""

    most: int = 10_000

    def __str__(self) -> str:
        return f"text of at most {self.most} characters"


@dataclass(frozen=True)
class Each:
    """A dictionary whose values all have a form."""

    form: Any


@dataclass(frozen=True)
class Either:
    """Any of several forms; what is said of data with none of them is what the last asks for."""

    forms: tuple[Any, ...]


@dataclass(frozen=True)
class Interval:
    """A dictionary of a form whose `low` is not above its `high`."""

    form: Any


@dataclass(frozen=True)
class Row:
    """A list with an item for each of the forms."""

    forms: tuple[Any, ...]


@dataclass(frozen=True)
class Some:
    """A list of at least one item."""

    form: Any


def misfit(data: Any, form: Any, at: str = "it") -> str | None:
    """Why the data has not the form, naming the place; None where it has."""
    if isinstance(form, Either):
        reasons = [misfit(data, one, at) for one in form.forms]
        return None if None in reasons else reasons[-1]
    if isinstance(form, Interval):
        below = misfit(data, form.form, at)
        return below or (None if data["low"] <= data["high"] else f"{at}.low is above {at}.high")
    if isinstance(form, Number):
        fits = type(data) in (int, float) and form.least <= data <= MOST and (data > 0 or not form.positive)
        fits = fits and (data == int(data) or not form.whole)
        return None if fits else f"{at} must be {form}"
    if isinstance(form, Text):
        return None if type(data) is str and len(data) <= form.most else f"{at} must be {form}"
    if isinstance(form, frozenset):
        return None if type(data) is str and data in form else f"{at} must be one of: {', '.join(sorted(form))}"
    if isinstance(form, Row):
        if type(data) is not list or len(data) != len(form.forms):
            return f"{at} must be a list of {len(form.forms)}"
        parts = ((item, one, f"{at}[{index}]") for index, (item, one) in enumerate(zip(data, form.forms)))  # noqa: B905
    elif isinstance(form, list):
        if type(data) is not list:
            return f"{at} must be a list"
        parts = ((item, form[0], f"{at}[{index}]") for index, item in enumerate(data))
    elif isinstance(form, Some):
        if type(data) is not list or not data:
            return f"{at} must be a list that is not empty"
        return misfit(data, [form.form], at)
    elif isinstance(form, Each):
        if type(data) is not dict:
            return f"{at} must be an object"
        parts = ((value, form.form, f"{at}.{_shown(key)}") for key, value in data.items())
    elif isinstance(form, dict):
        if type(data) is not dict:
            return f"{at} must be an object"
        missing = next((key for key in form if not key.endswith("?") and key not in data), None)
        if missing is not None:
            return f"{at}.{missing} is missing"
        known = {key.rstrip("?"): below for key, below in form.items()}
        parts = ((data[key], below, f"{at}.{key}") for key, below in known.items() if key in data)
    else:
        return None if type(data) is form else f"{at} must be {_NAMES[form]}"
    return next(filter(None, (misfit(*part) for part in parts)), None)


def _shown(key: str) -> str:
    return "".join(c if c.isprintable() else " " for c in key[:MAX_SHOWN])


_NAMES = {int: "a whole number", bool: "true or false", dict: "an object", type(None): "null"}
_NULL = type(None)
_TEXT, _CODE_TEXT = Text(), Text(10_000_000)
_FIGURE, _COUNT = Either((_NULL, Number())), Either((_NULL, Number(whole=True)))
_NAMED = Either((_NULL, _TEXT))
_PLACE = Number(1, whole=True)
_SPAN = Row((frozenset(("host", "wait", "device", "copy")), _TEXT, Number(), Number()))
_RUNG = frozenset(("in place", "extracted", "template"))
_STEPS = [{"rung": _RUNG, "reason": _TEXT}]
_SHOWN = [{"name": _TEXT, "shown": _TEXT, "origin": _TEXT}]

# Of an experiment what is read outside its own process; what is wrong with the rest costs that experiment alone.
_EXPERIMENT = {"id": _TEXT, "rung": _RUNG, "label?": _TEXT, "allow?": [_TEXT], "shown?": _SHOWN, "stand_ins?": [_TEXT]}
_CODE = {"before": _CODE_TEXT, "after": _CODE_TEXT, "inputs": Either((_NULL, _CODE_TEXT)), "entry": _TEXT}
_FINDING = {
    **dict.fromkeys(("fingerprint", "code", "name", "filename", "code_hash"), _TEXT), "row": _PLACE, "column": _PLACE,
    "ladder": [_TEXT], "tried?": _STEPS, "reason?": _TEXT,
}  # fmt: skip
_LIMITS = {
    "seconds": Number(positive=True),
    "memory_bytes": Number(positive=True),
    "pair_seconds": Number(positive=True),
    "processes?": int,
}
PLAN = {"limits": _LIMITS, "experiments": [{**_EXPERIMENT, **_CODE}], "findings": [_FINDING]}

_FIGURES = {
    "median_us": Number(positive=True), "iqr_us": Number(0), "memory_curve?": [Number()], "wait_places?": Each(int),
    "timeline?": [_SPAN], "traced_us?": Number(0),
    **{f"{name}?": _COUNT for name in ("waits", "kernels", "peak_bytes", "operators")},
    **{f"{name}?": _FIGURE for name in ("first_us", "startup_us", "wait_us", "growth_bytes_per_step", "flops", "bytes",
                                        "busy_us", "fetch_us")},
}  # fmt: skip
_SIDES = {"before": Number(), "after": Number()}
_RATIO = Interval(dict.fromkeys(("median", "low", "high"), Number(positive=True)))
_NOT_RUN = {"status": frozenset(("not run",)), "reason": _TEXT}
_MEASURED = {
    "status": frozenset(("measured",)), "ratio": _RATIO, "processes?": [{"ratio": _RATIO, **_SIDES}],
    "before": _FIGURES, "after": _FIGURES, "rounds": _PLACE, "equal?": Either((_NULL, bool)), "difference?": _TEXT,
    "inputs?": Either((_NULL, _SHOWN)), "wrong_reads?": Each(int), "unready?": int,
    "clock?": Either((Each(frozenset()), {**_SIDES, "apart?": bool})),
}  # fmt: skip
# A worker's answer: of each round the ratio, and how slow the processor was beside it; how to time it once more.
_ROUNDS = Some({"ratio": Number(positive=True), "pulse": Number(positive=True)})
ANSWER = Either((_NOT_RUN, {**_MEASURED, "ratios": _ROUNDS, "settled?": dict}))
RESULT = Either((_NOT_RUN, _MEASURED))
RESULTS = {
    "environment": {
        "device": frozenset(("cpu", "cuda")), "name": _TEXT, "torch": _TEXT, "python": _TEXT, "seconds?": Number(),
        "matmul_flops?": Each(Number()),
        **{f"{name}?": _FIGURE for name in ("bandwidth", "launch_us", "wait_us", "memory_bytes", "threads", "devices")},
        **{f"{name}?": _NAMED for name in ("cuda", "driver", "capability", "date")},
    },
    "plan": {**PLAN, "experiments": [_EXPERIMENT]},
    "results": Each(RESULT),
}  # fmt: skip


def unknown(plan: dict[str, Any]) -> str | None:
    """An experiment that a ladder names and the plan does not hold, or that it holds twice."""
    names = [experiment["id"] for experiment in plan["experiments"]]
    known = set(names)
    if len(known) < len(names):
        return "two experiments have the same id"
    lost = next((name for f in plan["findings"] for name in f["ladder"] if name not in known), None)
    return None if lost is None else f"there is no experiment {_shown(lost)}"

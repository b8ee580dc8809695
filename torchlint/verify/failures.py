"""What measured code may die of, and how that is told: by exact type alone, so that none of its methods run here.

The standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from torchlint.verify.standins import printable

MAX_MESSAGE = 300  # characters of an error that are looked at


class Failed(Exception):
    """The experiment cannot be measured; the text is what the user reads after "not run: "."""


def describe(error: BaseException) -> str:
    """What was raised, said without running more of its code than `str`, and surviving that."""
    kind = type(error)
    name = printable(kind.__name__, 60)
    try:
        text = str(error) if _is_of_library(kind) else ""
    except BaseException:
        text = ""
    first = text.strip().splitlines()[0] if type(text) is str and text.strip() else ""
    return printable(f"{name}: {first}" if first else name)


def _is_of_library(kind: type) -> bool:
    """Whether Python or torch defines a class, whose name and module alone measured code could forge."""
    module = kind.__module__
    if type(module) is not str or module.partition(".")[0] not in ("builtins", "torch"):
        return False
    home = sys.modules.get(module)
    return home is not None and vars(home).get(str.__str__(kind.__name__)) is kind


def reason(error: BaseException) -> str:
    """Why the experiment was not run, from what was raised."""
    if isinstance(error, Failed):
        return printable(str(error))
    text = describe(error)
    if isinstance(error, MemoryError) or "out of memory" in text or "allocate memory" in text or "OutOfMemory" in text:
        return f"memory limit ({text})"
    return f"raised {text}"


class TooSlow(BaseException):
    """A call that takes longer than a measurement has room for; not an Exception, so that code rarely catches it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooSlow in what takes longer. It chooses sizes; what ends an experiment is outside, in `supervise.py`."""

    def late(*_: Any) -> None:
        if sys.gettrace() is None:
            raise TooSlow
        # Raised out of a function that traces, it would end the tracing in the name of measured code, which may not.
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_REAL, 1e-3)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def where(error: BaseException) -> str:
    """The line of the measured code that raised."""
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__, limit=-30)
    place = next((f"{f.filename.strip('<>')}:{f.lineno}" for f in reversed(frames) if f.filename.startswith("<")), "")
    return printable(place)

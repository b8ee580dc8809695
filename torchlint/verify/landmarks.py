"""What measured code may have changed of what it shares with the other variant and with what measures.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import os
import sys
import time
import types
from collections.abc import Iterable, Iterator
from typing import Any

from torchlint.verify.allowed import NAMES
from torchlint.verify.guard import HERE, MEASURED
from torchlint.verify.namespace import lent_copy
from torchlint.verify.standins import printable

IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
Marks = dict[int, tuple[str, Any, dict[Any, Any]]]  # by identity: the name of a thing, itself, what it holds


def landmarks(torch: Any, compiled: bool, *more: type) -> Marks:
    """What classes, modules, functions and tables hold that measured code can reach, to see afterwards what it changed.

    What it left there would be found by the calls that follow, of the other variant as well. The compiler wraps methods
    of modules and optimizers itself: of compiled code the tensor's alone are looked at.

    Args:
        more: classes of the worker that stand for others.
    """
    named: list[tuple[str, Any]] = [("torch.Tensor", torch.Tensor), ("torch.cuda", torch.cuda), ("time", time)]
    named += ((kind.__name__, kind) for kind in more)
    if not compiled:
        named += _listed()
        named.append(("copy.deepcopy", lent_copy().deepcopy))
    marks: Marks = {}
    for name, thing in named:
        if id(thing) not in marks:
            marks[id(thing)] = (name, thing, _held(thing))
    others: Iterable[type] = _classes() if not compiled else ()
    for kind in others:
        if id(kind) not in marks:  # torch counts in some of them, as the handles of hooks
            held = {key: 0 if type(value) is int else value for key, value in vars(kind).items()}
            marks[id(kind)] = (f"{kind.__module__}.{kind.__qualname__}", kind, held)
    return marks


def _held(thing: Any) -> dict[Any, Any]:
    """Attributes, or the items of a table; special ones of classes alone, where decorators of classes put them."""
    if isinstance(thing, type):
        return dict(vars(thing))
    held = thing if isinstance(thing, dict) else getattr(thing, "__dict__", {})
    return {key: value for key, value in held.items() if not str(key).startswith("__")}


def _classes() -> Iterator[type]:
    """All classes that can be changed."""
    found: set[Any] = set()
    todo: list[Any] = [object]
    while todo:
        below = set(type.__subclasses__(todo.pop())) - found
        found |= below
        todo += below
    return (kind for kind in found if not kind.__flags__ & IMMUTABLE)


def _listed() -> Iterator[tuple[str, Any]]:
    """What has the names of the list, bases of its classes, and the functions and tables that all these hold."""
    for module, names in NAMES.items():
        home = sys.modules.get(module)
        for name in names.split() if home is not None else ():
            thing = getattr(home, name, None)
            around = [(f"{module}.{name}", thing)]
            if isinstance(thing, type):
                kinds: tuple[type, ...] = thing.__mro__
                around = [(f"{k.__module__}.{k.__qualname__}", k) for k in kinds if not k.__flags__ & IMMUTABLE]
            for place, one in around if not isinstance(thing, types.ModuleType) else ():
                yield place, one
                for key, value in tuple(getattr(one, "__dict__", {}).items()):
                    if isinstance(value, (dict, types.FunctionType)) and not key.startswith("__"):
                        yield f"{place}.{key}", value


def changed(before: Marks, after: Marks, torch: Any) -> str | None:
    """The first landmark that is another now, or new; a step of optimizers that torch itself wraps at first is not.

    Of plain data, which torch and NumPy keep in places of their own, only what is public counts.
    """
    missing = object()
    for place, (home, thing, now) in after.items():
        then = before[place][2] if place in before else now  # what was loaded since then is nobody's landmark
        for key, value in now.items():
            old = then.get(key, missing)
            if value is old:
                continue
            name = f"{home}.{key}"
            plain = not callable(value) and not callable(old)
            private = str(key).startswith("_") or (isinstance(thing, dict) and "._" in home)
            if plain and (private or home in ("torch.cuda", "time")):
                continue
            code = getattr(value, "__code__", None)
            file = code.co_filename if code is not None else ""
            if name.endswith("Event.elapsed_time") and os.path.dirname(file) == HERE:
                continue  # the worker counts readings of events that were not reached
            if name.endswith(".step") and file == torch.optim.Optimizer.__init__.__code__.co_filename:
                continue
            inherited = isinstance(thing, type) and any(key in vars(base) for base in thing.__mro__[1:])
            if (old is None or (old is missing and callable(value) and not inherited)) and _is_of_library(value):
                continue  # what a library sets up at its first use, as for a device
            return printable(name)
        gone = next((key for key, value in then.items() if callable(value) and key not in now), None)
        if gone is not None:
            return printable(f"{home}.{gone}")
    return None


def _is_of_library(value: Any) -> bool:
    """Whether nothing of measured code stands behind a value, by what it cannot forge: types, and files of code."""
    kind = type(value)
    if kind is types.FunctionType:
        held = [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
        return value.__code__.co_filename not in MEASURED and all(map(_is_of_library, held))
    if kind is types.BuiltinFunctionType:
        return True
    if kind is not type and callable(value):
        return False  # bound and partial ones, caches and the like may wrap what is measured
    bases = type.mro(value) if kind is type else type.mro(kind)
    methods = (method for base in bases for method in vars(base).values() if type(method) is types.FunctionType)
    return all(method.__code__.co_filename not in MEASURED for method in methods)


def _is_full(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True

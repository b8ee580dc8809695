"""What measured code finds of Python's own names.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import builtins
import copy
import functools
import sys
import types
from collections.abc import Sequence
from typing import Any

from torchlint.verify import policy
from torchlint.verify.allowed import NAMES
from torchlint.verify.standins import printable
from torchlint.verify.taming import tame_lookups

# Classes whose objects are made of others' insides: code, memory, classes.
UNMADE = frozenset(
    (types.FunctionType, types.CodeType, types.ModuleType, types.CellType, types.FrameType, types.MappingProxyType,
     memoryview)
)  # fmt: skip


def python(allow: Sequence[str] = ()) -> dict[str, Any]:
    """Python's own names for measured code: those of the policy, with an import of listed modules alone.

    What is not among them does not exist for it, even where its text hides which name it means.

    Args:
        allow: modules that the user allowed.
    """
    known = set(NAMES)
    numpy = sys.modules.get("numpy")
    closed = (type,) if numpy is None else (type, numpy.ndarray)
    original = builtins.__import__
    lent = lent_copy()

    def imported(name: str, around: Any = None, local: Any = None, wanted: Any = (), level: int = 0) -> Any:
        # Extensions written in C import parts of their own by this function: they alone want a list of names.
        if name not in known and type(wanted) is not list:
            if name != "__future__" and not policy.knows(name, None, allow):
                raise PermissionError(f"the module {printable(name, 60)} is not on the list")
            known.add(name)
        before = len(sys.modules)
        if name == "copy" and type(wanted) is not list:
            return lent
        module = original(name, around, local, wanted, level)
        if len(sys.modules) > before:
            tame_lookups()
        return module

    def kind_of(value: Any) -> Any:
        """`type` of one argument, apart from classes by which code, classes and views of memory are made."""
        kind = type(value)
        if kind in UNMADE or issubclass(kind, closed):
            raise PermissionError(f"type() of {printable(kind.__name__, 40)} is not allowed in an experiment")
        return kind

    found = {name: getattr(builtins, name) for name in policy.BUILTINS if hasattr(builtins, name)}
    return {**found, "type": kind_of, "__import__": imported, "__build_class__": builtins.__build_class__}


@functools.lru_cache(maxsize=1)
def lent_copy() -> types.ModuleType:
    """The module `copy` without memos, by which copies get attributes of any name and become objects of any class."""

    def deepcopy(x: Any, *memo: Any, **more: Any) -> Any:
        if memo or more:
            raise PermissionError("deepcopy with a memo is not allowed in an experiment")
        return copy.deepcopy(x)

    lent = types.ModuleType("copy")
    vars(lent).update(copy=copy.copy, deepcopy=deepcopy, Error=copy.Error)
    return lent

"""Values as plain data, which is compared, kept and made into values again.

A value is told without the nodes that it came from: others stand for them, so that one stays one and several several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics.functions import ClassInfo, FunctionInfo
from torchlint.semantics.values import MISSING, Gate, Kind, Value

__all__ = ["DEEP", "Plain", "decoded", "encoded", "named_in"]

DEEP: Final = 3  # levels of members of a value that are told

Plain = list[Any]  # a value
Named = list[Any]  # a class or a function, by what it goes by

_MANY: Final = 2  # nodes that a value came from: more are no other than two


def encoded(
    value: Value,
    depth: int,
    named: Callable[[ClassInfo | FunctionInfo], Named | None],
    member: Callable[[Value, int], Any],
) -> Plain:
    """A value and its members to a depth, which `member` encodes; `named` gives what classes and functions go by."""
    inner = depth - 1
    const = value.const
    return [
        value.kind.value,
        int(value.conf),
        value.device,
        value.graph,
        value.dtype,
        value.rank,
        None if value.shape is None else list(value.shape),
        value.pinned,
        [const] if isinstance(const, (int, float, str, bool, type(None))) else [],
        value.qual,
        None if value.cls is None else named(value.cls),
        None if value.fn is None else named(value.fn),
        None if value.gates is None else [gate.value for gate in value.gates],
        value.optional,
        min(len(value.origins), _MANY),
        min(len(value.loaders), _MANY),
        None if value.bound is None or inner <= 0 else member(value.bound, 1),
        None if value.elem is None or inner <= 0 else member(value.elem, inner),
        [[key, member(item, inner)] for key, item in value.items.items() if isinstance(key, (int, str))]
        if value.items is not None and inner > 0
        else None,
        [*filter(None, map(named, value.classes))],
        [member(one, 1) for one in value.choices],
    ]


def decoded(data: Plain, class_of: Callable[[Named], ClassInfo], function_of: Callable[[Named], FunctionInfo]) -> Value:
    """The value of what `encoded` gave, with its members, and the classes and functions of what these go by."""

    def member(inner: Plain) -> Value:
        return decoded(inner, class_of, function_of)

    kind, conf, device, graph, dtype, rank, shape, pinned, const, qual, cls, fn, gates, optional = data[:14]
    origins, loaders, bound, elem, items, several, choices = data[14:]
    return Value(
        Kind(kind),
        Confidence(conf),
        device=device,
        graph=graph,
        dtype=dtype,
        rank=rank,
        shape=None if shape is None else tuple(shape),
        pinned=pinned,
        const=const[0] if const else MISSING,
        qual=qual,
        cls=None if cls is None else class_of(cls),
        classes=tuple(map(class_of, several)),
        fn=None if fn is None else function_of(fn),
        gates=None if gates is None else (Gate(gates[0]), Gate(gates[1])),
        optional=optional,
        origins=tuple(cst.Name("elsewhere") for _ in range(origins)),
        loaders=tuple(cst.Name("elsewhere") for _ in range(loaders)),
        bound=None if bound is None else member(bound),
        elem=None if elem is None else member(elem),
        items=None if items is None else {key: member(item) for key, item in items},
        choices=tuple(map(member, choices)),
    )


def named_in(data: Plain) -> Iterator[Named]:
    """The classes and functions that a value and its members are of."""
    cls, fn, bound, elem, items, several, choices = data[10], data[11], *data[16:]
    yield from filter(None, (cls, fn, *several))
    for inner in (bound, elem, *(item for _, item in items or ()), *choices):
        if inner is not None:
            yield from named_in(inner)

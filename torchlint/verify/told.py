"""What the semantic model tells of names that a file's functions read: numbers with their values, tensors with ranks.

How a function uses a parameter says much of what it is (`uses.py`); who calls it, and with what, says the rest, and
that is what the model knows. Of a local name, which a part of the function may need, it knows what was bound to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import libcst as cst

from torchlint.semantics.build import build_model
from torchlint.semantics.model import Model
from torchlint.semantics.values import MISSING, Kind, Value

__all__ = ["Told", "refined", "told"]

_KINDS = {
    Kind.NUMBER: ("number", "guess"),
    Kind.TENSOR: ("tensor",),
    Kind.NDARRAY: ("array",),
    Kind.MODULE: ("network", "own"),
    Kind.LOADER: ("loader",),
}


@dataclass(frozen=True, slots=True)
class Told:
    """Of one name.

    Attributes:
        kinds: of descriptions that fit it.
        value: a number, where every caller gives the same; else None.
        rank: of a tensor; None where that is not known.
        shape: of a tensor, where all of it is known.
    """

    kinds: tuple[str, ...]
    value: int | float | None = None
    rank: int | None = None
    shape: tuple[int, ...] | None = None


def told(text: str) -> dict[tuple[str, str], Told]:
    """What is known of names, by the path of the function ("f", "Class.method") that reads them and the name."""
    module = cst.parse_module(text)
    model = build_model(module)
    known: dict[tuple[str, str], Told] = {}
    for path, function in _functions(module):
        for name, value in _read(model, function):
            kinds = _KINDS.get(value.kind)
            if kinds is not None:
                known.setdefault((path, name), _told(value, kinds))
    return known


def _functions(module: cst.Module) -> Iterator[tuple[str, cst.FunctionDef]]:
    for statement in module.body:
        if isinstance(statement, cst.FunctionDef):
            yield statement.name.value, statement
        elif isinstance(statement, cst.ClassDef):
            for child in statement.body.body:
                if isinstance(child, cst.FunctionDef):
                    yield f"{statement.name.value}.{child.name.value}", child


def _read(model: Model, function: cst.FunctionDef) -> Iterator[tuple[str, Value]]:
    """The names that the body reads, in its order; where it first reads a parameter, that is what was passed."""
    todo: list[cst.CSTNode] = [function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, cst.Name):
            yield node.value, model.value(node)
        todo.extend(reversed(node.children))


def _told(value: Value, kinds: tuple[str, ...]) -> Told:
    number = value.const if value.const is not MISSING and type(value.const) in (int, float) else None
    shape = value.shape
    full = tuple(size for size in shape if size is not None) if shape is not None and None not in shape else None
    return Told(kinds, number, value.rank, full)


def refined(described: Mapping[str, Any], known: Told | None) -> dict[str, Any]:
    """A description with what is known besides: of several kinds the one that fits, a number's value, a rank."""
    if known is None:
        return dict(described)
    if described["kind"] == "choice":
        fitting = [one for one in described["of"] if one["kind"] in known.kinds or _is_ranked(one)]
        if not fitting:
            return dict(described)
        if len(fitting) > 1:
            return {**described, "of": fitting}
        described = {"origin": "the kind that its callers pass", **fitting[0]}
    if described["kind"] in ("tensor", "loader") and "array" in known.kinds:
        described = {**_left(described), "kind": "array", "origin": "an array, as its callers pass"}
    if described["kind"] == "tensor" and "number" in known.kinds:
        options = {"value": 1, "others": [4, 0, "D", "B"]}
        described = {"kind": "guess", **options, "origin": "the kind that its callers pass"}
    if described["kind"] == "guess" and known.value is not None:
        return {"kind": "number", "value": known.value, "origin": "what its callers pass"}
    if described["kind"] == "tensor" and "tensor" in known.kinds and described.get("shape") is None:
        if known.shape is not None:
            return {**described, "shape": list(known.shape), "origin": "what its callers pass"}
        return {**described, "rank": described.get("rank") or known.rank}
    return dict(described)


def _left(described: Mapping[str, Any]) -> dict[str, Any]:
    """Of the description of a tensor, or of what it was taken for, what an array has as well."""
    plain = {"rank": None, "dtype": "open"}
    return {key: described.get(key, value) for key, value in plain.items()}


def _is_ranked(described: Mapping[str, Any]) -> bool:
    """Whether it is several tensors of a rank that the code tells, which the model may call a tensor."""
    return described["kind"] == "loader" and any(item.get("rank") for item in described["items"])

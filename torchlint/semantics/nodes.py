"""The nodes below a node."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

# By the type of a node, what gives the nodes below it; and the types that hold none, once one was met.
_HELD: dict[type[cst.CSTNode], Callable[[Any], list[cst.CSTNode]]] = {}
LEAVES: set[type[cst.CSTNode]] = set()
_PUNCTUATION = re.compile(
    "^_|whitespace|lines|paren|comma|header|footer|newline|semicolon|bracket|brace|^[lr]par$|^(?:dot|equal|colon)$|_colon$"
)
# What a field holds beside a node, or a sequence of nodes.
_PLAIN = frozenset({str, bool, int, type(None), cst.MaybeSentinel})


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below a node, in the order of the text, without punctuation, whitespace and comments."""
    kind = type(node)
    return (_HELD.get(kind) or _reading(kind))(node)


def _reading(kind: type[cst.CSTNode]) -> Callable[[Any], list[cst.CSTNode]]:
    """What gives the nodes below one of a kind, written out field by field: a loop over these takes twice as long."""
    rows = []
    for name, spec in kind.__dataclass_fields__.items():
        if name != "__slots__" and not _PUNCTUATION.search(name) and (row := _taking(f"node.{name}", spec.type)):
            rows.append(row)
    if not rows:
        LEAVES.add(kind)
    names: dict[str, Any] = {"plain": _PLAIN}
    exec("\n    ".join(["def held(node):", "found = []", *rows, "return found"]), names)
    _HELD[kind] = names["held"]
    return names["held"]  # type: ignore[no-any-return]


def _taking(field: str, annotation: Any) -> str:
    """The statement that adds what a field holds to what was found; empty where it holds no nodes."""
    several = typing.get_args(annotation) if typing.get_origin(annotation) is typing.Union else (annotation,)
    if all(one in _PLAIN or typing.get_origin(one) is typing.Literal for one in several):
        return ""
    if typing.get_origin(annotation) is Sequence:
        return f"found += {field}"
    if all(isinstance(one, type) and issubclass(one, cst.CSTNode) for one in several):
        return f"found.append({field})"
    return (
        f"if type({field}) is tuple or type({field}) is list: found += {field}\n"
        f"    elif type({field}) not in plain: found.append({field})"
    )


def below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and all nodes below it."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        if type(node) not in LEAVES:
            todo += children(node)


def within(roots: list[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """The nodes below, in the order of the text; not the bodies of functions and classes defined there."""
    todo = list(reversed(roots))
    while todo:
        node = todo.pop()
        yield node
        kind = type(node)
        if not (kind in LEAVES or kind is cst.FunctionDef or kind is cst.ClassDef or kind is cst.Lambda):
            todo += reversed(children(node))

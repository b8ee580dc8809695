"""What stands in the body of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import within
from torchlint.semantics.sites import Call, Loop
from torchlint.semantics.targets import changed_names, clauses, targets


def body_of(site: Loop) -> list[cst.CSTNode]:
    """The nodes that every round runs: a loop's statements, a comprehension's element and conditions."""
    node = site.node
    if isinstance(node, (cst.For, cst.While)):
        return [node.body]
    parts: list[cst.CSTNode] = []
    if type(node) is cst.DictComp:
        parts = [node.key, node.value]
    elif isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        parts = [node.elt]
    for index, clause in enumerate(clauses(node) if isinstance(node, cst.BaseComp) else ()):
        if index:
            parts.append(clause.iter)
        parts += [test.test for test in clause.ifs]
    return parts


def calls_in(model: Model, roots: list[cst.CSTNode]) -> Iterator[Call]:
    """The calls below, in the order of the text."""
    for node in within(roots):
        if type(node) is cst.Call:
            site = model.call(node)
            if site is not None:
                yield site


CHANGES: Final = frozenset(
    "append appendleft extend insert pop popleft popitem clear setdefault update discard".split()
)


def names_written(model: Model, roots: list[cst.CSTNode]) -> set[str]:
    """The names and attributes that get a value below, in place or not, also by methods that are called there."""
    written: set[str] = set()
    called: set[FunctionInfo] = set()
    for node in within(roots):
        changed = list(targets(node))
        if type(node) is cst.Call:
            if type(node.func) is cst.Attribute and (
                node.func.attr.value.endswith("_") or node.func.attr.value in CHANGES
            ):
                changed.append(node.func.value)
            changed += [a.value for a in node.args if a.keyword is not None and a.keyword.value == "out"]
            site = model.call(node)
            if site is not None and site.target is not None:
                _note_called(site.target, called)
        for place in changed:
            written |= changed_names(place)
    return written | {f"self.{name}" for function in called for _, name, _ in function.attributes}


def _note_called(function: FunctionInfo, called: set[FunctionInfo]) -> None:
    """The function and those that it calls."""
    todo = [function]
    while todo:
        one = todo.pop()
        if one not in called:
            called.add(one)
            todo += [effect.callee for effect in one.effects if effect.callee is not None]


def slice_of_one(part: cst.BaseSlice) -> cst.BaseExpression | None:
    """Where a slice begins that holds one position: `[i : i + 1]`."""
    if type(part) is not cst.Slice or type(part.lower) is not cst.Name or part.step is not None:
        return None
    upper = part.upper
    holds_one = (
        type(upper) is cst.BinaryOperation
        and type(upper.operator) is cst.Add
        and type(upper.left) is cst.Name
        and upper.left.value == part.lower.value
        and type(upper.right) is cst.Integer
        and upper.right.value == "1"
    )
    return part.lower if holds_one else None

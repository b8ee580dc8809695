"""What stands in the body of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_in, within
from torchlint.semantics.sites import Call, Loop

FEW_ROUNDS: Final = 4  # a loop of no more rounds queues too little for another form to be worth its lines
Comprehension = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


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
    clause: cst.CompFor | None = node.for_in if isinstance(node, Comprehension) else None
    first = True
    while clause is not None:
        if not first:
            parts.append(clause.iter)
        parts += [test.test for test in clause.ifs]
        clause, first = clause.inner_for_in, False
    return parts


def calls_in(model: Model, roots: list[cst.CSTNode]) -> Iterator[Call]:
    """The calls below, in the order of the text."""
    for node in within(roots):
        if type(node) is cst.Call:
            site = model.call(node)
            if site is not None:
                yield site


def bound_names(target: cst.BaseExpression | None) -> set[str]:
    """The names that a target binds."""
    return names_in(target) if target is not None else set()


CHANGES: Final = frozenset(
    "append appendleft extend insert pop popleft popitem clear setdefault update discard".split()
)


_WITH_TARGET: Final = frozenset({cst.AugAssign, cst.AnnAssign, cst.NamedExpr, cst.For, cst.CompFor})


def names_written(model: Model, roots: list[cst.CSTNode]) -> set[str]:
    """The names and attributes that get a value below, in place or not, also by methods that are called there."""
    written: set[str] = set()
    called: set[FunctionInfo] = set()
    for node in within(roots):
        targets: list[cst.BaseExpression] = []
        if type(node) is cst.Assign:
            targets = [target.target for target in node.targets]
        elif type(node) in _WITH_TARGET:
            targets = [node.target]  # type: ignore[attr-defined]
        elif type(node) is cst.AsName:
            targets = [node.name] if isinstance(node.name, (cst.Name, cst.Tuple)) else []
        elif type(node) is cst.Call:
            if type(node.func) is cst.Attribute and (
                node.func.attr.value.endswith("_") or node.func.attr.value in CHANGES
            ):
                targets.append(node.func.value)
            targets += [a.value for a in node.args if a.keyword is not None and a.keyword.value == "out"]
            site = model.call(node)
            if site is not None and site.target is not None:
                _note_called(site.target, called)
        for target in targets:
            written |= stored_names(target)
    return written | {f"self.{name}" for function in called for _, name, _ in function.attributes}


def stored_names(target: cst.BaseExpression) -> set[str]:
    """The names whose values change where a target gets a value: `x` for `x[0]`, for `x.data`, and for `x` itself."""
    while type(target) is cst.Subscript or type(target) is cst.StarredElement:
        target = target.value
    if type(target) is cst.Tuple or type(target) is cst.List:
        return {name for element in target.elements for name in stored_names(element.value)}
    name = dotted(target)
    if name is None:
        return set()
    return {name, name.rpartition(".")[0]} if name.endswith((".data", ".grad")) else {name}


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

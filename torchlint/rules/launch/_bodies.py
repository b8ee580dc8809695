"""What stands in the body of a loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.semantics.model import Model
from torchlint.semantics.names import children
from torchlint.semantics.sites import Call, Loop

Comprehension = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


def body_of(site: Loop) -> list[cst.CSTNode]:
    """The nodes that every round runs: a loop's statements, a comprehension's element and conditions."""
    node = site.node
    if isinstance(node, (cst.For, cst.While)):
        return [node.body]
    parts: list[cst.CSTNode] = []
    if isinstance(node, cst.DictComp):
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


def within(roots: list[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """The nodes below, in the order of the text; not the bodies of functions defined there."""
    todo = list(reversed(roots))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            todo.extend(reversed(list(children(node))))


def calls_in(model: Model, roots: list[cst.CSTNode]) -> Iterator[Call]:
    """The calls below, in the order of the text."""
    for node in within(roots):
        if isinstance(node, cst.Call):
            site = model.call(node)
            if site is not None:
                yield site


def bound_names(target: cst.BaseExpression | None) -> set[str]:
    """The names that a target binds."""
    names: set[str] = set()
    for node in within([target]) if target is not None else ():
        if isinstance(node, cst.Name):
            names.add(node.value)
    return names

"""What stands in the body of a loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, within
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


def names_read(node: cst.CSTNode) -> set[str]:
    """The names below, and each chain of attributes as a whole: `self.net.weight` gives `self`, `self.net`, ..."""
    found: set[str] = set()
    for inner in within([node]):
        name = dotted(inner) if isinstance(inner, (cst.Name, cst.Attribute)) else None
        if name is not None:
            found.add(name)
    return found


def names_written(model: Model, roots: list[cst.CSTNode], _seen: frozenset[int] = frozenset()) -> set[str]:
    """The names and attributes that get a value below, in place or not, also by the methods of this file called there."""
    written: set[str] = set()
    for node in within(roots):
        targets: list[cst.BaseExpression] = []
        if isinstance(node, cst.Assign):
            targets = [target.target for target in node.targets]
        elif isinstance(node, (cst.AugAssign, cst.AnnAssign, cst.NamedExpr, cst.For, cst.CompFor)):
            targets = [node.target]
        elif isinstance(node, cst.AsName):
            targets = [node.name] if isinstance(node.name, (cst.Name, cst.Tuple)) else []
        elif isinstance(node, cst.Call):
            written |= _written_by_call(model, node, _seen)
        for target in targets:
            written |= _stored(target)
    return written


def _stored(target: cst.BaseExpression) -> set[str]:
    while isinstance(target, (cst.Subscript, cst.StarredElement)):
        target = target.value
    if isinstance(target, (cst.Tuple, cst.List)):
        return {name for element in target.elements for name in _stored(element.value)}
    name = dotted(target)
    if name is None:
        return set()
    # `x.data = y` changes `x` as well.
    return {name, name.rpartition(".")[0]} if name.endswith((".data", ".grad")) else {name}


def _written_by_call(model: Model, node: cst.Call, seen: frozenset[int]) -> set[str]:
    written: set[str] = set()
    if isinstance(node.func, cst.Attribute) and node.func.attr.value.endswith("_"):
        written |= _stored(node.func.value)
    for argument in node.args:
        if argument.keyword is not None and argument.keyword.value == "out":
            written |= _stored(argument.value)
    site = model.call(node)
    target = site.target if site is not None else None
    if target is not None and id(target) not in seen and isinstance(target.node, cst.FunctionDef):
        written |= {name for name in names_written(model, [target.node.body], seen | {id(target)}) if "." in name}
    return written

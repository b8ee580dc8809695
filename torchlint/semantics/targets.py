"""What code gives values to: the targets of statements, loops and patterns, and the names that these bind.

A target is taken apart, through tuples, lists and stars, down to names, attributes and subscripts. A name or an
attribute is *bound* under its name as written, `x` or `self.x`; `rows[i] = x` binds no name, but *changes* `rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import libcst as cst

from torchlint.semantics.names import dotted, identifier

__all__ = ["WRITING", "bindings_in", "bound_names", "changed_names", "clauses", "entries", "loop_names", "targets"]

# By the type of a node, the targets that stand in it, as they are written; of `match`, in its patterns.
_WRITTEN: Final[dict[type[cst.CSTNode], Callable[[Any], list[cst.BaseExpression | None]]]] = {
    cst.Assign: lambda node: [target.target for target in node.targets],
    **dict.fromkeys(
        (cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.CompFor, cst.Del), lambda node: [node.target]
    ),
    **dict.fromkeys((cst.AsName, cst.MatchAs, cst.MatchStar), lambda node: [node.name]),
    cst.MatchMapping: lambda node: [node.rest],
}
WRITING: Final = frozenset(_WRITTEN)  # the types of nodes that write to something


def targets(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What a node writes to itself, taken apart; of a loop this is its target, not what its body writes to."""
    written = _WRITTEN.get(type(node))
    for target in written(node) if written is not None else ():
        if target is not None:
            yield from _parts(target)


def _parts(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    todo = [target]
    while todo:
        part = todo.pop()
        if type(part) is cst.Tuple or type(part) is cst.List:
            todo += [element.value for element in reversed(part.elements)]
        elif type(part) is cst.StarredElement:
            todo.append(part.value)
        else:
            yield part


def entries(statement: cst.CSTNode | None) -> list[cst.Subscript]:
    """The entries of tables to which an assignment gives a value: `rows[i]` of `rows[i] = x`."""
    return [part for part in targets(statement) if type(part) is cst.Subscript] if type(statement) is cst.Assign else []


def bound_names(target: cst.BaseExpression | None) -> set[str]:
    """The names and attributes that a target binds."""
    return {name for part in _parts(target) if (name := dotted(part)) is not None} if target is not None else set()


def changed_names(target: cst.BaseExpression) -> set[str]:
    """The names whose values change where a target gets one: `x` for `x`, `x[0]` and `x.data`."""
    names: set[str] = set()
    for part in _parts(target):
        while type(part) is cst.Subscript:
            part = part.value
        name = dotted(part)
        if name is not None:
            names.add(name)
            if name.endswith((".data", ".grad")):
                names.add(name.rpartition(".")[0])
    return names


def clauses(comprehension: cst.BaseComp) -> Iterator[cst.CompFor]:
    """The `for` clauses of a comprehension, the outermost first."""
    clause: cst.CompFor | None = comprehension.for_in
    while clause is not None:
        yield clause
        clause = clause.inner_for_in


def loop_names(loop: cst.CSTNode | None) -> set[str]:
    """The names that a loop or a comprehension binds anew for each round; none for `while`."""
    if isinstance(loop, cst.BaseComp):
        return {name for clause in clauses(loop) for name in bound_names(clause.target)}
    return bound_names(loop.target) if isinstance(loop, cst.For) else set()


def bindings_in(loop: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The names that the statements of a loop's body bind, outside what branches there, with what they are bound to."""
    for line in loop.body.body if isinstance(loop, cst.For) else ():
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(statement, cst.Assign) and isinstance(statement.targets[0].target, cst.Name):
                yield identifier(statement.targets[0].target.value), statement.value

"""What is longer, or another number, on every round of a loop."""

from __future__ import annotations

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model, dotted
from torchlint.semantics.names import within

_GROWS = frozenset("append extend insert appendleft add setitem update".split())
_JOINS = frozenset("cat concat concatenate hstack vstack".split())


def names_in(node: cst.CSTNode) -> set[str]:
    """The bare names in an expression."""
    return {part.value for part in within([node]) if isinstance(part, cst.Name)}


def _dotted_in(node: cst.CSTNode) -> set[str | None]:
    return {dotted(part) for part in within([node]) if isinstance(part, (cst.Name, cst.Attribute))}


def counters(context: Context, model: Model) -> set[str]:
    """The names that hold another number on each round of the loops around: their targets, and what they count."""
    found: set[str] = set()
    for loop in context.enclosing_loops():
        if isinstance(loop.node, cst.For) and isinstance(loop.node.iter, cst.Call):
            called = (dotted(loop.node.iter.func) or "").rsplit(".", 1)[-1]
            if called in ("range", "trange"):
                found |= names_in(loop.node.target)
            elif called == "enumerate" and isinstance(loop.node.target, cst.Tuple):
                found |= names_in(loop.node.target.elements[0].value)
        for site in model.sites.accumulations:
            if (
                site.context.inside(loop)
                and isinstance(site.target_node, cst.Name)
                and not reset_inside(site.target, loop, model)
            ):
                found.add(site.target)
    return found


def varies(node: cst.BaseExpression, context: Context, model: Model) -> bool:
    """Whether an expression is made of a counter of a loop around."""
    return bool(names_in(node) & counters(context, model))


def grows(node: cst.BaseExpression, loop: Context, model: Model) -> bool:
    """Whether a list, a tensor or a slice is longer on each round of a loop."""
    if isinstance(node, cst.Subscript):
        return any(
            isinstance(element.slice, cst.Slice)
            and any(
                bound is not None and varies(bound, loop, model) for bound in (element.slice.lower, element.slice.upper)
            )
            and not _is_window(element.slice, loop, model)
            for element in node.slice
        )
    name = dotted(node)
    if name is None:
        return False
    if any(_joins_itself(assign, name) and assign.context.inside(loop) for assign in model.sites.assigns):
        return True
    if reset_inside(name, loop, model):
        return False
    fills = (store for store in model.sites.stores if store.owner_name == name and store.context.inside(loop))
    if any(store.how in _GROWS for store in fills):
        return True
    return any(
        site.target == name and site.context.inside(loop) and isinstance(site.addend, (cst.List, cst.Tuple))
        for site in model.sites.accumulations
    )


def _is_window(piece: cst.Slice, loop: Context, model: Model) -> bool:
    """Whether both ends of a slice move: `x[i : i + n]` has one size."""
    return all(bound is not None and varies(bound, loop, model) for bound in (piece.lower, piece.upper))


def _joins_itself(assign: sites.Assign, name: str) -> bool:
    node = assign.value_node
    return (
        assign.name == name
        and isinstance(node, cst.Call)
        and (dotted(node.func) or "").rsplit(".", 1)[-1] in _JOINS
        and name in _dotted_in(node)
    )


def reset_inside(name: str, loop: Context, model: Model) -> bool:
    """Whether a round of the loop gives the name a new value that is not made of the old one."""
    return any(
        assign.name == name
        and assign.context.inside(loop)
        and assign.value_node is not None
        and not isinstance(assign.node, cst.AugAssign)
        and name not in _dotted_in(assign.value_node)
        for assign in model.sites.assigns
    )

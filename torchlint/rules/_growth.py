"""What is longer, or another number, on every round of a loop."""

from __future__ import annotations

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within
from torchlint.semantics.targets import bound_names, loop_names
from torchlint.semantics.values import Kind

_GROWS = frozenset("append extend insert appendleft add setitem update".split())
_JOINS = frozenset("cat concat concatenate hstack vstack".split())
_WRAPPERS = frozenset("reversed tqdm list".split())
_FOLLOWED = 3  # assignments that a number is followed through
# What is made of a number that changes and takes a few values only.
_FEW_VALUES = (cst.Comparison, cst.Modulo, cst.BooleanOperation, cst.Not)


def _dotted_in(node: cst.CSTNode) -> set[str | None]:
    return {dotted(part) for part in within([node]) if isinstance(part, (cst.Name, cst.Attribute))}


def counters(context: Context, model: Model) -> set[str]:
    """The names that hold another number on each round of the loops around: their targets, and what they count."""
    found: set[str] = set()
    for loop in context.enclosing_loops():
        iterated = _unwrapped(loop.node.iter) if isinstance(loop.node, cst.For) else None
        if isinstance(loop.node, cst.For) and isinstance(iterated, cst.Call):
            called = _last_name(iterated)
            if called in ("range", "trange"):
                found |= loop_names(loop.node)
            elif called == "enumerate" and isinstance(loop.node.target, cst.Tuple):
                found |= bound_names(loop.node.target.elements[0].value)
        for site in model.sites.accumulations:
            if (
                site.context.inside(loop)
                and isinstance(site.target_node, (cst.Name, cst.Attribute))
                and not reset_inside(site.target, loop, model)
            ):
                found.add(site.target)
    return found | _counted_attributes(context, model)


def _counted_attributes(context: Context, model: Model) -> set[str]:
    """The attributes of the object around that a method of its class adds to on every step."""
    cls = context.owner.cls if context.owner is not None else None
    return {
        site.target
        for site in model.sites.accumulations
        if cls is not None
        and isinstance(site.target_node, cst.Attribute)
        and site.before.kind is Kind.NUMBER
        and site.context.owner is not None
        and site.context.owner.cls is cls
        and model.hot(site.context) is not None
    }


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """What a loop counts over, behind a progress bar or in reverse."""
    while isinstance(node, cst.Call) and node.args and _last_name(node) in _WRAPPERS:
        node = node.args[0].value
    return node


def _last_name(call: cst.Call) -> str:
    return (dotted(call.func) or "").rsplit(".", 1)[-1]


def varies(node: cst.BaseExpression, context: Context, model: Model) -> bool:
    """Whether an expression is made of a counter of a loop around, also through names that the loop gives values."""
    loops = context.enclosing_loops()
    counted = counters(context, model)
    pieces, seen = [node], set[str]()
    for _ in range(_FOLLOWED):
        names = {name for piece in pieces for name in _numbers_in(piece)} - seen
        if names & counted:
            return True
        seen |= names
        pieces = [
            assign.value_node
            for name in names
            for assign in (model.sites.assigned(name, loops[-1]) if loops else ())
            if assign.value_node is not None
            and assign.value.kind in (Kind.NUMBER, Kind.UNKNOWN)
            # `size = sizes[stage]` in a loop around the one at hand: another number now and then
            and (assign.context.inside(loops[0]) or type(assign.value_node) is not cst.Subscript)
        ]
    return False


def _numbers_in(node: cst.BaseExpression) -> set[str]:
    """The names that a number is made of; none where it takes a few values only."""
    parts = list(within([node]))
    if any(isinstance(part, _FEW_VALUES) for part in parts):
        return set()
    return {name for part in parts if isinstance(part, (cst.Name, cst.Attribute)) and (name := dotted(part))}


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
    if name is None or name in loop_names(loop.node):
        return False  # each round takes another one
    if any(_joins_itself(assign, name) for assign in model.sites.assigned(name, loop)):
        return True
    if reset_inside(name, loop, model):
        return False
    fills = (store for store in model.sites.stores if store.owner_name == name and store.context.inside(loop))
    if any(store.how in _GROWS and (store.entry is None or _changes(store.entry, loop, model)) for store in fills):
        return True
    return any(
        site.target == name and site.context.inside(loop) and isinstance(site.addend, (cst.List, cst.Tuple))
        for site in model.sites.accumulations
    )


def _changes(entry: cst.Subscript, loop: Context, model: Model) -> bool:
    """Whether a round may write to another entry than the one before: else the same one is set anew."""
    keys: list[cst.CSTNode] = list(entry.slice)
    if any(isinstance(part, cst.Call) for part in within(keys)):
        return True
    names = {name for key in keys for name in _dotted_in(key) if name is not None}
    bound = loop_names(loop.node) | {site.target for site in model.sites.accumulations if site.context.inside(loop)}
    return any(name in bound or any(model.sites.assigned(name, loop)) for name in names)


def _is_window(piece: cst.Slice, loop: Context, model: Model) -> bool:
    """Whether both ends of a slice move: `x[i : i + n]` has one size."""
    return all(bound is not None and varies(bound, loop, model) for bound in (piece.lower, piece.upper))


def _joins_itself(assign: sites.Assign, name: str) -> bool:
    node = assign.value_node
    return (
        isinstance(node, cst.Call)
        and (dotted(node.func) or "").rsplit(".", 1)[-1] in _JOINS
        and name in _dotted_in(node)
    )


def reset_inside(name: str, loop: Context, model: Model) -> bool:
    """Whether a round of the loop gives the name a new value that is not made of the old one."""
    return any(
        assign.value_node is not None
        and not isinstance(assign.node, cst.AugAssign)
        and name not in _dotted_in(assign.value_node)
        for assign in model.sites.assigned(name, loop)
    )

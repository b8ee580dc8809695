"""Whether a loop has too few rounds for another form to be worth its lines."""

from __future__ import annotations

import libcst as cst

from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.rounds import FEW_ROUNDS
from torchlint.semantics.values import Kind


def is_short(loop: Context, model: Model) -> bool:
    """Whether it goes a few times, over the axes of a tensor, or over what the function has made a few of."""
    facts = loop.loop
    few = facts is not None and facts.count is not None and facts.count <= FEW_ROUNDS
    return few or _over_axes(loop, model) or _over_few(loop, model)


def _over_axes(loop: Context, model: Model) -> bool:
    """Whether each round is an axis of a tensor: `range(x.ndim)`, `range(x.dim())`, `range(len(x.shape))`."""
    iterated = loop.node.iter if isinstance(loop.node, cst.For) else None
    if not isinstance(iterated, cst.Call) or model.resolve(iterated.func) != "range" or not iterated.args:
        return False
    last = iterated.args[-1].value
    if isinstance(last, cst.Call) and isinstance(last.func, cst.Name):
        return (
            model.resolve(last.func) == "len" and bool(last.args) and model.value(last.args[0].value).kind is Kind.SHAPE
        )
    asked = last.func if isinstance(last, cst.Call) else last
    return isinstance(asked, cst.Attribute) and asked.attr.value in ("dim", "ndim", "ndimension")


def _over_few(loop: Context, model: Model) -> bool:
    """Whether the rounds go over a list that the function has filled in a few rounds: `range(1, len(parts))`."""
    iterated = loop.node.iter if isinstance(loop.node, cst.For) else None
    if isinstance(iterated, cst.Call) and model.resolve(iterated.func) == "range" and iterated.args:
        last = iterated.args[-1].value
        counts = isinstance(last, cst.Call) and model.resolve(last.func) == "len" and bool(last.args)
        iterated = last.args[0].value if isinstance(last, cst.Call) and counts else None
    elif isinstance(iterated, cst.Subscript):
        iterated = iterated.value
    if not isinstance(iterated, cst.Name) or model.value(iterated).qual != "list":
        return False
    name = iterated.value
    filled = [store for store in model.sites.stores if store.owner_name == name and store.context.owner is loop.owner]
    return bool(filled) and all(store.how == "append" and _in_few_rounds(store.context, model) for store in filled)


def _in_few_rounds(context: Context, model: Model) -> bool:
    """Whether a loop of a few rounds is around: over few things, or over some of these beside others."""
    loops = context.enclosing_loops()
    facts = loops[0].loop if len(loops) == 1 else None
    if facts is None or not isinstance(facts.node, cst.For):
        return False
    iterated = facts.node.iter
    beside = isinstance(iterated, cst.Call) and model.resolve(iterated.func) == "zip"
    given = [argument.value for argument in iterated.args] if isinstance(iterated, cst.Call) and beside else []
    counts = [facts.count, *(len(held) for part in given if (held := model.value(part).items))]
    return any(count is not None and count <= FEW_ROUNDS for count in counts)

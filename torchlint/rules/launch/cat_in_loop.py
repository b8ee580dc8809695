"""TL203: a tensor grows by concatenation with itself on every round of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._patterns import operation
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _repairs
from torchlint.rules.launch._short import is_short
from torchlint.semantics import rounds, sites, surroundings
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.targets import bound_names, entries, loop_names
from torchlint.semantics.values import Gate, Kind, Value

_LITERALS: Final = (cst.SimpleString, cst.Integer)
_FAR: Final = 6  # names from a piece to what grows
# What makes less of a tensor than there was.
_REDUCES: Final = frozenset(
    """sum mean max min amax amin argmax argmin norm std var prod any all topk select narrow logsumexp median
    multinomial gather""".split()
)


class CatInLoop(Rule):
    code = "TL203"
    name = "cat-in-loop"
    bottleneck = "launch"
    summary = "A tensor grows by `torch.cat` with itself on every round of a loop"
    fix_availability = FixAvailability.SOMETIMES
    calls = tuple(
        f"torch.{name}" for name in "cat concat concatenate stack hstack vstack dstack column_stack row_stack".split()
    )
    words = tuple(name.removeprefix("torch.") for name in calls)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        grown = _grown(site, model)
        if grown is None or surroundings.in_test(site.context):
            return
        found = _growing_loop(site, grown, model)
        if found is None:
            yield from _growing_calls(grown, site, model)
            return
        loop, confidence = found
        facts = loop.loop
        assert facts is not None
        if is_short(loop, model) or _is_seldom(site.context, loop):
            return
        kind = rounds.iterates(loop)
        if model.is_role(site.context, Role.SETUP) or _over_names(loop):
            confidence = Confidence.POSSIBLE  # once, of what a program is set up with; or of a few kinds
        if kind is Iterates.LAYERS:
            confidence = Confidence.POSSIBLE  # a dense block: the next layer reads what has grown
        if _is_filled_up(grown, site.context, loop):
            confidence = Confidence.POSSIBLE  # no longer than is asked
        if isinstance(grown, cst.Subscript) and model.hot(site.context) is None:
            confidence = Confidence.POSSIBLE  # tables are merged from a few parts as well
        if _is_cut(grown, site, model):
            confidence = Confidence.POSSIBLE  # a buffer or a window: it stays about as long as it is
        if _doubles(site, grown, model):
            confidence = Confidence.POSSIBLE  # pieces of itself: it doubles, or a layer reads all of it
        if _feeds_module(grown, loop, model) and not model.autograd_off(site.context):
            confidence = Confidence.POSSIBLE  # the next round runs on all of it, and backward goes back through it
        hot = model.hot(site.context)
        yield Report(
            site.node,
            f"{quote(site.node)} allocates and copies all of {quote(grown)} anew on every round of the loop, "
            "so n rounds copy n²/2 pieces",
            f"collect the pieces in a list and join them once after the loop, or allocate {quote(grown)} at "
            "its final size and write into slices",
            confidence,
            (("the loop that grows it", facts.node), *because(hot)),
            _repairs.collected(model, site, grown, facts.node),
            Impact.LOW if hot is not None and _decodes(loop, hot.trains) else None,
        )


def _growing_calls(grown: cst.BaseExpression, site: sites.Call, model: Model) -> Iterator[Report]:
    """An attribute that grows whenever its method runs, as a cache of keys does; which loop runs it is not seen."""
    hot = model.hot(site.context)
    name = dotted(grown) or ""
    if hot is not None and name.startswith("self.") and not _is_cut(grown, site, model):
        yield Report(
            site.node,
            f"{quote(site.node)} allocates and copies all of {quote(grown)} anew on every call, so n calls copy n²/2 "
            "pieces",
            f"allocate {quote(grown)} at its final size and write into slices",
            Confidence.POSSIBLE,
            because(hot),
        )


def _grown(site: sites.Call, model: Model) -> cst.BaseExpression | None:
    """The part that the same call made on the round before."""
    parts = site.argument(0, "tensors")
    given = parts.node if parts is not None else None
    lists = (given.body, given.orelse) if isinstance(given, cst.IfExp) else (given,)  # the first round has no other
    for element in (e for one in lists if isinstance(one, (cst.List, cst.Tuple)) for e in one.elements):
        part = element.value
        if _is_entry_of_table(part, site, model):
            return part
        if isinstance(part, cst.Subscript) and not any(isinstance(at.slice, cst.Slice) for at in part.slice):
            part = part.value  # its rows in another order, as beams are put
        value = model.value(part)
        if site.node in value.origins or (value.ident is not None and _fed_back(site, model)):
            return None if _under_another_key(part, site, model) else element.value
    return None


def _is_entry_of_table(part: cst.BaseExpression, site: sites.Call, model: Model) -> bool:
    """Whether an entry of a dictionary or list is put back under its key: `rows[k] = torch.cat([rows[k], new])`."""
    return (
        isinstance(part, cst.Subscript)
        and model.value(part.value).kind is Kind.CONTAINER
        and any(entry.deep_equals(part) for entry in entries(site.statement))
    )


def _under_another_key(part: cst.BaseExpression, site: sites.Call, model: Model) -> bool:
    """Whether an entry of a table is joined and put under another key: `table[a] = torch.cat([table[b], ...])`."""
    put = entries(model.parent(site.node))
    taken = [part]
    if isinstance(part, cst.Name):
        taken = [
            a.value_node for a in model.sites.assigned(part.value, _round(site.context)) if a.value_node is not None
        ]
    return any(
        isinstance(one, cst.Subscript) and one.value.deep_equals(entry.value) and not one.deep_equals(entry)
        for one in taken
        for entry in put
    )


def _feeds_module(grown: cst.BaseExpression, loop: Context, model: Model) -> bool:
    """Whether a round also runs a module on all that has grown, as the layers of a dense block do; no decoding."""
    name = dotted(grown)
    return (
        name is not None
        and rounds.iterates(loop) is not Iterates.STEPS
        and any(
            call.function.kind is Kind.MODULE
            and call.context.inside(loop)
            and any(dotted(argument.node) == name for argument in call.arguments)
            for call in model.sites.calls
        )
    )


def _fed_back(site: sites.Call, model: Model) -> bool:
    """Whether a caller passes what the call gave before."""
    calls = (model.call(caller.node) for caller in model.function_of(site.context).callers)
    return any(site.node in argument.value.origins for call in calls if call is not None for argument in call.arguments)


def _is_cut(grown: cst.BaseExpression, site: sites.Call, model: Model) -> bool:
    """Whether a round, or a call, also keeps only a part of what it has joined: `pending = pending[:, stride:]`."""
    name = dotted(grown)
    around = _round(site.context)
    return name is not None and any(
        assign.context.owner is site.context.owner
        and isinstance(assign.value_node, cst.Subscript)
        and dotted(assign.value_node.value) == name
        and any(isinstance(part.slice, cst.Slice) for part in assign.value_node.slice)
        for assign in model.sites.assigned(name, around)
    )


def _is_filled_up(grown: cst.BaseExpression, context: Context, loop: Context) -> bool:
    """Whether it grows only as long as it is shorter than something: `if kept.size(0) < 10:`."""
    names = names_read(grown)
    tests = (
        link.test
        for link in context.chain()
        if link.scope is Scope.BRANCH and link.inside(loop) and not link.negated and link.test is not None
    )
    return any(
        isinstance(test, cst.Comparison)
        and isinstance(test.comparisons[0].operator, (cst.LessThan, cst.LessThanEqual))
        and names & names_read(test.left)
        and any(
            isinstance(part, cst.Name) and part.value in ("size", "shape", "len", "numel")
            for part in within([test.left])
        )
        for test in tests
    )


def _doubles(site: sites.Call, grown: cst.BaseExpression, model: Model) -> bool:
    """Whether another part is a plain operation on the very tensor that grows: then few rounds make it large."""
    name = dotted(grown)
    parts = site.arguments[0].node
    if name is None or not isinstance(parts, (cst.List, cst.Tuple)):
        return False
    for part in (element.value for element in parts.elements if element.value is not grown):
        below = list(within([part]))
        calls = [operation(model, node) for node in below if isinstance(node, cst.Call)]
        if all(made is not None and made.name.islower() for made in calls) and any(
            isinstance(node, (cst.Name, cst.Attribute)) and dotted(node) == name for node in below
        ):
            return True
        around = _round(site.context)
        if around is not None and _is_made_of(part, name, around, model, _FAR):
            return True
    return False


def _is_made_of(node: cst.CSTNode, name: str, loop: Context, model: Model, far: int) -> bool:
    """Whether an expression is as long as what a name holds: made of it by operations that keep its length."""
    if isinstance(node, (cst.Name, cst.Attribute)):
        if dotted(node) == name:
            return True
        own = node.value if isinstance(node, cst.Name) and far else None
        values = [assign.value_node for assign in model.sites.assigned(own, loop)]
        made = [value for value in values if value is None or own not in names_read(value)]  # not of what it was before
        return bool(made) and all(
            value is not None and _is_made_of(value, name, loop, model, far - 1) for value in made
        )
    if isinstance(node, cst.BinaryOperation):
        return any(_is_made_of(side, name, loop, model, far) for side in (node.left, node.right))
    if isinstance(node, cst.Subscript):
        return all(_takes_many(part.slice) for part in node.slice) and _is_made_of(node.value, name, loop, model, far)
    if isinstance(node, cst.Call):
        site = model.call(node)
        callee = site.callee if site is not None else None
        last = (callee or "").rpartition(".")[2]
        if site is None or not (callee or "").startswith("torch.") or last in _REDUCES or last.startswith("new_"):
            return False
        operands = [argument.node for argument in site.arguments]
        operands += [site.receiver_node] if site.receiver_node is not None and site.method is not None else []
        return any(_is_made_of(operand, name, loop, model, far) for operand in operands)
    return False


def _takes_many(part: cst.BaseSlice) -> bool:
    """Whether a slice keeps most of an axis: not one position, nor a few at the end."""
    if isinstance(part, cst.Index):
        return isinstance(part.value, cst.Ellipsis)
    return isinstance(part, cst.Slice) and part.lower is None


def _growing_loop(site: sites.Call, grown: cst.BaseExpression, model: Model) -> tuple[Context, Confidence] | None:
    """The loop that makes the tensor grow: around the call, or around a call of its function."""
    if _is_entry_of_table(grown, site, model):
        return _loop_of_entry(site, names_read(grown), model)
    around = _round(site.context)
    if around is not None:
        return around, Confidence.LIKELY
    return _calling_loop(site, site.context, model, set())


def _loop_of_entry(site: sites.Call, names: set[str], model: Model) -> tuple[Context, Confidence] | None:
    """The loop in which one entry of a table grows; a loop through the keys comes to each of them once."""
    confidence = Confidence.LIKELY
    for loop in site.context.enclosing_loops():
        if loop_names(loop.node) & names:
            names = names - loop_names(loop.node)
            if not _goes_through_all(loop):
                confidence = Confidence.POSSIBLE
        elif isinstance(loop.node, (cst.For, cst.While)):
            bound = [assign.value_node for name in names for assign in model.sites.assigned(name, loop)]
            return None if any(not isinstance(value, _LITERALS) for value in bound) else (loop, confidence)
    return None


def _goes_through_all(loop: Context) -> bool:
    """Whether a loop goes through the names or numbers of a table's entries, the same in each run of it."""
    iterable = loop.node.iter if isinstance(loop.node, cst.For) else None
    if isinstance(iterable, cst.Call):
        called = iterable.func.attr.value if isinstance(iterable.func, cst.Attribute) else dotted(iterable.func)
        return called in ("items", "keys", "range", "enumerate")
    return isinstance(iterable, (cst.List, cst.Tuple))


def _round(context: Context) -> Context | None:
    """The innermost loop that keeps something from one round to the next, as a comprehension does not."""
    return next((loop for loop in context.enclosing_loops() if isinstance(loop.node, (cst.For, cst.While))), None)


def _calling_loop(
    site: sites.Call, context: Context, model: Model, seen: set[FunctionInfo]
) -> tuple[Context, Confidence] | None:
    owner = model.function_of(context)
    callers = owner.callers if owner not in seen else ()
    seen.add(owner)
    for caller in callers:
        around = _round(caller.context)
        call = model.call(caller.node)
        if call is None:
            continue
        if around is None:
            further = _calling_loop(site, caller.context, model, seen)
            if further is not None:
                return further
            continue
        if any(site.node in argument.value.origins for argument in call.arguments):
            return around, Confidence.LIKELY
        if owner.method == "instance":  # an attribute that grows call by call
            return around, Confidence.POSSIBLE if _made_inside(call.receiver, around) else Confidence.LIKELY
    return None


def _made_inside(owner: Value | None, loop: Context) -> bool:
    """Whether the object may be made anew on every round, or nothing is known of where it comes from."""
    if owner is None or loop.node is None or not owner.origins:
        return True
    body = set(within([loop.node]))
    return any(origin in body for origin in owner.origins)


def _is_seldom(context: Context, loop: Context) -> bool:
    """Whether the call runs in a few rounds of the loop only."""
    return any(link.gate is Gate.RARE and link.inside(loop) for link in context.chain())


def _over_names(loop: Context) -> bool:
    """Whether each round asks which of a few names, written as strings, is at hand."""
    node = loop.node
    if not isinstance(node, cst.For):
        return False
    targets = bound_names(node.target)
    return any(
        isinstance(inner, cst.Comparison)
        and isinstance(inner.left, cst.Name)
        and inner.left.value in targets
        and any(isinstance(part, cst.SimpleString) for part in within([inner.comparisons[0].comparator]))
        for inner in within([node.body])
    )


def _decodes(loop: Context, trains: bool) -> bool:
    """Whether the loop runs a model on what grows, and does not train it: a token is small against that.

    Not one over batches of data, whose results grow.
    """
    iterable = loop.loop.iterable if loop.loop is not None else None
    over_data = iterable is not None and iterable.kind is Kind.LOADER
    return rounds.iterates(loop) is Iterates.STEPS and not trains and not over_data

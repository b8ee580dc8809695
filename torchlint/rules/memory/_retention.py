"""What outlives a step: the questions that the retention rules share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._patterns import operation
from torchlint.rules.memory._decorators import perhaps_inference
from torchlint.semantics import rounds, sites
from torchlint.semantics.contexts import Context, Iterates, Scope, leaves
from torchlint.semantics.functions import COLD_ROLES, Effect, EffectKind, FunctionInfo, Role
from torchlint.semantics.hotness import Hot
from torchlint.semantics.model import Model
from torchlint.semantics.names import attribute_asked, dotted, holder, identifier
from torchlint.semantics.nodes import below, within
from torchlint.semantics.surroundings import autograd_off
from torchlint.semantics.values import ATTACHED, MAYBE, Kind, Value

# Functions, methods and attributes of tensors and lists whose answer is the same with a graph and without one.
_ASKING: Final = frozenset("len float int bool complex".split())
_ASKED: Final = frozenset("item tolist detach data shape size dtype device numel dim ndim".split())
_GROWING: Final = frozenset("append extend insert appendleft clear".split())
_DEEPEST: Final = 8  # expressions around a value that are looked through

PRIMARIES: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)  # `.detach()` may be written behind these


@dataclass(frozen=True, slots=True)
class Retention:
    """That something a step makes is kept past the step, and by what."""

    hot: Hot
    loop: Context | None  # the step loop in the same function, where there is one
    confidence: Confidence


def graph_confidence(value: Value, context: Context, model: Model) -> Confidence | None:
    """How sure it is that a graph hangs on the value; None where none does."""
    if not holds_tensors(value) or not value.graph & (ATTACHED | MAYBE):
        return None
    if autograd_off(context, perhaps=True) or model.grad_off_for_all(context):
        return None
    if (context.owner is not None and perhaps_inference(context.owner)) or _searches(context, model):
        return Confidence.POSSIBLE
    if value.graph & ATTACHED:
        return value.conf if value.kind is Kind.TENSOR else min(value.conf, Confidence.LIKELY)
    return Confidence.POSSIBLE


def holds_tensors(value: Value) -> bool:
    """Whether it is a tensor, or holds such, or is one of what callers give: a loss here, an array there."""
    return value.is_tensor or (value.kind is Kind.UNKNOWN and value.attached)


def _searches(context: Context, model: Model) -> bool:
    """Whether code stands in a loop that decodes: it counts rounds or runs until it is done, and trains nothing.

    Who starts that mostly turns autograd off, also where nobody is seen who does.
    """
    hot = model.hot(context)
    if hot is None or hot.trains or hot.interface:
        return False
    facts = next((loop.loop for loop in context.enclosing_loops() if loop.node is hot.loop), None)
    if facts is None:
        return False
    return facts.iterable is None or facts.iterable.qual in ("range", "iterator", "items", "tuple")


def kept_past_step(name: str, context: Context, model: Model) -> Retention | None:
    """Whether what the name holds outlives the step in which code at `context` runs.

    A local name does where no round of the step loop around gives it a new value; an attribute where nothing that runs
    once per step resets it.
    """
    hot = model.hot(context)
    if hot is None:
        return None
    owner = context.owner
    if owner is not None and owner.role in COLD_ROLES | {Role.HOOK}:
        return None
    base = name.split("[", 1)[0]
    if "." in base:
        return _kept_attribute(base, context, hot, model)
    for loop in context.enclosing_loops():
        if _reset_inside(base, loop, owner, model):
            return None
        if rounds.iterates(loop) is Iterates.STEPS and not _is_part_of_step(hot, owner, model):
            return Retention(hot, loop, Confidence.SURE)
    if owner is not None and _outlives_its_maker(base, owner, model):
        return Retention(hot, None, Confidence.LIKELY)
    return None


def _is_part_of_step(hot: Hot, owner: FunctionInfo | None, model: Model) -> bool:
    """Whether a loop that runs a model is a part of one step: a loop that trains calls the function around."""
    if hot.trains or owner is None or owner.body is None:
        return False
    called = model.hot(owner.body)
    return called is not None and called.trains


def _outlives_its_maker(name: str, owner: FunctionInfo, model: Model) -> bool:
    """Whether a function writes to a name of a scope around it that is not itself made anew on each step."""
    assigned = (assign for assign in model.sites.assigned(name) if not _refers_to(assign.value_node, name))
    makers = {model.function_of(assign.context) for assign in assigned}
    if owner in makers or any(parameter.name == name for parameter in owner.parameters):
        return False
    scope = owner.parent
    while scope is not None and scope not in makers:
        scope = scope.parent
    if scope is None:
        return model.root in makers
    return scope.body is not None and model.hot(scope.body) is None


def _reset_inside(name: str, loop: Context, owner: FunctionInfo | None, model: Model) -> bool:
    return any(
        not _refers_to(assign.value_node, name)
        for assign in model.sites.assigned(name, loop)
        if assign.context.owner is owner and not assign.context.rare  # every hundred steps resets no step
    )


def _refers_to(node: cst.BaseExpression | None, name: str) -> bool:
    """Whether the name itself is part of an expression: `a = a + b` resets nothing."""
    return node is not None and any(isinstance(part, cst.Name) and part.value == name for part in below(node))


def _kept_attribute(name: str, context: Context, hot: Hot, model: Model) -> Retention | None:
    owner = context.owner
    attribute = name.rsplit(".", 1)[-1]
    holder = name.split(".", 1)[0]
    conf = Confidence.LIKELY
    if holder != "self":
        # An object of the surrounding function: it must outlive the loop as a local name must.
        for loop in context.enclosing_loops():
            if _reset_inside(holder, loop, owner, model):
                return None
            if rounds.iterates(loop) is Iterates.STEPS:
                return Retention(hot, loop, conf)
        if any(
            isinstance(assign.value_node, cst.Call) and assign.context.owner is owner
            for assign in model.sites.assigned(holder)
        ):
            return None  # what a call has made for this step
    for assign in model.sites.assigns:
        if assign.name is None or not assign.name.endswith("." + attribute) or assign.context.rare:
            continue
        if holder == "self" and _is_of_others(assign, owner):
            continue
        if _refers_to_attribute(assign.value_node, attribute):
            continue
        here = assign.context.owner is owner
        if here and _same_straight_run(assign.context, context):
            return None  # given a new value on the same run
        if model.hot(assign.context) is not None:
            if not here:
                return None
            conf = Confidence.POSSIBLE  # kept over the rounds of this loop, which may be one step of another
    places = emptied(name, model)
    if any(model.hot(place) is not None for place in places):
        return None
    if not all(place.owner is not None and place.owner.role is Role.SETUP for place in places):
        conf = Confidence.POSSIBLE  # how often is not known; at an epoch's end is too late
    if owner is not None and owner.role is Role.FORWARD:
        conf = Confidence.POSSIBLE
    steps = (link for link in context.enclosing_loops() if rounds.iterates(link) is Iterates.STEPS)
    return Retention(hot, next(steps, None), conf)


def _is_of_others(assign: sites.Assign, owner: FunctionInfo | None) -> bool:
    """Whether an attribute of `self` is stored in a class that has nothing to do with that of a method."""
    cls = owner.cls if owner is not None else None
    other = assign.context.owner.cls if assign.context.owner is not None else None
    stored = (assign.name or "").startswith("self.")
    return stored and cls is not None and other is not None and cls.common_base(other) is None


def emptied(name: str, model: Model) -> list[Context]:
    """Where the file empties what the name, or an attribute of that name, holds."""
    last = name.rsplit(".", 1)[-1]
    return [
        call.context
        for call in model.sites.calls
        if call.method in ("clear", "pop", "popleft", "reset")
        and (holder(call.receiver_node) or "").rsplit(".", 1)[-1] == last
    ]


def _refers_to_attribute(node: cst.BaseExpression | None, attribute: str) -> bool:
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, cst.BinaryOperation):
            todo += [part.left, part.right]
        elif isinstance(part, cst.IfExp):
            todo += [part.body, part.orelse]
        elif part is not None and (dotted(part) or attribute_asked(part) or "").endswith("." + attribute):
            return True
    return node is None


def _same_straight_run(a: Context, b: Context) -> bool:
    """Whether code at `a` runs whenever the step that reaches `b` runs: no step loop lies between them."""
    loops = [loop for loop in b.enclosing_loops() if rounds.iterates(loop) is Iterates.STEPS]
    return not loops or a.inside(loops[0])


def needed_by_backward(name: str, context: Context, model: Model) -> bool:
    """Whether a backward somewhere in the file runs through what the name holds."""
    base = name.split("[", 1)[0]
    owner = model.function_of(context)
    if any(scope.needs_graph(base) for scope in owner.outward()) or _goes_into_loss(base, owner, model):
        return True
    if "." not in base:
        return False
    attribute = "." + base.rsplit(".", 1)[-1]
    for function in (*model.functions.values(), model.root):
        names = {*function.flows, *function.roots}
        for sources in function.flows.values():
            names |= sources
        if any(known.endswith(attribute) and function.needs_graph(known) for known in names):
            return True
    return False


def _goes_into_loss(name: str, owner: FunctionInfo, model: Model) -> bool:
    """Whether backward runs on what a call makes of the name: `loss = criterion(outputs, targets)`."""
    return any(
        assign.context.owner is owner
        and isinstance(assign.value_node, cst.Call)
        and any(dotted(argument.value) == name for argument in assign.value_node.args)
        and assign.name is not None
        and owner.needs_graph(assign.name)
        for assign in model.sites.assigns
    )


def feeds_forward(name: str, context: Context, model: Model) -> bool:
    """Whether an attribute of a module is the state of a recurrence: what a later forward computes with."""
    cls = context.owner.cls if context.owner is not None else None
    if cls is None or not name.startswith("self.") or cls.find_method("forward") is None:
        return False
    return any(
        isinstance(node, cst.Attribute)
        and dotted(node) == name
        and not isinstance(model.parent(node), (cst.AssignTarget, cst.AugAssign))
        and not _tells_no_graph(model, node)
        for function in model.functions.values()
        if function.cls is cls and function.body is not None and model.hot(function.body) is not None
        for node in within(function.body_nodes)
    )


def seen_whole(name: str, context: Context, model: Model) -> bool:
    """Whether all that reads what a name holds is in sight, and gives the same with a graph and without one.

    A file whose own top level trains is a program: nobody imports its names.
    """
    base = name.split("[", 1)[0]
    if "." in base:
        return False
    outermost = model.module if context.owner is None else [*context.owner.outward()][-1].node
    bound = False
    for node in below(outermost):
        if not isinstance(node, cst.Name) or identifier(node.value) != base:
            continue
        around = model.parent(node)
        if isinstance(around, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)) and around.target is node:
            bound = True
        elif not _is_name_alone(node, around) and not _tells_no_graph(model, node):
            return False
    return bound


def may_hold_graph(model: Model, node: cst.Name | cst.Attribute) -> bool:
    """Whether an expression may give a graph to what does not only ask for numbers or sizes."""
    value = model.value(node)
    if value.kind is Kind.CONTAINER and value.elem is not None:
        value = value.elem
    if value.kind not in (Kind.TENSOR, Kind.BATCH) or not value.graph & (ATTACHED | MAYBE):
        return False
    around = model.parent(node)
    if isinstance(around, cst.AssignTarget) or (isinstance(node, cst.Name) and _is_name_alone(node, around)):
        return False
    return not _tells_no_graph(model, node)


def _is_name_alone(node: cst.Name, around: cst.CSTNode | None) -> bool:
    """Whether a name is no variable: behind a dot, or that of an argument."""
    return (isinstance(around, cst.Attribute) and around.attr is node) or (
        isinstance(around, cst.Arg) and around.keyword is node
    )


def _tells_no_graph(model: Model, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Whether what an expression gives is only asked for what a graph does not change: numbers, sizes, their sums."""
    around = model.parent(node)
    if depth > _DEEPEST or around is None:
        return False
    if isinstance(around, cst.Arg):
        around = model.parent(around)
    if isinstance(around, cst.Attribute):
        call = model.parent(around)
        if not isinstance(call, cst.Call) or call.func is not around:
            return around.attr.value in _ASKED
        if around.attr.value in _GROWING:
            return isinstance(model.parent(call), cst.Expr)
        return around.attr.value in _ASKED or (
            operation(model, call) is not None and _tells_no_graph(model, call, depth + 1)
        )
    if isinstance(around, cst.Call):
        site = model.call(around)
        if site is not None and site.callee in _ASKING:
            return True
        if operation(model, around) is None and (site is None or site.callee != "sum"):
            return False
        return _tells_no_graph(model, around, depth + 1)
    if isinstance(around, (cst.BinaryOperation, cst.Subscript)):
        return _tells_no_graph(model, around, depth + 1)
    if isinstance(around, cst.Assign):
        uses = model.uses.get(node)
        plain = all(isinstance(target.target, cst.Name) for target in around.targets)
        return bool(uses) and plain and all(_tells_no_graph(model, use, depth + 1) for use in uses or ())
    return isinstance(around, (cst.Comparison, cst.Del, cst.If))


def _returns(function: FunctionInfo, name: str) -> bool:
    """Whether a name stands in what a function returns, or is part of what does."""
    return name in function.returned or any(name in function.flows.get(other, ()) for other in function.returned)


def _runs_along(other: Context, context: Context) -> bool:
    """Whether code at `other` runs on every round that reaches `context`, but for the last.

    No branch stands around it alone, other than one that the loop is left by: `if converged: break`.
    """
    return all(context.inside(link) or _goes_on(link) for link in other.chain() if link.scope is Scope.BRANCH)


def _goes_on(link: Context) -> bool:
    """Whether a branch is what follows an `if` that leaves the loop."""
    return link.negated and isinstance(link.node, cst.If) and link.node.orelse is None and leaves(link.node.body)


def _asks_for_gradients(loop: Context) -> bool:
    """Whether all that runs backward in a loop is `autograd.grad`, which asks for gradients: a term may need them."""
    found = list(_backwards(loop.loop.body_effects)) if loop.loop is not None else []
    return bool(found) and all(
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "grad"
        for node in found
    )


def _backwards(effects: list[Effect]) -> Iterator[cst.CSTNode]:
    """The calls that run backward among some effects, and in the functions that these call."""
    seen: set[FunctionInfo] = set()
    todo = list(effects)
    while todo:
        effect = todo.pop()
        if effect.kind is EffectKind.BACKWARD:
            yield effect.node
        elif effect.callee is not None and effect.callee not in seen:
            seen.add(effect.callee)
            todo += effect.callee.effects


def given_to_caller(name: str, context: Context, loop: Context | None, model: Model) -> bool:
    """Whether a caller gets what the name holds, and may run backward through it.

    Not where the terms' own backward ran in the loop already, and not where the loop goes over a loader: that sums over
    an epoch, which nobody differentiates.
    """
    owner = context.owner
    base = name.split("[", 1)[0]
    if owner is None or "." in base:
        return False
    if not any(_returns(function, base) for function in owner.outward()):
        return False
    if loop is not None and loop.loop is not None:
        iterable = loop.loop.iterable
        if iterable is not None and iterable.kind is Kind.LOADER:
            return False
        backward = [effect for effect in loop.loop.body_effects if effect.kind is EffectKind.BACKWARD]
        if any(_runs_along(effect.context, context) for effect in backward):
            return False
        hot = model.hot(context)
        if hot is not None and hot.trains and not backward and not _asks_for_gradients(loop):
            return False
    elif owner.parent is not None:  # a closure, which is a step: its own backward has run
        backward = [effect for effect in owner.effects if effect.kind is EffectKind.BACKWARD]
        return not any(_runs_along(effect.context, context) for effect in backward)
    return True

"""TL509: the same tensor or module is moved to the device on every round of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge.devices import PLACING
from torchlint.knowledge.names import RANDOM
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.pipeline import _repairs
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.semantics import rounds, sites
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, Iterates
from torchlint.semantics.functions import COLD_ROLES, ClassInfo, FunctionInfo, Role
from torchlint.semantics.hotness import Hot
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import children
from torchlint.semantics.targets import loop_names
from torchlint.semantics.values import ANYWHERE, DEVICE, HOST, Kind, Value

_NAMES_PLACES: Final = (Kind.DEVICE, Kind.NUMBER, Kind.STRING, Kind.UNKNOWN)


class LoopInvariantTransfer(Rule):
    code = "TL509"
    name = "loop-invariant-transfer"
    bottleneck = "pipeline"
    summary = "The same tensor or module is moved to the device on every iteration"
    fix_availability = FixAvailability.SOMETIMES
    calls = tuple(f".{name}" for name in PLACING)
    words = PLACING

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        receiver, name = site.receiver, dotted(site.receiver_node) if site.receiver_node is not None else None
        if receiver is None or receiver.loaders or not _reaches_device(site, receiver):
            return
        hot = model.hot(site.context)
        if hot is None or transfers.copied_at_rate(model, site.context, Confidence.LIKELY) is None:
            return
        if name is not None and _is_buffer(name, site.context):
            return  # it is where its module is
        is_module = receiver.kind is Kind.MODULE or _is_called(site, model)
        loop = _loop_that_repeats(site, name, model) if name is not None else None
        if loop is not None:
            confidence = _sureness(site, receiver, loop)
        elif (
            _is_constant_of_object(site.receiver_node, receiver, site.context, model)
            or _is_constant_given(site, receiver, model)
            or _is_constant_outside(site, receiver, name, model)
            or _is_module_kept(site, name, model)
        ):
            confidence = Confidence.LIKELY
        elif _is_constant_of_object(site.receiver_node, receiver, site.context, model, anywhere=True):
            confidence = Confidence.POSSIBLE  # it may be on the device already
        else:
            return
        yield Report(
            site.node,
            f"{quote(site.node)} moves the same {'module' if is_module else 'tensor'} to the device {often(hot)}",
            "move it once before the loop"
            if loop is not None or is_module
            else "register it as a buffer, which moves with its module, or move it where it is made",
            confidence,
            _related(hot, loop),
            _repairs.moved_once(model, site, loop.node) if loop is not None and loop.node is not None else None,
        )


def _is_buffer(name: str, context: Context) -> bool:
    """Whether an attribute is a buffer of its module: only `register_buffer` stores it by a call."""
    holder, _, attribute = name.rpartition(".")
    if context.owner is None or context.owner.cls is None or holder != "self":
        return False
    made = next((cls.stores[attribute] for cls in context.owner.cls.lineage() if attribute in cls.stores), None)
    return made is not None and all(isinstance(node, cst.Call) for node in made)


def _reaches_device(site: sites.Call, receiver: Value) -> bool:
    if receiver.kind is Kind.MODULE:
        return site.method != "to" or bool(site.result.device & (DEVICE | ANYWHERE)) and not _only_dtype(site)
    transfer = transfers.transfer_of(site)
    return transfer is not None and transfers.reaches_device(transfer) is not None


def _only_dtype(site: sites.Call) -> bool:
    return all(argument.value.kind is Kind.DTYPE for argument in site.arguments)


def _loop_that_repeats(site: sites.Call, name: str, model: Model) -> Context | None:
    """The widest loop up to that over steps in which neither the name nor what it holds changes; None if none."""
    widest: Context | None = None
    for loop in site.context.enclosing_loops():
        if _changes(name, loop, model) or _goes_elsewhere(site, loop, model):
            break
        widest = loop
        if rounds.iterates(loop) is Iterates.STEPS:
            break
    return widest


def _goes_elsewhere(site: sites.Call, loop: Context, model: Model) -> bool:
    """Whether a round names another device than the one before: one of several, or the next after one that was full.

    Not where it asks a tensor for its place, which is the same for all of them.
    """
    todo: list[cst.CSTNode] = [argument.node for argument in site.arguments]
    while todo:
        part = todo.pop()
        if isinstance(part, cst.Attribute) and part.attr.value == "device":
            continue
        if isinstance(part, cst.Name) and model.value(part).kind in _NAMES_PLACES and _is_bound_in(part, loop, model):
            return True
        todo += children(part)
    return False


def _is_bound_in(name: cst.Name, loop: Context, model: Model) -> bool:
    return (
        name.value in loop_names(loop.node)
        or any(model.sites.assigned(name.value, loop))
        or any(site.target == name.value and site.context.inside(loop) for site in model.sites.accumulations)
    )


def _changes(name: str, loop: Context, model: Model) -> bool:
    """Whether the loop binds the name or what holds it anew, writes into it, or moves it away again."""
    heads = {name}
    while "." in name:
        name = name.rsplit(".", 1)[0]
        heads.add(name)
    if any(model.sites.assigned(head, loop) for head in heads):
        return True
    written, called = _touched(model)
    if any(context.inside(loop) for head in heads for context in written.get(head, ())):
        return True
    for call in (call for head in heads for call in called.get(head, ()) if call.context.inside(loop)):
        assert call.method is not None
        in_place = call.method.endswith("_") and not call.method.endswith("__")
        if in_place or call.method == "cpu" or (call.method == "to" and call.result.device == HOST):
            return True
        if call.target is not None and call.receiver is not None and call.receiver.cls is not None:
            stored = {attribute for _, attribute, _ in call.target.attributes}
            if any(head.rsplit(".", 1)[-1] in stored for head in heads):
                return True
    return False


@question(None)
def _touched(model: Model) -> tuple[dict[str, list[Context]], dict[str, list[sites.Call]]]:
    """By name: where something is stored in what it holds, and the methods that are called on it."""
    written: dict[str, list[Context]] = {}
    for store in model.sites.stores:
        if store.owner_name is not None:
            written.setdefault(store.owner_name, []).append(store.context)
    for subscript in model.sites.subscripts:
        name = dotted(subscript.node.value) if subscript.mode in ("write", "update") else None
        if name is not None:
            written.setdefault(name, []).append(subscript.context)
    called: dict[str, list[sites.Call]] = {}
    for call in model.sites.calls:
        name = dotted(call.receiver_node) if call.receiver_node is not None and call.method is not None else None
        if name is not None:
            called.setdefault(name, []).append(call)
    return written, called


def _sureness(site: sites.Call, receiver: Value, loop: Context) -> Confidence:
    """A tensor of unknown place may be on the device already; in the loop over steps it is moved for a reason.

    Not so where its type is asked for as well: that may be the reason.
    """
    if receiver.device == HOST:
        return max(receiver.conf, Confidence.LIKELY)
    casts = any(argument.value.kind is Kind.DTYPE for argument in site.arguments)
    return Confidence.LIKELY if rounds.iterates(loop) is Iterates.STEPS and not casts else Confidence.POSSIBLE


def _is_constant_given(site: sites.Call, receiver: Value, model: Model) -> bool:
    """Whether it is an argument, and what each call that makes the code hot gives for it is such a tensor.

    What `functools.partial` holds for a hook is the same in every call.
    """
    owner = site.context.owner
    parameter = next((p for p in owner.parameters if p.index == receiver.ident), None) if owner is not None else None
    if owner is None or parameter is None or dotted(site.receiver_node or site.node) != parameter.name:
        return False
    if owner.role is Role.HOOK and not owner.callers:
        return receiver.kind is Kind.TENSOR and receiver.device == HOST and bool(parameter.passed)
    calls = [model.call(caller.node) for caller in owner.callers if model.hot(caller.context) is not None]
    for call in calls:
        given = call.argument_for(owner, parameter.name) if call is not None else None
        if call is None or given is None or not _is_constant_of_object(given.node, given.value, call.context, model):
            return False
    return bool(calls)


def _is_constant_outside(site: sites.Call, receiver: Value, name: str | None, model: Model) -> bool:
    """Whether it is a tensor on the host that code around the function makes once and nothing writes to."""
    owner = site.context.owner
    if owner is None or name is None or receiver.kind is not Kind.TENSOR or receiver.device != HOST:
        return False
    if any(parameter.name == name for parameter in owner.parameters):
        return False
    made = [assign for assign in model.sites.assigned(name) if assign.context.owner in {None, *owner.outward()}]
    if len(made) != 1 or made[0].context.owner is owner or made[0].context.enclosing_loops():
        return False
    if model.hot(made[0].context) is not None:
        return False  # both may run once a step
    written, called = _touched(model)
    changing = (call for call in called.get(name, ()) if call.method is not None and call.method.endswith("_"))
    return name not in written and not any(not (call.method or "").endswith("__") for call in changing)


def _is_constant_of_object(
    node: cst.BaseExpression | None, receiver: Value, context: Context, model: Model, *, anywhere: bool = False
) -> bool:
    """Whether what is moved is made of tensors on the host that an object holds, and no method but set-up changes.

    `anywhere`: or of what is not known, and may be such tensors.
    """
    owner = context.owner
    if owner is None or owner.cls is None or owner.role in COLD_ROLES or node is None:
        return False
    unknown = anywhere and receiver.kind in (Kind.TENSOR, Kind.UNKNOWN) and receiver.device == ANYWHERE
    if not unknown and (receiver.kind is not Kind.TENSOR or receiver.device != HOST):
        return False
    if receiver.qual == "torch.nn.Parameter":
        return False
    held = _attributes_in(node, owner, model)
    return bool(held) and not any(_changed_by_methods(name, owner.cls, model) for name in held)


def _attributes_in(node: cst.BaseExpression, owner: FunctionInfo, model: Model) -> set[str]:
    """The attributes of `self` that an expression is made of; none where anything else in it may change.

    Also through names that the function gives one value.
    """
    names: set[str] = set()
    followed: set[str] = {parameter.name for parameter in owner.parameters}
    todo: list[cst.CSTNode] = [node]
    while todo:
        part = todo.pop()
        name = dotted(part) if isinstance(part, (cst.Name, cst.Attribute)) else None
        if _bounds(part, model):
            continue
        if name is not None and name.startswith("self."):
            names.add(name)
        elif name is not None:
            if model.value(part).kind in (Kind.NAMESPACE, Kind.DTYPE, Kind.NONE):
                continue
            made = [assign.value_node for assign in model.sites.assigned(name) if assign.context.owner is owner]
            if len(made) != 1 or made[0] is None or name in followed:
                return set()
            followed.add(name)
            todo.append(made[0])
        elif isinstance(part, cst.Call):
            if (dotted(part.func) or "").rpartition(".")[2] in RANDOM:
                return set()
            if isinstance(part.func, cst.Attribute):
                todo.append(part.func.value)
            elif model.value(part.func).kind is not Kind.FUNCTION:
                return set()
            todo += [argument.value for argument in part.args]
        else:
            todo += children(part)
    return names


def _bounds(node: cst.CSTNode, model: Model) -> bool:
    """Whether a number is an end of a slice: however much of the whole is taken, all of it can stay on the device."""
    return isinstance(model.parent(node), cst.Slice) and model.value(node).kind is Kind.NUMBER


def _changed_by_methods(name: str, cls: ClassInfo, model: Model) -> bool:
    """Whether `self.name`, or what holds it, changes after construction, or moves with a module as a buffer does."""
    attribute = name.split(".")[1]
    made = cls.stores.get(attribute)
    if not made or any(isinstance(node, cst.Call) for node in made):  # `register_buffer` is a call
        return True
    for method in cls.methods.values():
        if method.role is not Role.SETUP and any(stored == attribute for _, stored, _ in method.attributes):
            return True
    heads = {".".join(name.split(".")[:length]) for length in range(2, name.count(".") + 2)}
    for subscript in model.sites.subscripts:
        if subscript.mode in ("write", "update") and dotted(subscript.node.value) in heads:
            return True
    return any(
        call.method is not None
        and call.receiver_node is not None
        and call.method.endswith("_")
        and not call.method.endswith("__")
        and dotted(call.receiver_node) in heads
        for call in model.sites.calls
    )


def _is_called(site: sites.Call, model: Model) -> bool:
    """Whether what is moved is called at once, as modules are: `self.teacher.to(device)(x)`."""
    around = model.parent(site.node)
    return isinstance(around, cst.Call) and around.func is site.node


def _is_module_kept(site: sites.Call, name: str | None, model: Model) -> bool:
    """Whether a module that an object holds is moved and called at once, and nothing moves it away again."""
    if name is None or not name.startswith("self.") or not _is_called(site, model):
        return False
    return not any(
        call.method in ("cpu", "to")
        and call is not site
        and call.receiver_node is not None
        and dotted(call.receiver_node) == name
        for call in model.sites.calls
    )


def _related(hot: Hot, loop: Context | None) -> tuple[tuple[str, cst.CSTNode], ...]:
    related = because(hot)
    if loop is None or loop.loop is None or any(node is loop.loop.node for _, node in related):
        return related
    return (("nothing changes it in this loop", loop.loop.node), *related)

"""TL512: a tensor made on one stream is used on another, and nothing orders the two."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.pipeline._order import Order, Orders
from torchlint.rules.pipeline._transfers import transfer_of
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import EffectKind, FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within
from torchlint.semantics.values import DEVICE, HOST, MAYBE_TENSORS, Kind, Value

# Methods and functions that do not use the data on the device.
_NOT_USING: Final = frozenset(
    "record_stream size dim numel stride data_ptr append add put extend insert is_pinned wait_stream wait_event".split()
)
_ORDERING: Final = frozenset("wait_stream wait_event".split())
_CURRENT: Final = frozenset("torch.cuda.current_stream torch.cuda.default_stream".split())


class CrossStreamUse(Rule):
    code = "TL512"
    name = "cross-stream-use"
    bottleneck = "pipeline"
    impact = Impact.HIGH
    summary = "A tensor is used on another stream than it was made on, and nothing orders the two"
    words = ("stream",)

    def on_module(self, model: Model) -> Iterator[Report]:
        orders = Orders(model)
        for entered in model.sites.withs:
            stream = _side_stream(entered, model)
            if stream is None or "graph capture" in entered.context.flags:
                continue
            function = model.function_of(entered.context)
            region = _Region(model, entered, stream, function, orders.of(function))
            yield from region.unordered_use()
            yield from region.unordered_reading(orders)
            yield from region.early_release()


def _side_stream(entered: sites.With, model: Model) -> str | None:
    """The stream that a `with` selects, as written; None where it is the current one anyway."""
    if "stream" not in entered.context.flags or not isinstance(entered.item, cst.Call) or not entered.item.args:
        return None
    chosen = entered.item.args[0].value
    if isinstance(chosen, cst.Call):
        return None if model.resolve(chosen.func) in _CURRENT else quote(chosen)
    value = model.value(chosen)
    made = value.origin
    if value.kind is Kind.NONE or (isinstance(made, cst.Call) and model.resolve(made.func) in _CURRENT):
        return None
    return dotted(chosen) or quote(chosen)


class _Region:
    """The body of `with torch.cuda.stream(side)`, and what goes in and comes out."""

    def __init__(self, model: Model, entered: sites.With, stream: str, function: FunctionInfo, order: Order) -> None:
        self.model = model
        self.entered = entered
        self.stream = stream
        self.function = function
        self.order = order
        self.end = order.at(entered.node)
        self.calls = [
            site for site in model.sites.calls if model.function_of(site.context) is function and site.node in order
        ]
        arithmetic = [
            site for site in model.sites.binaries if model.function_of(site.context) is function and site.node in order
        ]
        work: list[sites.Call | sites.Binary] = [*self.calls, *arithmetic]
        self.work = sorted(work, key=lambda site: order.at(site.node))

    def inside(self, context: Context) -> bool:
        return context.inside(self.entered.context)

    def on_same_stream(self, context: Context) -> bool:
        """Whether code stands under a `with` of the same stream."""
        return any(
            other.context is link and _side_stream(other, self.model) == self.stream
            for link in context.chain()
            if link.scope is Scope.WITH
            for other in self.model.sites.withs
        )

    def is_ordered(self, after: int, before: int) -> bool:
        """Whether something between two points orders the streams, or makes the host wait for them."""
        if self.order.waits(after, before):
            return True
        return any(
            after < self.order.at(site.node) < before
            for site in self.calls
            if site.method in _ORDERING or (site.target is not None and _orders(site.target, self.model))
        )

    def unordered_use(self) -> Iterator[Report]:
        """The first use elsewhere of a tensor that was made here."""
        made = {site.node for site in self.work if self.inside(site.context) and _is_work(site)}
        uses: list[tuple[cst.CSTNode, Context, list[Value]]] = [
            *((site.node, site.context, list(_used(site))) for site in self.work),
            *self._handed_out(),
        ]
        for node, context, values in sorted(uses, key=lambda use: self.order.at(use[0])):
            at = self.order.at(node)
            if at < self.end or self.inside(context) or not any(_comes_from(value, made) for value in values):
                continue
            if self.on_same_stream(context) or self.is_ordered(self.end, at):
                return
            yield Report(
                node,
                f"{quote(node)} uses what `{self.stream}` may still be making: nothing orders the two streams",
                f"let the current stream wait first: `torch.cuda.current_stream().wait_stream({self.stream})`",
                Confidence.LIKELY,
                (("it is made on another stream here", self.entered.item),),
            )
            return

    def _handed_out(self) -> Iterator[tuple[cst.CSTNode, Context, list[Value]]]:
        """What a generator yields: whoever iterates it goes on at once.

        Where it orders the streams anywhere, what it yields may be what the round before has waited for; or who
        iterates it does.
        """
        if self.is_ordered(-1, self.order.end) or self.may_order(self.function):
            return
        for effect in self.function.effects:
            node = effect.node
            if effect.kind is EffectKind.YIELD and isinstance(node, cst.Yield) and node in self.order:
                if isinstance(node.value, cst.BaseExpression):
                    yield node, effect.context, list(_members(self.model.value(node.value)))

    def unordered_reading(self, orders: Orders) -> Iterator[Report]:
        """Where another method first reads an attribute that is filled here, and it and its callers order nothing."""
        cls = self.function.cls
        filled = {
            assign.name
            for assign in self.model.sites.assigns
            if assign.name is not None
            and assign.name.startswith("self.")
            and self.inside(assign.context)
            and _may_be_on_device(assign.value)
        }
        if cls is None or not filled or self.is_ordered(self.end, self.order.end):
            return
        for method in cls.methods.values():
            if method is self.function or method.role is Role.SETUP or self.may_order(method):
                continue
            order = orders.of(method)
            read = sorted(_readings(method, filled, self.model), key=order.at)
            if not read or order.waits(-1, order.at(read[0])):
                continue
            yield Report(
                read[0],
                f"{quote(read[0])} hands out what `{self.stream}` may still be making: nothing orders the two streams",
                f"let the current stream wait first: `torch.cuda.current_stream().wait_stream({self.stream})`",
                Confidence.LIKELY,
                (("it is made on another stream here", self.entered.item),),
            )
            return

    def may_order(self, function: FunctionInfo) -> bool:
        """Whether a function orders streams, or one that calls it or this one does."""
        callers = (self.model.function_of(caller.context) for caller in function.callers)
        fills = (self.model.function_of(caller.context) for caller in self.function.callers)
        around = [function, *callers, *(one for one in fills if one.cls is function.cls)]
        return any(_orders(one, self.model) for one in around)

    def early_release(self) -> Iterator[Report]:
        """The first use here of a tensor that each round of a loop makes elsewhere and drops."""
        loops = self.entered.context.enclosing_loops()
        if not loops:
            return
        loop = loops[0]
        made = {
            site.node
            for site in self.calls
            if site.context.inside(loop)
            and not self.inside(site.context)
            and self.order.at(site.node) < self.end
            and site.result.is_tensor
            and site.result.device != HOST
            and not self.on_same_stream(site.context)
        }
        assert loop.node is not None
        if not made or self.is_ordered(self.end, self.order.at(loop.node)):
            return
        kept = {
            dotted(site.receiver_node) for site in self.calls if site.method == "record_stream" and site.receiver_node
        }
        for site in self.calls:
            if not self.inside(site.context):
                continue
            for node, value in _inputs(site):
                if _comes_from(value, made) and dotted(node) is not None and dotted(node) not in kept:
                    yield Report(
                        site.node,
                        f"{quote(site.node)} reads {quote(node)} on `{self.stream}`, and its memory is given away as "
                        "soon as the loop drops it",
                        f"call {quote(node)[:-1]}.record_stream({self.stream})` before it is dropped",
                        Confidence.LIKELY,
                        (("the other stream is selected here", self.entered.item),),
                    )
                    return


def _may_be_on_device(value: Value) -> bool:
    """Whether it is a tensor that may be on the device, or holds one."""
    if value.kind is Kind.CONTAINER:
        return value.elem is not None and _may_be_on_device(value.elem)
    return value.kind in MAYBE_TENSORS and bool(value.device & DEVICE)


def _readings(method: FunctionInfo, names: Collection[str], model: Model) -> Iterator[cst.Attribute]:
    """Where a method takes what is under one of these names; not where it asks whether there is something."""
    for node in within(method.body_nodes):
        if isinstance(node, cst.Attribute) and dotted(node) in names:
            around = model.parent(node)
            if not isinstance(around, (cst.AssignTarget, cst.Comparison, cst.If, cst.While, cst.Del)):
                yield node


def _orders(function: FunctionInfo, model: Model) -> bool:
    return any(site.method in _ORDERING and model.function_of(site.context) is function for site in model.sites.calls)


def _is_work(site: sites.Call | sites.Binary) -> bool:
    """Whether it queues work that makes a tensor on the device."""
    result = site.result
    if result.device == HOST:
        return False
    if isinstance(site, sites.Binary):
        return result.is_tensor or (result.kind is Kind.UNKNOWN and site.operator == "@")
    return result.is_tensor or (
        result.kind is Kind.UNKNOWN and (bool(result.device & DEVICE) or transfer_of(site) is not None)
    )


def _comes_from(value: Value, made: Collection[cst.CSTNode]) -> bool:
    return any(origin in made for origin in value.origins)


def _inputs(site: sites.Call) -> Iterator[tuple[cst.BaseExpression, Value]]:
    if site.receiver is not None and site.receiver_node is not None:
        yield site.receiver_node, site.receiver
    for argument in site.arguments:
        yield argument.node, argument.value


def _used(site: sites.Call | sites.Binary) -> Iterator[Value]:
    if isinstance(site, sites.Binary):
        yield from () if site.operator in ("is", "is not") else (site.left, site.right)
    elif site.method not in _NOT_USING and not _hands_on(site):
        for _, value in _inputs(site):
            yield from _members(value)


def _members(value: Value) -> Iterable[Value]:
    """What a container is known to hold, or the value itself."""
    return ((value.items or {}).values() if value.kind is Kind.CONTAINER else ()) or (value,)


def _hands_on(site: sites.Call) -> bool:
    """Whether what is made holds an event beside the tensors: whoever takes them waits for it."""
    return site.function.kind is Kind.CLASS and any(a.value.kind is Kind.EVENT for a in site.arguments)

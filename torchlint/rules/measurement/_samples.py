"""Benchmarks: what an interval times again and again."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.knowledge.devices import PLACING
from torchlint.knowledge.names import FULL_WAIT
from torchlint.rules._warmth import KEEPS, names_used, own_calls
from torchlint.rules.measurement._intervals import happenings
from torchlint.semantics import rounds, sites
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within
from torchlint.semantics.values import DEVICE, Kind

# Figures that the first sample does not move, and figures that say how far samples lie apart.
ROBUST: Final = frozenset("median min quantile quantiles percentile sorted nanmedian trim_mean sort".split())
SPREAD: Final = ROBUST - {"min"} | frozenset("std stdev pstdev var variance iqr histogram histc max".split())
TIMEIT: Final = ("timeit.timeit", "timeit.repeat", "timeit.Timer")  # each called with what it times
_BUILTINS: Final = frozenset(dir(builtins))
_PASSES: Final = frozenset(("half", "float", "bfloat16", "clone", "size", "keys", "values", "items", *PLACING))
_BOOKKEEPING: Final = frozenset("append extend add print range len min max sum round write info debug".split())


@dataclass(frozen=True, slots=True)
class Interval:
    """Two readings of a clock or of events in one function, as positions among the calls of that function."""

    function: FunctionInfo
    calls: list[sites.Call]  # all of the function, in the order of evaluation
    first: int  # the call that begins the interval
    last: int  # the call that ends it

    @property
    def begin(self) -> Context:
        return self.calls[self.first].context

    @property
    def end(self) -> Context:
        return self.calls[self.last].context

    @property
    def inside(self) -> list[sites.Call]:
        return self.calls[self.first + 1 : self.last]


@dataclass(frozen=True, slots=True)
class Repeated:
    """Work that an interval times, and the loop that repeats it; no loop where it runs once."""

    node: cst.BaseExpression  # the function or module that is called, or the operation
    name: str | None  # of the function or module, as written
    loop: Context | None


def timed_by_timeit(site: sites.Call) -> FunctionInfo | None:
    """The function that `timeit` is given to run."""
    work = site.argument(0, "stmt") if site.callee in TIMEIT else None
    return work.value.fn if work is not None else None


def clock_interval(site: sites.Binary, function: FunctionInfo, model: Model) -> Interval | None:
    """The interval that `end - start` measures, in a function that takes both readings, itself or by a helper."""
    if site.operator != "-" or site.left.kind is not Kind.CLOCK or site.right.kind is not Kind.CLOCK:
        return None
    calls = own_calls(function, model)
    starts = [index for index, call in enumerate(calls) if _reads(call, site.right.origins)]
    for first in starts:
        last = next((i for i in range(first + 1, len(calls)) if _reads(calls[i], site.left.origins)), None)
        if last is not None:
            return Interval(function, calls, first, last)
    return None


def _reads(call: sites.Call, readings: tuple[cst.CSTNode, ...]) -> bool:
    if call.node in readings:
        return True
    return call.target is not None and any(
        happening.effect.kind is EffectKind.CLOCK and happening.effect.node in readings
        for happening in happenings(call.target)
    )


def event_interval(site: sites.Call, model: Model) -> Interval | None:
    """The interval between the two events of `begin.elapsed_time(end)`."""
    function = model.function_of(site.context)
    calls = own_calls(function, model)
    records = [index for index, call in enumerate(calls) if call.method == "record" and call.node is not site.node]
    if len(records) < 2:
        return None
    argument = site.argument(0)
    begin = _recorded(records, calls, site.receiver_node)
    end = _recorded(records, calls, argument.node if argument is not None else None)
    first, last = begin if begin is not None else records[0], end if end is not None else records[-1]
    return Interval(function, calls, first, last) if first < last else None


def _recorded(records: list[int], calls: list[sites.Call], event: cst.BaseExpression | None) -> int | None:
    wanted = dotted(event) if event is not None else None
    for index in records:
        node = calls[index].receiver_node
        if wanted is not None and node is not None and dotted(node) == wanted:
            return index
    return None


def repeated(interval: Interval, model: Model) -> Repeated | None:
    """The first work in the interval, where it is the same in each round of a loop, or runs once."""
    for call in interval.inside:
        name = dotted(call.node.func)
        if name is not None and _works(call, interval) and call.context.enclosing(Scope.HANDLER) is None:
            loop = next(iter(call.context.enclosing_loops()), None)
            if loop is None:
                once = sampled_by_callers(interval.function) or _runs_on_its_own(call, interval)
                given = any(parameter.name == name for parameter in interval.function.parameters)
                return Repeated(call.node.func, name, None) if once or given else None
            operands = [argument.node for argument in call.arguments]
            if not _same_work(operands, loop, model) or _uses_its_count(interval, loop):
                return None
            return Repeated(call.node.func, name, loop)
    for node, context in _operations(interval):
        loop = next(iter(context.enclosing_loops()), None)
        if loop is None or _same_work([node], loop, model):
            return Repeated(node, None, loop)
    return None


def _uses_its_count(interval: Interval, loop: Context) -> bool:
    """Whether the work of a round depends on which round it is: then the loop goes over things, it does not repeat."""
    if not isinstance(loop.node, cst.For):
        return False
    counted = {node.value for node in within([loop.node.target]) if isinstance(node, cst.Name)}
    given: list[cst.CSTNode] = [
        argument.node
        for call in interval.inside
        if call.context.inside(loop) and (call.method or call.callee) not in _BOOKKEEPING
        for argument in call.arguments
    ]
    given += [node.value for node in within([loop.node.body]) if isinstance(node, cst.Assign)]
    return any(isinstance(node, cst.Name) and node.value in counted for node in within(given))


def sampled_by_callers(function: FunctionInfo) -> bool:
    """Whether the file takes several samples of what the function times, in a loop: not one now and then."""
    return any(caller.context.enclosing_loops() and not caller.context.rare for caller in function.callers)


def _runs_on_its_own(call: sites.Call, interval: Interval) -> bool:
    """Whether one call is work enough to time: it runs a module, or an operation on what is known to be on a device."""
    return any(
        effect.node is call.node
        and (
            effect.kind is EffectKind.FORWARD
            or (effect.kind is EffectKind.LAUNCH and effect.value is not None and effect.value.device == DEVICE)
        )
        for effect in interval.function.effects
    )


def _operations(interval: Interval) -> Iterator[tuple[cst.BaseExpression, Context]]:
    """The operators in the interval that put work on the device."""
    effects = interval.function.effects
    bounds = [interval.calls[index].node for index in (interval.first, interval.last)]
    first, last = (next((i for i, e in enumerate(effects) if e.node is node), 0) for node in bounds)
    for effect in effects[first:last]:
        if effect.kind is EffectKind.LAUNCH and isinstance(effect.node, cst.BinaryOperation):
            yield effect.node, effect.context


def _works(call: sites.Call, interval: Interval) -> bool:
    """Whether a call may be the work that is timed, not what keeps the books of it."""
    if call.callee in KEEPS or call.callee == FULL_WAIT or (call.method or call.callee) in _BOOKKEEPING:
        return False
    effects = [effect for effect in interval.function.effects if effect.node is call.node]
    if any(effect.kind in (EffectKind.WAIT, EffectKind.CLOCK, EffectKind.RECORD) for effect in effects):
        return False
    if call.target is not None:
        done = [happening.effect for happening in happenings(call.target)]
        kinds = {effect.kind for effect in done}
        if call.result.on_host and call.result.kind in (Kind.NDARRAY, Kind.OBJECT):
            # It gives an array, or what a library of the host makes: the device's part in that must be seen.
            return any(effect.value is not None and effect.value.device & DEVICE for effect in done)
        return not kinds or bool(kinds - {EffectKind.WAIT, EffectKind.CLOCK})
    if any(effect.kind in (EffectKind.FORWARD, EffectKind.LAUNCH) for effect in effects):
        return True
    return call.method is None and call.function.kind is Kind.UNKNOWN and not _is_builtin(call.node.func)


def _is_builtin(node: cst.BaseExpression) -> bool:
    """Whether a name means what Python itself gives it, such as an exception."""
    return isinstance(node, cst.Name) and node.value in _BUILTINS


def _same_work(operands: list[cst.BaseExpression], loop: Context, model: Model) -> bool:
    """Whether each round of a counting loop works on the same operands, and trains nothing."""
    facts = loop.loop
    assert facts is not None
    if isinstance(facts.node, cst.For) and not _counts(facts.node):
        return False
    trains = any(
        effect.kind is EffectKind.OPTIMIZER_STEP
        or (effect.callee is not None and effect.callee.does(frozenset({EffectKind.OPTIMIZER_STEP})))
        for effect in facts.body_effects
    )
    if trains or rounds.iterates(loop) is Iterates.EPOCHS:
        return False
    changing = {
        assign.name.split(".", 1)[0]
        for assign in model.sites.assigns
        if assign.name is not None and assign.context.inside(loop)
    }
    return not any(_changes(node, changing) for operand in operands for node in within([operand]))


def _changes(node: cst.CSTNode, changing: set[str]) -> bool:
    """Whether a part of an operand may be another thing in each round: a name bound anew, or what a call gives."""
    if isinstance(node, cst.Call):
        return not (isinstance(node.func, cst.Attribute) and node.func.attr.value in _PASSES)
    return isinstance(node, cst.Name) and node.value in changing


def _counts(loop: cst.For) -> bool:
    """Whether a loop counts rounds: it goes over `range(...)`, in wrappers or not."""
    node = loop.iter
    while isinstance(node, cst.Call):
        name = dotted(node.func) or ""
        if name.rsplit(".", 1)[-1] in ("range", "trange", "repeat"):
            return True
        if not node.args:
            return False
        node = node.args[0].value
    return False


def runs_on_device(interval: Interval, model: Model) -> bool:
    """Whether the work is the device's: it shows, or the function waits for a device."""
    nodes = {call.node for call in interval.calls[interval.first : interval.last + 1]}
    for happening in happenings(interval.function):
        effect = happening.effect
        if effect.kind is EffectKind.WAIT and (effect.value is None or effect.value.kind is not Kind.UNKNOWN):
            return True
        if effect.node in nodes and effect.value is not None:
            if effect.value.device & DEVICE or (effect.kind is EffectKind.FORWARD and model.accelerated):
                return True
    return False


def mentions(function: FunctionInfo, names: frozenset[str]) -> bool:
    """Whether the function itself uses one of the names."""
    return any(name in names for name in names_used(function))

"""TL702: a benchmark that times the first call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._warmth import own_calls, was_warm
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.measurement._intervals import happenings, sets_up
from torchlint.rules.measurement._samples import (
    ROBUST,
    Interval,
    Repeated,
    clock_interval,
    event_interval,
    mentions,
    repeated,
    runs_on_device,
    sampled_by_callers,
    timed_by_timeit,
)
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within
from torchlint.semantics.rounds import goes_through_steps
from torchlint.semantics.values import Kind


class TimingWithoutWarmup(Rule):
    code = "TL702"
    name = "timing-without-warmup"
    bottleneck = "measurement"
    summary = "A benchmark times the first call, with all that is set up on it"
    calls = (".elapsed_time", "timeit.timeit")
    words = ("time", "timer", "perf_counter", "monotonic", "elapsed_time", "timeit")
    words_travel = True

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        home = model.function_of(site.context)
        if site.operator == "-" and not surroundings.in_test(site.context) and not sets_up(home):
            interval = clock_interval(site, home, model)
            # A comparison asks whether time is up, not what something took.
            if interval is not None and not isinstance(model.parent(site.node), (cst.Comparison, cst.ComparisonTarget)):
                yield from self._judge(site.node, site.context, interval, model)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if surroundings.in_test(site.context):
            return
        if site.callee == "timeit.timeit":
            yield from self._judge_timeit(site, model)
        else:
            interval = event_interval(site, model)
            if interval is not None:
                yield from self._judge(site.node, site.context, interval, model)

    def _judge_timeit(self, site: sites.Call, model: Model) -> Iterator[Report]:
        """`timeit.timeit(work, number=10)`: all runs count, the first among them."""
        work = timed_by_timeit(site)
        if work is None or not _launches(work):
            return
        home = model.function_of(site.context)
        before, _ = sites.around(own_calls(home, model), site)
        if any(call.target is work for call in before) or mentions(home, ROBUST):
            return
        yield Report(
            site.node,
            f"{quote(site.node)} holds the first run: what the device, its libraries and the allocator set up then is "
            "in the figure",
            "run it a few times before, or use `torch.utils.benchmark.Timer`",
            Confidence.POSSIBLE,
        )

    def _judge(self, node: cst.CSTNode, context: Context, interval: Interval, model: Model) -> Iterator[Report]:
        work = repeated(interval, model)
        if work is None:
            return
        before = interval.calls[: interval.first]
        if work.name is not None and was_warm(interval.function, before, work.name, model):
            return
        if _is_start_up(work, interval.function, model) or _goes_through_data(interval) or _is_meter(work, interval):
            return
        confidence = Confidence.LIKELY if runs_on_device(interval, model) else Confidence.POSSIBLE
        if work.loop is None and _is_told(node, model):
            confidence = Confidence.POSSIBLE
        elif work.loop is None:
            # What is reported now and then, or trains, goes on: each report is of other rounds.
            goes_on = context.rare or isinstance(model.parent(node), cst.AugAssign) or _trains(interval)
            if goes_on or not sampled_by_callers(interval.function) or _holds_long_runs(interval):
                confidence = Confidence.POSSIBLE
        elif interval.begin.inside(work.loop):
            if _drops_samples(context, work.loop, interval.function, model):
                return
            if mentions(interval.function, ROBUST):
                confidence = Confidence.POSSIBLE
        timed = quote(work.node)
        yield Report(
            node,
            f"{quote(node)} holds the first run of {timed}: what the device, its libraries and the allocator set up "
            "then is in the figure",
            f"run {timed} a few times before the clock starts, or use `torch.utils.benchmark.Timer`",
            confidence,
            (("this is timed", work.node),),
        )


def _is_told(node: cst.CSTNode, model: Model) -> bool:
    """Whether a figure goes to what an object keeps for a service that goes on: `self.latency.add(end - start)`."""
    around = model.parent(node)
    while isinstance(around, cst.BinaryOperation):
        around = model.parent(around)
    call = model.parent(around) if isinstance(around, cst.Arg) else None
    site = model.call(call) if call is not None else None
    if site is None or site.receiver is None or site.receiver.kind is Kind.CONTAINER or site.method == "append":
        return False
    return (dotted(site.receiver_node) or "").startswith("self.") if site.receiver_node is not None else False


def _goes_through_data(interval: Interval) -> bool:
    """Whether all batches of a loader are timed as a whole: what an epoch takes, of which the first is little."""
    return any(
        not interval.begin.inside(loop)
        and loop.loop is not None
        and loop.loop.iterable is not None
        and loop.loop.iterable.kind is Kind.LOADER
        for call in interval.inside
        for loop in call.context.enclosing_loops()
    )


def _is_meter(work: Repeated, interval: Interval) -> bool:
    """Whether each round of a loop reads what it took so far, as one that waits does, or what it took, and begins anew.

    Of the latter only the first holds what was set up before.
    """
    around = [loop for loop in interval.end.enclosing_loops() if not interval.begin.inside(loop)]
    return any(isinstance(loop.node, cst.While) for loop in around)


def _holds_long_runs(interval: Interval) -> bool:
    """Whether what is timed goes through steps of its own, as an evaluation does: the first is little of that."""
    return any(call.target is not None and goes_through_steps(call.target, False) for call in interval.inside)


def _trains(interval: Interval) -> bool:
    return interval.function.does(frozenset({EffectKind.OPTIMIZER_STEP}))


def _name_of(call: sites.Call) -> str | None:
    return dotted(call.receiver_node) if call.receiver_node is not None else None


def _launches(function: FunctionInfo) -> bool:
    kinds = {happening.effect.kind for happening in happenings(function)}
    return bool(kinds & {EffectKind.LAUNCH, EffectKind.FORWARD})


def _is_start_up(work: Repeated, function: FunctionInfo, model: Model) -> bool:
    """Whether one call of something fresh is timed: what it costs to compile or load is the question."""
    if work.loop is not None:
        return False
    fresh = ("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.load", "torch.jit.load")
    return any(
        assign.name == work.name
        and model.function_of(assign.context) is function
        and isinstance(assign.value_node, cst.Call)
        and model.resolve(assign.value_node.func) in fresh
        for assign in model.sites.assigns
    )


def _drops_samples(context: Context, loop: Context, function: FunctionInfo, model: Model) -> bool:
    """Whether the first rounds of a loop over samples do not count."""
    for link in context.chain():
        if link is loop:
            break
        if link.scope is Scope.BRANCH:
            return True
    body = loop.node.body if isinstance(loop.node, (cst.For, cst.While)) else None
    if body is not None and any(isinstance(node, (cst.Continue, cst.If)) for node in within([body])):
        return True
    kept = {store.owner_name for store in model.sites.stores if store.context.inside(loop)}
    for node in within([body]) if body is not None else ():
        if isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Subscript):
            kept.add(dotted(node.target.value))  # an array is filled as well as a list
    if any(call.method in ("pop", "popleft") and _name_of(call) in kept for call in own_calls(function, model)):
        return True
    return any(
        isinstance(node, cst.Subscript)
        and dotted(node.value) in kept
        and any(isinstance(part.slice, cst.Slice) and part.slice.lower is not None for part in node.slice)
        for node in within(function.body_nodes)
    )

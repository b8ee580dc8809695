"""TL702: a benchmark that times the first call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.rules._warmth import was_warm
from torchlint.rules._wording import quote
from torchlint.rules.base import Confidence, Report, Rule
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
)
from torchlint.semantics import hotness, sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model, dotted
from torchlint.semantics.names import within


class TimingWithoutWarmup(Rule):
    """A micro-benchmark whose first timed call is the first call."""

    code = "TL702"
    name = "timing-without-warmup"
    bottleneck = "measurement"
    summary = "A benchmark times the first call, with all that is set up on it"
    calls = (".elapsed_time",)
    words = ("time", "timer", "perf_counter", "monotonic", "elapsed_time")

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        if site.operator == "-" and not hotness.in_test(site.context):
            home = model.function_of(site.context)
            interval = clock_interval(site, home, model)
            if interval is not None:
                yield from self._judge(site.node, site.context, interval, model)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if not hotness.in_test(site.context):
            interval = event_interval(site, model)
            if interval is not None:
                yield from self._judge(site.node, site.context, interval, model)

    def _judge(self, node: cst.CSTNode, context: Context, interval: Interval, model: Model) -> Iterator[Report]:
        work = repeated(interval, model)
        if work is None:
            return
        before = interval.calls[: interval.first]
        if work.name is not None and was_warm(interval.function, before, work.name, model):
            return
        if _is_start_up(work, interval.function, model):
            return
        confidence = Confidence.LIKELY if runs_on_device(interval, model) else Confidence.POSSIBLE
        if work.loop is None:
            if not sampled_by_callers(interval.function):
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
            f"Run {timed} a few times before the clock starts, or use `torch.utils.benchmark.Timer`",
            confidence,
            (("this is timed", work.node),),
        )


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
    return any(
        subscript.bounds and dotted(subscript.node.value) in kept
        for subscript in model.sites.subscripts
        if model.function_of(subscript.context) is function
    )

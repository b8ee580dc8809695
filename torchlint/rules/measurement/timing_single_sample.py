"""TL709: a benchmark that reports a mean and nothing about it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.rules.measurement._samples import (
    SPREAD,
    Interval,
    clock_interval,
    event_interval,
    mentions,
    repeated,
    runs_on_device,
    sampled_by_callers,
)
from torchlint.semantics import sites, surroundings
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within


class TimingSingleSample(Rule):
    code = "TL709"
    name = "timing-single-sample"
    bottleneck = "measurement"
    impact = Impact.LOW
    summary = "A benchmark reports one figure without its spread"
    ruleset = RuleSet.EXTENDED
    torch = "1.8"
    calls = (".elapsed_time",)
    words = ("time", "timer", "perf_counter", "monotonic", "elapsed_time")
    words_travel = True

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        if site.operator == "-" and not surroundings.in_test(site.context):
            interval = clock_interval(site, model.function_of(site.context), model)
            if interval is not None:
                yield from self._judge(site.node, interval, model)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if not surroundings.in_test(site.context):
            interval = event_interval(site, model)
            if interval is not None:
                yield from self._judge(site.node, interval, model)

    def _judge(self, node: cst.CSTNode, interval: Interval, model: Model) -> Iterator[Report]:
        function = interval.function
        work = repeated(interval, model)
        if work is None or mentions(function, SPREAD):
            return
        if interval.begin.enclosing_loops() or sampled_by_callers(function):
            return
        if work.loop is not None and not _is_divided(node, function, model):
            return
        known = work.loop is not None and runs_on_device(interval, model)
        figure = "is the mean of one block of runs" if work.loop is not None else "is one run"
        yield Report(
            node,
            f"{quote(node)} {figure} of {quote(work.node)}: nothing says how far another run would lie from it",
            "keep the samples and report median and spread, as `torch.utils.benchmark.Timer` does",
            Confidence.LIKELY if known else Confidence.POSSIBLE,
            (("this is timed", work.node),),
        )


def _is_divided(node: cst.CSTNode, function: FunctionInfo, model: Model) -> bool:
    """Whether the function makes a mean or a rate of the time, itself or by the name it is given."""
    names = {
        assign.name
        for assign in model.sites.assigns
        if assign.value_node is not None and any(part is node for part in within([assign.value_node]))
    }
    for binary in model.sites.binaries:
        if binary.operator == "/" and model.function_of(binary.context) is function:
            for part in within([binary.node]):
                if part is node or (isinstance(part, (cst.Name, cst.Attribute)) and dotted(part) in names):
                    return True
    return False

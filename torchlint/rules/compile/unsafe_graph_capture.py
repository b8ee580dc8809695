"""TL806: what a CUDA graph cannot capture, or does not see."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._warmth import own_calls, was_warm
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within
from torchlint.semantics.values import MAYBE_TENSORS, UNKNOWN, Kind

_WAITS = frozenset("item tolist cpu numpy nonzero unique masked_select synchronize".split())
_CAPTURES = "graph capture"  # the model's flag of `with torch.cuda.graph(...)`


class UnsafeGraphCapture(Rule):
    code = "TL806"
    name = "unsafe-graph-capture"
    bottleneck = "compile"
    impact = Impact.HIGH
    summary = "A CUDA graph captures what it cannot, or replays on old data"
    ruleset = RuleSet.EXTENDED
    torch = "1.10"
    words = ("graph", "capture_begin")

    def on_with(self, site: sites.With, model: Model) -> Iterator[Report]:
        if _CAPTURES not in site.context.flags or surroundings.in_test(site.context):
            return
        function = model.function_of(site.context)
        calls = own_calls(function, model)
        inside = [call for call in calls if call.context.inside(site.context)]
        first = calls.index(inside[0]) if inside else len(calls)
        yield from self._cold(site.item, function, calls[:first], inside, model)
        yield from self._waits(inside)
        for truth in model.sites.truths:
            if truth.context.inside(site.context) and truth.value.kind is Kind.TENSOR and not truth.value.on_host:
                yield self._wait(truth.node, truth.value.conf)
        yield from self._fresh_inputs(site, function, model)

    def on_module(self, model: Model) -> Iterator[Report]:
        """The same between `capture_begin()` and `capture_end()`."""
        for begin in model.sites.calls:
            if begin.method == "capture_begin" and not surroundings.in_test(begin.context):
                function = model.function_of(begin.context)
                calls = own_calls(function, model)
                first = calls.index(begin)
                last = next((i for i in range(first, len(calls)) if calls[i].method == "capture_end"), len(calls))
                yield from self._cold(begin.node, function, calls[:first], calls[first + 1 : last], model)
                yield from self._waits(calls[first + 1 : last])

    def _waits(self, inside: list[sites.Call]) -> Iterator[Report]:
        for call in inside:
            name = call.method or (call.callee or "").rsplit(".", 1)[-1]
            if name not in _WAITS:
                continue
            value = call.receiver if call.receiver is not None else UNKNOWN
            if name == "synchronize" or (value.is_tensor and not value.on_host):
                yield self._wait(call.node, Confidence.LIKELY)

    def _wait(self, node: cst.CSTNode, confidence: Confidence) -> Report:
        return Report(
            node,
            f"{quote(node)} waits for the device while the graph is captured, when nothing runs: the capture fails",
            "keep the value on the device, and read it after the replay",
            confidence,
        )

    def _cold(
        self,
        node: cst.CSTNode,
        function: FunctionInfo,
        before: list[sites.Call],
        inside: list[sites.Call],
        model: Model,
    ) -> Iterator[Report]:
        """The capture is the first run of a module or function."""
        for call in inside:
            name = dotted(call.node.func)
            runs = call.target is not None or any(
                effect.node is call.node and effect.kind is EffectKind.FORWARD for effect in function.effects
            )
            if name is None or not (runs or (call.method is None and call.function.kind is Kind.UNKNOWN)):
                continue
            if not was_warm(function, before, name, model):
                yield Report(
                    node,
                    f"{quote(call.node.func)} runs for the first time while it is captured: what libraries and the "
                    "allocator set up on a first call ends up in the graph, or breaks it",
                    f"run {quote(call.node.func)} a few times on a side stream before the capture",
                    Confidence.LIKELY,
                    (("it is captured here", call.node),),
                )
            return

    def _fresh_inputs(self, site: sites.With, function: FunctionInfo, model: Model) -> Iterator[Report]:
        """Names that the capture read, bound anew before a replay."""
        read = {
            name
            for node in within([site.node.body])
            if isinstance(node, (cst.Name, cst.Attribute)) and (name := dotted(node)) is not None
        }
        made = {assign.name for assign in model.sites.assigns if assign.context.inside(site.context)}
        for replay in model.sites.calls:
            if replay.method != "replay":
                continue
            owner = model.function_of(replay.context)
            for assign in model.sites.assigns:
                static = assign.name in read - made and assign.value.kind in MAYBE_TENSORS
                if not static or model.function_of(assign.context) is not owner:
                    continue
                if owner is function and not _later(assign.context, replay.context, site.context):
                    continue
                yield Report(
                    assign.node,
                    f"`{assign.name}` is bound to a new tensor, which the graph never sees: the replay reads the one "
                    "that was captured",
                    f"write into it: `{assign.name}.copy_(...)`",
                    Confidence.LIKELY,
                    (("the graph is captured here", site.item),),
                )


def _later(bound: Context, replay: Context, capture: Context) -> bool:
    """Whether, in the function that captures, a name is bound in a loop of replays that follows the capture."""
    loop = next((link for link in replay.chain() if link.scope is Scope.LOOP), None)
    return loop is not None and bound.inside(loop) and not capture.inside(loop)

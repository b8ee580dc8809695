"""TL601: a running sum that keeps every step's graph."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability, Confidence, Impact
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.memory._retention import (
    PRIMARIES,
    Retention,
    feeds_forward,
    given_to_caller,
    graph_confidence,
    holds_tensors,
    kept_past_step,
    needed_by_backward,
    seen_whole,
)
from torchlint.semantics import sites
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.values import Kind
from torchlint.source.written import parentheses


class RetainedGraphSum(Rule):
    code = "TL601"
    name = "retained-graph-sum"
    bottleneck = "memory"
    summary = "A running sum keeps the graph of every step"
    fix_availability = FixAvailability.SOMETIMES
    words = ("+=", "-=", "+", "-")

    def on_accumulate(self, site: sites.Accumulate, model: Model) -> Iterator[Report]:
        if site.in_place and site.target.endswith(".data"):
            return  # which no graph sees
        if site.before.kind is Kind.CONTAINER or not holds_tensors(site.added):
            return
        graph = graph_confidence(site.added, site.context, model)
        if graph is None:
            return
        kept = kept_past_step(site.target, site.context, model)
        if kept is None or needed_by_backward(site.target, site.context, model):
            return
        confidence = min(graph, kept.confidence)
        if (
            given_to_caller(site.target, site.context, kept.loop, model)
            or _is_unpacked_count(site, kept, model)
            or feeds_forward(site.target, site.context, model)
        ):
            confidence = Confidence.POSSIBLE
        after_backward = self._after_backward(site, kept, model)
        held = (
            "its backward has run, so nodes of the graph stay, not activations"
            if after_backward
            else "no backward runs through it, so its activations stay on the device"
        )
        yield Report(
            site.node,
            f"{quote(site.addend)} keeps its graph in `{site.target}` on every step: {held}",
            f"add {quote(site.addend)[:-1]}.detach()` instead"
            if isinstance(site.addend, PRIMARIES)
            else "add a detached value instead",
            confidence,
            because(kept.hot),
            _detach(site.addend, safe=site.added.kind is Kind.TENSOR and seen_whole(site.target, site.context, model))
            if confidence > Confidence.POSSIBLE
            else None,
            Impact.LOW if after_backward else None,
        )

    def _after_backward(self, site: sites.Accumulate, kept: Retention, model: Model) -> bool:
        """Whether the added value's own backward runs on the step: then only nodes stay."""
        function = model.function_of(site.context)
        added = _scaled(site.addend, model)  # `loss` of `0.1 * loss`
        name, value = dotted(added), site.added if added is site.addend else model.value(added)
        if name is not None and function.needs_graph(name):
            return True
        origins = set(value.origins)
        if any(
            effect.kind is EffectKind.BACKWARD and effect.value is not None and origins & set(effect.value.origins)
            for effect in function.effects
        ):
            return True
        # The value arrives from a caller whose step runs a backward on it.
        return value.ident is not None and kept.hot.trains


def _scaled(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """What an operation with numbers alone is of."""
    while isinstance(node, cst.BinaryOperation):
        tensors = [side for side in (node.left, node.right) if model.value(side).kind is not Kind.NUMBER]
        if len(tensors) != 1:
            break
        node = tensors[0]
    return node


def _is_unpacked_count(site: sites.Accumulate, kept: Retention, model: Model) -> bool:
    """Whether what is added, or summed before, came beside the loss from a call: `loss, count = ...`: maybe numbers."""
    if not kept.hot.trains:
        return False
    function = model.function_of(site.context)
    added = names_read(site.addend)
    summed = added.union(*(function.flows.get(name, ()) for name in added))
    unpacked = {
        assign.name
        for assign in model.sites.assigns
        if assign.context.owner is site.context.owner
        and isinstance(assign.node, cst.Assign)
        and _has_tuple(assign.node)
        and assign.value.kind is Kind.BATCH
    }
    beside = summed & unpacked
    return bool(beside) and not any(map(function.needs_graph, beside))


def _has_tuple(node: cst.Assign) -> bool:
    return any(isinstance(target.target, (cst.Tuple, cst.List)) for target in node.targets)


def _detach(node: cst.BaseExpression, *, safe: bool) -> NodeFix | None:
    """`x` becomes `x.detach()`, in parentheses where it is an operation."""
    message = "Detach what is added"
    safety = Applicability.SAFE if safe else Applicability.UNSAFE
    if isinstance(node, PRIMARIES):
        return NodeFix(safety, message, (NodeEdit(node, ".detach()", "after"),))
    if isinstance(node, cst.BinaryOperation) and not parentheses(node):
        return NodeFix(safety, message, (NodeEdit(node, "(", "before"), NodeEdit(node, ").detach()", "after")))
    return None

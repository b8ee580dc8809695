"""TL404: gradients are clipped while they are still multiplied by the loss scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.compute import _repairs
from torchlint.rules.pipeline._order import Orders
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_CLIPS: Final = (
    "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad_value_",
    "torch.nn.utils.clip_grad.clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_value_",
    "torch.nn.utils.get_total_norm",
)


class ClipBeforeUnscale(Rule):
    code = "TL404"
    name = "clip-before-unscale"
    bottleneck = "compute"
    impact = Impact.HIGH
    summary = "Gradients are clipped before the scaler unscales them"
    fix_availability = FixAvailability.SOMETIMES
    calls = _CLIPS
    words = ("clip_grad_norm_", "clip_grad_value_", "get_total_norm")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        scaled = _scaled_before(site.node, site.context, model, Orders(model), frozenset())
        if scaled is None or _without_scaler(site.context, model):
            return
        yield Report(
            site.node,
            f"{quote(site.node.func)} sees gradients still multiplied by the loss scale, so it clips on every step",
            "call `scaler.unscale_(optimizer)` before it",
            Confidence.LIKELY,
            (("the loss is scaled here", scaled),),
            _repairs.unscaled(model, site),
        )


def _without_scaler(context: Context, model: Model) -> bool:
    """Whether code stands in a branch for runs that have no scaler: then a helper that is given one scales nothing."""
    for link in context.chain():
        test, negated = link.test, link.negated
        if link.scope is not Scope.BRANCH or test is None:
            continue
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            test, negated = test.expression, not negated
        if isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].comparator, cst.Name):
            if test.comparisons[0].comparator.value == "None" and isinstance(test.comparisons[0].operator, cst.Is):
                negated = not negated
            test = test.left
        if negated and model.value(test).kind is Kind.SCALER:
            return True
    return False


def _scaled_before(
    place: cst.CSTNode, context: Context, model: Model, orders: Orders, seen: frozenset[FunctionInfo]
) -> cst.CSTNode | None:
    """The scaling of the loss that comes before a place with no unscaling between, here or in a caller."""
    function = model.function_of(context)
    order = orders.of(function)
    if place not in order or function in seen:
        return None
    at = order.at(place)
    # Each point before the place where the scaler scales the loss, or unscales the gradients, itself or in a helper.
    last: tuple[int, cst.CSTNode | None] = (-1, None)
    for site in model.sites.calls:
        if site.node not in order or not order.at(site.node) < at or site.context.excludes(context):
            continue
        if _unscales(site, model, set()):
            last = max(last, (order.at(site.node), None), key=lambda point: point[0])
        elif _scales(site, model):
            last = max(last, (order.at(site.node), site.node), key=lambda point: point[0])
    if last[0] >= 0:
        return last[1]
    for caller in function.callers:
        found = _scaled_before(caller.node, caller.context, model, orders, seen | {function})
        if found is not None:
            return found
    return None


def _is_scaler(site: sites.Call) -> bool:
    return site.receiver is not None and site.receiver.kind is Kind.SCALER


def _scales(site: sites.Call, model: Model) -> bool:
    if site.method == "scale" and _is_scaler(site):
        return True
    return site.target is not None and any(
        inner.method == "scale" and _is_scaler(inner) and model.function_of(inner.context) is site.target
        for inner in model.sites.calls
    )


def _unscales(site: sites.Call, model: Model, seen: set[FunctionInfo]) -> bool:
    """Whether a call ends with unscaled gradients: `unscale_`, or the step that unscales and zeroes them."""
    if site.method in ("unscale_", "step", "update") and _is_scaler(site):
        return True
    target: FunctionInfo | None = site.target
    if target is None or target in seen:
        return False
    seen.add(target)
    return any(
        _unscales(inner, model, seen) for inner in model.sites.calls if model.function_of(inner.context) is target
    )

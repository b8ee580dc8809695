"""TL403: gradients are scaled though autocast computes in bfloat16."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.compute import _repairs
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind


class ScalerWithBf16(Rule):
    code = "TL403"
    name = "scaler-with-bf16"
    bottleneck = "compute"
    summary = "A gradient scaler around autocast in bfloat16"
    fix_availability = FixAvailability.SOMETIMES
    torch = "1.10"
    words = ("GradScaler",)

    def on_module(self, model: Model) -> Iterator[Report]:
        for site in model.sites.calls:
            if site.result.kind is not Kind.SCALER or site.result.origin is not site.node or site.opaque_arguments:
                continue
            regions = _regions_of(site, model)
            low = [entered for entered in regions if "autocast:bfloat16" in entered.context.flags]
            if not low:
                continue
            confidence = Confidence.LIKELY if len(low) == len(regions) else Confidence.POSSIBLE
            enabled = site.argument(None, "enabled")
            if (
                enabled is not None
                and enabled.value.const is not True
                and not any(_is_enabled_by(enabled.node, entered, model) for entered in low)
            ):
                continue
            yield Report(
                site.node,
                f"{quote(site.node)} scales gradients that cannot underflow in bfloat16 and looks for infinities",
                "drop the scaler, or enable it for float16 alone",
                confidence,
                (("autocast computes in bfloat16 here", low[0].item),),
                _repairs.disabled(site),
            )


def _regions_of(scaler: sites.Call, model: Model) -> list[sites.With]:
    """The autocast regions with gradients in the scaler's own file, and in those where the scaler is used."""
    return [
        entered
        for other in model.together
        if other is model
        or any(call.receiver is not None and scaler.node in call.receiver.origins for call in other.sites.calls)
        for entered in other.sites.withs
        if "autocast" in entered.context.flags
        and not surroundings.autograd_off(entered.context)
        and not _is_of_another_class(entered, scaler, other)
    ]


def _call_of(entered: sites.With, model: Model) -> sites.Call | None:
    """The call that made the region that is entered."""
    return model.call(model.value(entered.item).origin or entered.item)


def _is_enabled_by(asked: cst.BaseExpression, entered: sites.With, model: Model) -> bool:
    """Whether a region is entered in earnest where the same is asked: then it is so wherever the scaler scales."""
    made = _call_of(entered, model.near(entered.context))
    enabled = made.argument(None, "enabled") if made is not None else None
    return enabled is not None and enabled.node.deep_equals(asked)


def _is_of_another_class(entered: sites.With, scaler: sites.Call, model: Model) -> bool:
    """Whether a method of a class makes the region, and one of another class, which is no relative, the scaler."""
    made = _call_of(entered, model)
    owners = [site.context.owner for site in (made, scaler) if site is not None]
    classes = [owner.cls for owner in owners if owner is not None and owner.cls is not None]
    return len(classes) == 2 and classes[0].common_base(classes[1]) is None

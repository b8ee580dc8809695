"""TL303: the logarithm of a softmax is taken in two steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._patterns import CASTS, SHAPES, Operation, called, reach
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.traffic import _softmax_repairs
from torchlint.rules.traffic.naive_softmax import exponential_of
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

# What picks out probabilities or keeps zero away from them, and so can be moved behind the logarithm.
_PICKS: Final = frozenset(
    "index gather diagonal diag clamp take_along_dim index_select masked_select take unbind chunk split maximum".split()
)


class LogOfSoftmax(Rule):
    code = "TL303"
    name = "log-of-softmax"
    bottleneck = "traffic"
    summary = "The logarithm of a softmax is taken in two steps"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("torch.log", "torch.log_", "torch.special.log", ".log", ".log_")
    words = ("softmax", "Softmax", "Softmax2d", "exp", "exp_")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = called(site)
        if made is None or made.name != "log" or not made.operands or surroundings.in_test(site.context):
            return
        found = reach(model, made.operands[0], lambda step: _is_softmax(model, step), lambda step: _passes(model, step))
        if found is None:
            return
        softmax = found.operations[0]
        written = exponential_of(model, softmax)
        source = softmax if written is None else written.operations[0]
        logits = quote(source.operands[0]) if source.operands else "the logits"
        yield Report(
            site.node,
            f"{quote(site.node)} takes the logarithm of {quote(softmax.node)}: the probabilities cross memory "
            "twice, and small ones are zero before the logarithm sees them",
            f"take `log_softmax` of {logits}, or give them to `cross_entropy`",
            Confidence.LIKELY if found.certain and (written is None or written.certain) else Confidence.POSSIBLE,
            (("the softmax", softmax.node),),
            _softmax_repairs.log_softmax(model, site),
        )


def _is_softmax(model: Model, step: Operation) -> bool:
    return step.name == "softmax" or exponential_of(model, step) is not None


def _passes(model: Model, step: Operation) -> tuple[cst.BaseExpression, ...]:
    if step.name in CASTS or step.name in SHAPES or step.name in _PICKS:
        return step.operands[:1]
    if step.name in ("add", "sub") and len(step.operands) >= 2:
        # A number against zero, on either side; one less the probabilities is something else.
        for value, constant in (step.operands[:2], step.operands[1::-1])[: 1 if step.name == "sub" else 2]:
            if model.value(constant).kind in (Kind.NUMBER, Kind.UNKNOWN) and not model.value(constant).is_tensor:
                return (value,)
    return ()

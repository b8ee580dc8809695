"""TL307: keys and values are copied for every query head before the fused attention call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.findings import Confidence
from torchlint.rules._patterns import CASTS, SHAPES, Operation, called, reach
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule, RuleSet
from torchlint.rules.traffic import _attention_repairs
from torchlint.rules.traffic._attention import SDPA, feeds_only, is_fused
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model

_AROUND: Final = CASTS | SHAPES
_MERGES: Final = frozenset("reshape flatten view".split())


class RepeatedKv(Rule):
    code = "TL307"
    name = "repeated-kv"
    bottleneck = "traffic"
    summary = "Keys and values are copied for every query head before `scaled_dot_product_attention`"
    ruleset = RuleSet.EXTENDED
    fix_availability = FixAvailability.SOMETIMES
    torch = "2.5"
    calls = (SDPA,)
    words = ("scaled_dot_product_attention",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = called(site)
        if made is None or surroundings.in_test(site.context) or _has_grouped_branch(site, model):
            return
        for position, name in ((1, "key"), (2, "value")):
            operand = made.argument(position, name)
            if operand is None:
                continue
            found = reach(
                model,
                operand,
                lambda step: _repeats_heads(model, step),
                lambda step: step.operands[:1] if step.name in _AROUND else (),
            )
            for step in found.operations if found is not None else ():
                if feeds_only(model, step.node, is_fused, _AROUND, kept=True):
                    yield Report(
                        step.node,
                        f"{quote(step.node)} writes a copy of the {name}s for every query head that shares them",
                        "pass them as they are, with `enable_gqa=True`",
                        Confidence.LIKELY,
                        (("the attention", site.node),),
                        _attention_repairs.grouped(model, site),
                    )


def _repeats_heads(model: Model, step: Operation) -> bool:
    """`repeat_interleave` along the heads, or `expand` whose result is reshaped."""
    if step.name == "repeat_interleave":
        dim = step.argument(2, "dim")
        return dim is not None and model.value(dim).const in (1, 2, -2, -3)
    if step.name not in _MERGES or not step.operands:
        return False
    return (
        reach(
            model,
            step.operands[0],
            lambda inner: inner.name == "expand",
            lambda inner: inner.operands[:1] if inner.name in CASTS else (),
        )
        is not None
    )


def _has_grouped_branch(site: sites.Call, model: Model) -> bool:
    """Whether this call, or another in the same function, passes grouped heads as they are."""
    return any(
        other.callee == SDPA and other.argument(None, "enable_gqa") is not None
        for other in model.sites.calls
        if other.context.owner is site.context.owner
    )

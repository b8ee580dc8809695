"""TL306: a causal mask is built only to be passed to the fused attention call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._patterns import CASTS, SHAPES, Operation, alike, called, is_number, reach
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.traffic import _repairs
from torchlint.rules.traffic._attention import SDPA, feeds_only
from torchlint.semantics import hotness, sites
from torchlint.semantics.model import Model

_AROUND: Final = CASTS | SHAPES | frozenset("logical_not bitwise_not masked_fill where index".split())


class MaterialisedCausalMask(Rule):
    code = "TL306"
    name = "materialised-causal-mask"
    bottleneck = "traffic"
    summary = "A causal mask is built only to be passed to `scaled_dot_product_attention`"
    fix_availability = FixAvailability.SOMETIMES
    torch = "2.0"
    calls = (SDPA,)
    words = ("scaled_dot_product_attention",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = called(site)
        mask = made.argument(3, "attn_mask") if made is not None else None
        if mask is None or hotness.in_test(site.context):
            return
        found = reach(model, mask, lambda step: _is_triangle(model, step), _passes)
        if found is None or not found.certain:
            return
        for triangle in found.operations:
            if feeds_only(model, triangle.node, SDPA, _AROUND):
                yield Report(
                    triangle.node,
                    f"{quote(triangle.node)} stores a mask of length by length only to tell the attention that "
                    "it is causal, and rules "
                    "out its fastest kernel",
                    "pass `is_causal=True` instead of the mask",
                    Confidence.LIKELY,
                    Impact.MEDIUM,
                    (("the attention", site.node),),
                    _repairs.causal(model, site, mask),
                )


def _passes(step: Operation) -> tuple[cst.BaseExpression, ...]:
    if step.name == "masked_fill":
        return step.operands[:2]  # numbers are filled in where the mask says
    if step.name == "where":
        return step.operands[:1]
    return step.operands[:1] if step.name in _AROUND else ()


def _is_triangle(model: Model, step: Operation) -> bool:
    """Whether it makes a square triangle along the main diagonal, out of a constant."""
    if step.name not in ("tril", "triu") or not step.operands:
        return False
    diagonal = step.argument(1, "diagonal")
    if diagonal is not None and not is_number(model, diagonal, 0, 1):
        return False
    filled = reach(
        model,
        step.operands[0],
        lambda inner: inner.name in ("ones", "full", "zeros"),
        lambda inner: inner.operands[:1] if inner.name in CASTS else (),
    )
    return filled is not None and all(_is_square(model, inner) for inner in filled.operations)


def _is_square(model: Model, made: Operation) -> bool:
    sizes = list(made.operands)
    if sizes and isinstance(sizes[0], (cst.Tuple, cst.List)):
        sizes = [element.value for element in sizes[0].elements]
    return len(sizes) >= 2 and alike(model, sizes[0], sizes[1])

"""TL306: a causal mask is built only to be passed to the fused attention call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._patterns import (
    CASTS,
    SHAPES,
    Operation,
    alike,
    called,
    first_operand,
    is_number,
    made_by,
    new_dimension,
    operation,
    reach,
)
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.traffic import _attention_repairs
from torchlint.rules.traffic._attention import SDPA, feeds_only, is_fused
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_ORDERS: Final = frozenset("lt le gt ge".split())
_PLAIN: Final = frozenset("zeros zeros_like ones ones_like full full_like new_zeros new_ones new_full tensor".split())
_AROUND: Final = (
    CASTS | SHAPES | _ORDERS | frozenset("bool logical_not bitwise_not masked_fill where index eq ne".split())
)


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
        if mask is None or surroundings.in_test(site.context):
            return
        found = reach(
            model,
            _written_through(model, mask) or mask,
            lambda step: _is_triangle(model, step),
            lambda step: _passes(model, step),
        )
        if found is None:
            return
        for triangle in found.operations:
            if feeds_only(model, triangle.node, is_fused, _AROUND, kept=True):
                yield Report(
                    triangle.node,
                    f"{quote(triangle.node)} stores a mask of length by length only to tell the attention that "
                    "it is causal, and rules out its fastest kernel",
                    "pass `is_causal=True` instead of the mask",
                    Confidence.LIKELY if found.certain else Confidence.POSSIBLE,
                    (("the attention", site.node),),
                    _attention_repairs.causal(model, site, mask),
                )


def _written_through(model: Model, mask: cst.BaseExpression) -> cst.BaseExpression | None:
    """The mask through which numbers are written into one that began empty: `bias.masked_fill_(later, -inf)`."""
    for origin in made_by(model, mask):
        started = operation(model, origin)
        if started is None or started.name not in ("zeros", "zeros_like", "full"):
            continue
        for use in model.uses.get(origin, ()):
            method = model.parent(use)
            call = operation(model, model.parent(method) or method) if isinstance(method, cst.Attribute) else None
            if call is not None and call.name == "masked_fill" and call.in_place:
                return call.argument(1, "mask")
    return None


def _passes(model: Model, step: Operation) -> tuple[cst.BaseExpression, ...]:
    if isinstance(step.node, cst.Subscript) and not _is_corner(model, step.node):
        return ()
    if step.name == "masked_fill":
        filled = step.operands[:1]
        return step.operands[:2] if _tells_nothing(model, filled) else filled  # numbers where the mask says
    if step.name == "where":
        return step.operands[:1] if _tells_nothing(model, step.operands[1:]) else ()
    if step.name in _ORDERS | {"eq", "ne"}:
        left, *right = step.operands  # a triangle of numbers made one of truth values
        return (left,) if right and is_number(model, right[0], 0, 1) else ()
    return step.operands[:1] if step.name in _AROUND else ()


def _tells_nothing(model: Model, sides: tuple[cst.BaseExpression, ...]) -> bool:
    """Whether what a mask chooses from is one number throughout: a bias is something that the attention needs."""
    through = first_operand(_AROUND, frozenset(["tril", "triu"]))
    return all(
        is_number(model, side) or reach(model, side, lambda made: made.name in _PLAIN, through) is not None
        for side in sides
    )


def _is_triangle(model: Model, step: Operation) -> bool:
    """Whether it makes a square triangle along the main diagonal, out of a constant."""
    if step.name == "generate_square_subsequent_mask":
        return True
    if step.name in _ORDERS:
        return len(step.operands) > 1 and _compares_positions(model, step)
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


def _is_corner(model: Model, node: cst.Subscript) -> bool:
    """Whether rows and columns are taken from the first to the same one, perhaps with new dimensions: `[:n, :n]`."""
    ends: list[cst.BaseExpression | None] = []
    for part in node.slice:
        if isinstance(part.slice, cst.Slice):
            if part.slice.lower is not None or part.slice.step is not None:
                return False
            ends.append(part.slice.upper)
        elif not isinstance(part.slice, cst.Index) or not (
            model.value(part.slice.value).kind is Kind.NONE or isinstance(part.slice.value, cst.Ellipsis)
        ):
            return False
    *_, rows, columns = [None, None, *ends]
    return alike(model, rows, columns) if rows is not None and columns is not None else rows is columns


def _compares_positions(model: Model, step: Operation) -> bool:
    """`at[:, None] >= at[None]`, where `at` counts from nought."""
    first, second = step.operands[:2]
    if None in (new_dimension(model, first), new_dimension(model, second)) or new_dimension(
        model, first
    ) == new_dimension(model, second):
        return False
    counts = [
        reach(model, side, lambda inner: inner.name == "arange", first_operand(CASTS, SHAPES, frozenset(["index"])))
        for side in (first, second)
    ]
    made = [one.operations[0] for one in counts if one is not None and one.certain and len(one.operations) == 1]
    return (
        len(made) == 2
        and all(len(one.operands) == 1 for one in made)
        and (made[0].node is made[1].node or alike(model, made[0].operands[0], made[1].operands[0]))
    )


def _is_square(model: Model, made: Operation) -> bool:
    sizes = list(made.operands)
    if sizes and isinstance(sizes[0], (cst.Tuple, cst.List)):
        sizes = [element.value for element in sizes[0].elements]
    return len(sizes) >= 2 and alike(model, sizes[0], sizes[1])

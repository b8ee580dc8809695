"""TL301: a softmax is written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._patterns import (
    CASTS,
    Operation,
    Reached,
    alike,
    called,
    first_operand,
    is_number,
    operation,
    reach,
    same,
)
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeFix, Report, Rule
from torchlint.rules.traffic import _softmax_repairs
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model

# What may stand between the exponential's sum and the division: another arrangement, or a number against zero.
_OF_THE_SUM: Final = CASTS | frozenset("view reshape unsqueeze squeeze expand expand_as index clamp".split())
# What takes a part of the numerator, as of the pair that belongs together: the softmax has that part.
_PICKS: Final = CASTS | frozenset("index diagonal diag gather select narrow index_select".split())
_EPSILON: Final = 1e-2  # numbers below are against zero; others are a weight of their own


class NaiveSoftmax(Rule):
    code = "TL301"
    name = "naive-softmax"
    bottleneck = "traffic"
    summary = "A softmax is written out: `exp(x) / exp(x).sum(...)`"
    fix_availability = FixAvailability.SOMETIMES
    calls = (
        "torch.div",
        "torch.divide",
        "torch.true_divide",
        ".div",
        ".div_",
        ".divide",
        "torch.nn.functional.normalize",
        "torch.mul",
        ".mul",
        ".mul_",
    )
    words = ("exp", "exp_")

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        if site.operator in ("/", "*"):
            made = operation(model, site.node)
            if made is not None:
                yield from self._check(made, site.context, model)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = called(site)
        if made is not None:
            yield from self._check(made, site.context, model)

    def _check(self, made: Operation, context: Context, model: Model) -> Iterator[Report]:
        if surroundings.in_test(context):
            return
        exponential = exponential_of(model, made)
        if exponential is None:
            return
        plain = exponential.certain and not _is_written_to(exponential.operations[0], model)
        confidence = Confidence.LIKELY if plain else Confidence.POSSIBLE
        impact = None
        if _over_positions(model, exponential.operations[0]):
            confidence, impact = Confidence.POSSIBLE, Impact.LOW  # a small kernel of constants, a Gaussian
        if model.compiled(context) is not None:
            confidence, impact = Confidence.POSSIBLE, Impact.LOW  # the compiler fuses what is written out
        source = exponential.operations[0]
        yield Report(
            made.node,
            f"{quote(made.node)} completes a softmax of {quote(source.operands[0])}, written out as several kernels "
            "that each read and write the whole tensor",
            f"write `torch.softmax({quote(source.operands[0])[1:-1]}, dim=...)`, which reads once, writes once "
            "and cannot overflow",
            confidence,
            (("the exponential", source.node),),
            _fix(model, made),
            impact,
        )


def _fix(model: Model, made: Operation) -> NodeFix | None:
    fixes = (
        _softmax_repairs.softmax(model, made.node, above, below)
        for above, below in _quotients(model, made)
        if _exponential(model, above) is not None
    )
    return next((fix for fix in fixes if fix is not None), None) if made.name in ("div", "mul") else None


def exponential_of(model: Model, made: Operation) -> Reached | None:
    """The exponential, where an operation divides it by its own sum."""
    if made.name == "normalize":
        order = made.argument(1, "p")
        if order is None or model.value(order).const not in (1, 1.0) or not made.operands:
            return None
        return _exponential(model, made.operands[0])
    if made.name not in ("div", "mul") or len(made.operands) < 2:
        return None
    for above, below in _quotients(model, made):
        summed = reach(model, below, lambda step: step.name == "sum", lambda step: _towards_sum(model, step))
        if summed is None:
            continue
        for total in summed.operations:
            if not total.operands or _reduced_over_processes(model, total):
                continue
            over = total.operands[0]
            exponential = reach(model, above, _is_exponential, first_operand(_PICKS))
            under = _exponential(model, over)
            if exponential is None or under is None:
                masked = reach(model, above, _is_exponential, _factors) if same(model, above, over) else None
                if masked is not None:
                    return Reached(masked.operations, certain=False)  # a mask can go into the scores, a prior as well
            elif _same(model, above, over, exponential.operations[0], under.operations[0]):
                return Reached(exponential.operations, exponential.certain and under.certain and summed.certain)
    return None


def _is_written_to(exponential: Operation, model: Model) -> bool:
    """Whether entries of the exponential get other values, as those of a mask do: no softmax knows of them."""
    return any(
        site.mode in ("write", "update") and exponential.node in site.base.origins for site in model.sites.subscripts
    )


def _reduced_over_processes(model: Model, total: Operation) -> bool:
    """Whether a collective makes one sum of those of several processes: each has a part of the row alone."""
    for use in model.uses.get(total.node, ()):
        argument = model.parent(use)
        call = model.parent(argument) if isinstance(argument, cst.Arg) else None
        if isinstance(call, cst.Call) and (model.resolve(call.func) or "").startswith("torch.distributed."):
            return True
    return False


def _towards_sum(model: Model, step: Operation) -> tuple[cst.BaseExpression, ...]:
    if step.name in _OF_THE_SUM:
        return step.operands[:1]
    if step.name == "add" and len(step.operands) > 1:
        for total, more in (step.operands[:2], step.operands[1::-1]):
            value = model.value(more)
            if isinstance(value.const, (int, float)):
                return (total,) if abs(value.const) <= _EPSILON else ()
            if is_number(model, more):
                return (total,)
    return ()


def _factors(step: Operation) -> tuple[cst.BaseExpression, ...]:
    return step.operands if step.name == "mul" else step.operands[:1] if step.name in CASTS else ()


def _over_positions(model: Model, exponential: Operation) -> bool:
    """Whether the exponential is one of positions that are counted here: a window, not scores."""
    counted = reach(
        model,
        exponential.operands[0],
        lambda step: step.name in ("arange", "linspace", "range", "meshgrid", "tensor"),
        lambda step: step.operands,
    )
    return counted is not None


def _quotients(model: Model, made: Operation) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Numerator and denominator, of a division or of a product with a reciprocal."""
    left, right = made.operands[:2]
    if made.name == "div":
        yield left, right
        return
    for above, factor in ((left, right), (right, left)):
        inverse = reach(model, factor, lambda step: _inverts(model, step), first_operand(CASTS))
        for step in inverse.operations if inverse is not None else ():
            yield above, step.operands[1] if step.name == "div" else step.operands[0]


def _inverts(model: Model, step: Operation) -> bool:
    if step.name == "reciprocal":
        return True
    if len(step.operands) < 2:
        return False
    if step.name == "pow":
        return is_number(model, step.operands[1], -1)
    return step.name == "div" and is_number(model, step.operands[0], 1)


def _is_exponential(step: Operation) -> bool:
    return step.name == "exp" and bool(step.operands)


def _exponential(model: Model, expression: cst.BaseExpression) -> Reached | None:
    return reach(model, expression, _is_exponential, first_operand(CASTS))


def _same(model: Model, above: cst.BaseExpression, over: cst.BaseExpression, one: Operation, other: Operation) -> bool:
    """Whether two expressions are the same exponential: one value, or one formula over the same values."""
    if one.node is not other.node:
        return alike(model, one.operands[0], other.operands[0])
    if any(_calls_helper(model, node) for node in (above, over)):
        return alike(model, above, over)  # one helper, whose arguments may differ
    return True


def _calls_helper(model: Model, node: cst.BaseExpression) -> bool:
    site = model.call(node)
    return site is not None and site.target is not None

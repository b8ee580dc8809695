"""TL305: an activation function is written as arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._patterns import (
    CASTS,
    Operation,
    called,
    consumers,
    first_operand,
    is_number,
    made_by,
    operation,
    reach,
    same,
)
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.traffic import _arithmetic_repairs
from torchlint.rules.traffic._dispatch import eager, has_fused_branch
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_CUBE: Final = 0.044715  # of the tanh form of GELU
_DEPTH: Final = 6  # operations within operations; the tanh form of GELU has five


class NaiveActivation(Rule):
    code = "TL305"
    name = "naive-activation"
    bottleneck = "traffic"
    summary = "An activation function is written as arithmetic in a module that is not compiled"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("torch.log", "torch.log1p", ".log", ".log1p", "torch.mul", ".mul", ".mul_")
    words = ("sigmoid", "Sigmoid", "tanh", "erf", "exp", "relu6", "softplus", "clamp")

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        if site.operator in ("*", "/") and site.result.is_tensor:
            made = operation(model, site.node)
            if made is not None:
                yield from self._check(made, site.context, model)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = called(site)
        if made is not None:
            yield from self._check(made, site.context, model)

    def _check(self, made: Operation, context: Context, model: Model) -> Iterator[Report]:
        function = _activation(model, made)
        if (
            function is None
            or not eager(model, context)
            or has_fused_branch(model, context, frozenset({function[0].partition("(")[0]}))
        ):
            return
        yield Report(
            made.node,
            f"{quote(made.node)} is {function[1]} written out, as several kernels that each read and write the "
            "whole tensor",
            f"call `torch.nn.functional.{function[0]}`, which does it in one",
            Confidence.LIKELY,
            fix=_arithmetic_repairs.activation(model, made.node, function[0]),
        )


def _activation(model: Model, made: Operation, depth: int = 0) -> tuple[str, str] | None:
    """The function of `torch.nn.functional` that says the same, and what it is called."""
    if made.name in ("log", "log1p"):
        return ("softplus", "softplus") if _is_softplus(model, made) else None
    if len(made.operands) < 2:
        return None
    if made.name == "div":
        if _is_one_plus(model, made.operands[1], "exp", lambda step: _negates(model, step, made.operands[0])):
            return "silu", "SiLU"
    if depth > _DEPTH or any(_is_activation(model, operand, depth) for operand in made.operands[:2]):
        return None  # reported where it is complete
    factors = list(_factors(model, made))
    for x in factors:
        if model.value(x).kind is Kind.NUMBER:
            continue
        others = [factor for factor in factors if factor is not x]
        if any(_is_gate(model, factor, x, "erf") for factor in others) and _halves(model, others):
            return "gelu", "GELU"
        if any(_is_gate(model, factor, x, "tanh") for factor in others) and _halves(model, others):
            return 'gelu(approximate="tanh")', "GELU in its tanh form"
    for x in factors if made.name == "div" and is_number(model, made.operands[1], 6) else ():
        if any(_is_clamped_shift(model, factor, x) for factor in factors if factor is not x):
            return "hardswish", "hard swish"
    for x, gate in (made.operands[:2], made.operands[1::-1]):
        if made.name == "mul" and _is_function_of(model, gate, x, "sigmoid"):
            return "silu", "SiLU"
        if made.name == "mul" and _is_mish_gate(model, gate, x):
            return "mish", "mish"
    return None


def _is_activation(model: Model, operand: cst.BaseExpression, depth: int) -> bool:
    origins = made_by(model, operand)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    return made is not None and made.name in ("mul", "div") and _activation(model, made, depth + 1) is not None


def _factors(model: Model, made: Operation, depth: int = 0) -> Iterator[cst.BaseExpression]:
    """The factors of a product, through names and quotients by numbers."""
    for operand in made.operands[:2] if made.name == "mul" else made.operands[:1]:
        origins = made_by(model, operand)
        inner = operation(model, origins[0]) if len(origins) == 1 and depth < _DEPTH else None
        if (
            inner is not None
            and len(inner.operands) > 1
            and (inner.name == "mul" or (inner.name == "div" and is_number(model, inner.operands[1])))
        ):
            yield from _factors(model, inner, depth + 1)
            if inner.name == "div":
                yield inner.operands[1]
        else:
            yield operand
    if made.name == "div":
        yield made.operands[1]


def _halves(model: Model, factors: list[cst.BaseExpression]) -> bool:
    return any(is_number(model, factor, 0.5, 2.0) for factor in factors)


def _is_gate(model: Model, factor: cst.BaseExpression, x: cst.BaseExpression, name: str) -> bool:
    """`1 + erf(x / sqrt(2))`, or `1 + tanh(...)` of the cube that GELU has."""

    def of_x(step: Operation) -> bool:
        if not step.operands:
            return False
        if name == "tanh":
            return _holds_cube(model, step.operands[0]) and _holds(model, step.operands[0], x)
        return _holds(model, step.operands[0], x)

    return _is_one_plus(model, factor, name, of_x)


def _is_one_plus(model: Model, expression: cst.BaseExpression, name: str, wanted: Callable[[Operation], bool]) -> bool:
    found = reach(model, expression, lambda step: step.name == "add", first_operand(CASTS))
    for step in found.operations if found is not None else ():
        if len(step.operands) < 2:
            continue
        for one, other in (step.operands[:2], step.operands[1::-1]):
            if not is_number(model, one, 1.0):
                continue
            inner = reach(model, other, lambda term: term.name == name, first_operand(CASTS))
            if inner is not None and any(wanted(term) for term in inner.operations):
                return True
    return False


def _negates(model: Model, step: Operation, x: cst.BaseExpression) -> bool:
    found = (
        reach(model, step.operands[0], lambda inner: inner.name == "neg", first_operand(CASTS))
        if step.operands
        else None
    )
    return found is not None and any(same(model, inner.operands[0], x) for inner in found.operations)


def _is_softplus(model: Model, made: Operation) -> bool:
    if not made.operands:
        return False
    if made.name == "log":
        return _is_one_plus(model, made.operands[0], "exp", lambda step: bool(step.operands))
    return reach(model, made.operands[0], lambda step: step.name == "exp", first_operand(CASTS)) is not None


def _is_function_of(model: Model, gate: cst.BaseExpression, x: cst.BaseExpression, name: str) -> bool:
    """Whether the gate is that function of x, and used for nothing else."""
    found = reach(model, gate, lambda step: step.name == name, first_operand(CASTS))
    if found is None or not found.certain:
        return False
    return any(
        step.operands
        and same(model, step.operands[0], x)
        and (step.call is None or step.call.function.qual != "torch.nn.Sequential")
        and sum(1 for _ in consumers(model, step.node)) == 1
        for step in found.operations
    )


def _is_mish_gate(model: Model, gate: cst.BaseExpression, x: cst.BaseExpression) -> bool:
    found = reach(model, gate, lambda step: step.name == "tanh", first_operand(CASTS))
    for step in found.operations if found is not None else ():
        inner = (
            reach(model, step.operands[0], lambda s: s.name == "softplus", first_operand(CASTS))
            if step.operands
            else None
        )
        if inner is not None and any(same(model, s.operands[0], x) for s in inner.operations if s.operands):
            return True
    return False


def _is_clamped_shift(model: Model, factor: cst.BaseExpression, x: cst.BaseExpression) -> bool:
    """`relu6(x + 3)`, or the same by `clamp`."""
    found = reach(model, factor, lambda step: step.name in ("relu6", "ReLU6", "clamp"), first_operand(CASTS))
    for step in found.operations if found is not None else ():
        bounds = [step.argument(position, name) for position, name in ((1, "min"), (2, "max"))]
        if step.name == "clamp" and not all(
            bound is not None and is_number(model, bound, number) for bound, number in zip(bounds, (0, 6), strict=True)
        ):
            continue
        shift = operation(model, made_by(model, step.operands[0])[0]) if step.operands else None
        if (
            shift is not None
            and shift.name == "add"
            and any(
                same(model, one, x) and is_number(model, other, 3)
                for one, other in (shift.operands[:2], shift.operands[1::-1])
            )
        ):
            return True
    return False


def _holds(model: Model, expression: cst.BaseExpression, x: cst.BaseExpression, depth: int = 0) -> bool:
    """Whether an expression is arithmetic of x and numbers."""
    if same(model, expression, x):
        return True
    origins = made_by(model, expression)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    if made is None or made.name not in ("mul", "div", "add", "pow", *CASTS) or depth > _DEPTH:
        return False
    return any(_holds(model, operand, x, depth + 1) for operand in made.operands if operand is not expression)


def _holds_cube(model: Model, expression: cst.BaseExpression, depth: int = 0) -> bool:
    """Whether the constant of GELU's cubic term stands in an expression."""
    if is_number(model, expression, _CUBE):
        return True
    origins = made_by(model, expression)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    if made is None or depth > _DEPTH:
        return False
    return any(_holds_cube(model, operand, depth + 1) for operand in made.operands if operand is not expression)

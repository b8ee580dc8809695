"""TL304: a layer norm or RMS norm is written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._patterns import CASTS, SHAPES, Operation, first_operand, is_number, operation, reach, same
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.traffic._arithmetic_repairs import is_biased, norm
from torchlint.rules.traffic._dispatch import eager, has_fused_branch
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model

_AROUND: Final = (CASTS | SHAPES) - {"detach"}  # detached statistics have other gradients than a norm's
_FUSED: Final = frozenset(
    "rms_norm layer_norm fused_rms_norm fused_layer_norm fused_rms_norm_affine fused_layer_norm_affine".split()
)


class NaiveNorm(Rule):
    code = "TL304"
    name = "naive-norm"
    bottleneck = "traffic"
    summary = "A layer norm or RMS norm is written out in a module that is not compiled"
    fix_availability = FixAvailability.SOMETIMES
    torch = "2.4"
    words = ("rsqrt", "sqrt", "pow", "**", "std")

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        if site.operator not in ("*", "/"):
            return
        made = operation(model, site.node)
        found = _norm(model, made, site.context) if made is not None else None
        if (
            made is None
            or found is None
            or not eager(model, site.context)
            or has_fused_branch(model, site.context, _FUSED)
        ):
            return
        function, scaled, confidence = found
        fixes = (norm(model, site.node, function, value, root) for value, root in _scaled(model, made))
        yield Report(
            site.node,
            f"{quote(site.node)} completes a norm of {quote(scaled)}, written out as several kernels that each "
            "read and write the whole tensor",
            f"call `torch.nn.functional.{function}`, or "
            f"`torch.nn.{'RMSNorm' if function == 'rms_norm' else 'LayerNorm'}`, which does it in one",
            confidence,
            fix=next((fix for fix in fixes if fix is not None), None),
        )


def _norm(model: Model, made: Operation, context: Context) -> tuple[str, cst.BaseExpression, Confidence] | None:
    """The function that says the same, what it normalises, and how sure it is."""
    for value, root in _unweighted(model, made):
        spread = reach(
            model, root.operands[0], lambda step: step.name in ("mean", "var"), lambda step: _passes(model, step)
        )
        for step in spread.operations if spread is not None else ():
            if not step.operands or not _over_last(model, step):
                continue
            found = _centred(model, value)
            if step.name == "var":
                if found is not None and same(model, found, step.operands[0]):
                    return (
                        "layer_norm",
                        found,
                        Confidence.LIKELY if is_biased(model, step) else Confidence.POSSIBLE,
                    )
                continue
            squared = _squared(model, step.operands[0])
            if squared is None or not same(model, squared, value):
                continue
            return ("rms_norm", value, Confidence.LIKELY) if found is None else ("layer_norm", found, Confidence.LIKELY)
    return _by_deviation(model, made, context)


def _is_of_module(context: Context) -> bool:
    """Whether code is a module's: elsewhere numbers such as rewards are standardised, once and on the host."""
    cls = context.owner.cls if context.owner is not None else None
    return cls is not None and cls.find_method("forward") is not None


def _by_deviation(model: Model, made: Operation, context: Context) -> tuple[str, cst.BaseExpression, Confidence] | None:
    """`(x - mean) / (std + eps)`, be it scaled: a layer norm, save for the sample's correction."""
    if made.name != "div":
        return None
    above, below = made.operands[:2]
    scaled = operation(model, above)
    factors = scaled.operands[:2] if scaled is not None and scaled.name == "mul" else (above,)
    spread = reach(model, below, lambda step: step.name == "std", lambda step: _passes(model, step))
    for step in spread.operations if spread is not None else ():
        for factor in factors if step.operands and _over_last(model, step) else ():
            x = _centred(model, factor)
            if x is not None and same(model, x, step.operands[0]):
                return "layer_norm", x, Confidence.LIKELY if _is_of_module(context) else Confidence.POSSIBLE
    return None


def _unweighted(model: Model, made: Operation) -> Iterator[tuple[cst.BaseExpression, Operation]]:
    """The same, or what is weighted before it is scaled: `weight * (x - mean) / sqrt(...)`."""
    for value, root in _scaled(model, made):
        yield value, root
        weighted = operation(model, value)
        if weighted is not None and weighted.name == "mul":
            yield from ((factor, root) for factor in weighted.operands[:2])


def _scaled(model: Model, made: Operation) -> Iterator[tuple[cst.BaseExpression, Operation]]:
    """What is scaled, and the root that scales it: `x * rsqrt(...)`, `x / sqrt(...)`."""
    left, right = made.operands[:2]
    if made.name == "div":
        below = reach(model, right, lambda step: _is_root(model, step, "sqrt", 0.5), first_operand(_AROUND))
        yield from ((left, root) for root in (below.operations if below is not None else ()))
        return
    for value, factor in ((left, right), (right, left)):
        by = reach(model, factor, lambda step: _is_root(model, step, "rsqrt", -0.5), first_operand(_AROUND))
        yield from ((value, root) for root in (by.operations if by is not None else ()))


def _is_root(model: Model, step: Operation, name: str, power: float) -> bool:
    if not step.operands:
        return False
    return step.name == name or (
        step.name == "pow" and len(step.operands) > 1 and is_number(model, step.operands[1], power)
    )


def _passes(model: Model, step: Operation) -> tuple[cst.BaseExpression, ...]:
    if step.name in _AROUND or step.name == "clamp":
        return step.operands[:1]
    if step.name == "add" and len(step.operands) > 1:
        left, right = step.operands[:2]
        if is_number(model, left):
            return (right,)
        # An epsilon that is learned is none that a norm of torch takes.
        return () if model.value(right).attached else (left,)
    return ()


def _over_last(model: Model, step: Operation) -> bool:
    """Whether a mean or variance is taken over the last dimension, or the last ones."""
    dim = step.argument(1, "dim", "axis")
    if dim is None:
        return False
    value = model.value(dim)
    if value.const is not None and isinstance(value.const, int):
        return value.const == -1
    sizes = [item.const for item in (value.items or {}).values()]
    return (bool(sizes) and sizes[-1] == -1) or (-1 in sizes and all(isinstance(n, int) and n < 0 for n in sizes))


def _squared(model: Model, expression: cst.BaseExpression) -> cst.BaseExpression | None:
    """What an expression is the square of."""
    found = reach(model, expression, lambda step: step.name in ("square", "pow", "mul"), first_operand(CASTS))
    for step in found.operations if found is not None else ():
        if step.name == "square" and step.operands:
            return step.operands[0]
        if len(step.operands) < 2:
            continue
        if step.name == "pow" and is_number(model, step.operands[1], 2):
            return step.operands[0]
        if step.name == "mul" and same(model, step.operands[0], step.operands[1]):
            return step.operands[0]
    return None


def _centred(model: Model, expression: cst.BaseExpression) -> cst.BaseExpression | None:
    """What an expression is, less its own mean over the last dimensions."""
    found = reach(model, expression, lambda step: step.name == "sub", first_operand(CASTS))
    for step in found.operations if found is not None else ():
        if len(step.operands) < 2:
            continue
        mean = reach(model, step.operands[1], lambda inner: inner.name == "mean", first_operand(_AROUND))
        for inner in mean.operations if mean is not None else ():
            if inner.operands and same(model, inner.operands[0], step.operands[0]) and _over_last(model, inner):
                return step.operands[0]
    return None

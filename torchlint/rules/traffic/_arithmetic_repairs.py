"""Activations and norms in place of their arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

import libcst as cst

from torchlint.rules._patterns import Operation, is_number, made_by, operation
from torchlint.rules._repairs import Rewrite, Unfit, code, repair, spell
from torchlint.rules.base import NodeFix
from torchlint.rules.traffic._repairs import FUNCTIONAL, dim_of, is_value, sole
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Kind

_SEQUENTIAL: Final = "torch.nn.Sequential"  # does more than the operation that ends it
# Where a written-out activation must agree with the function that is to take its place.
_POINTS: Final = (-3.1, -1.2, -0.4, 0.3, 1.7, 2.9)
_TOLERANCE: Final = 1e-5
_DEEPEST: Final = 24  # operations within operations that a formula may have


@repair
def activation(model: Model, node: cst.CSTNode, function: str) -> NodeFix:
    """`gelu(x)` and the like, where the arithmetic is shown to agree with the function at some points."""
    name, _, options = function.partition("(")
    if not isinstance(node, cst.BaseExpression):
        raise Unfit
    x = next((leaf for leaf in _leaves(model, node) if _agrees(model, node, leaf, _ACTIVATIONS[function])), None)
    if x is None:
        raise Unfit
    rewrite = Rewrite(model, node)
    rewrite.spare(*_steps(model, node, x))
    spelled, imports = spell(model, f"{FUNCTIONAL}.{name}")
    further = f", {options}" if options else ")"
    return rewrite.fix(f"Call `{name}`", f"{spelled}({rewrite.part(x)}{further}", imports)


def _leaves(model: Model, node: cst.BaseExpression, depth: int = 0) -> Iterator[cst.BaseExpression]:
    """The tensors that an expression is computed from."""
    origins = made_by(model, node)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    for operand in made.operands if made is not None and depth < _DEEPEST else ():
        if not is_number(model, operand):
            yield operand
            if operand is not node:
                yield from _leaves(model, operand, depth + 1)


def _steps(model: Model, node: cst.BaseExpression, x: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """The operations on the way from `x` to an expression."""
    origins = made_by(model, node)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    if made is not None and not is_value(model, node, x):
        yield made.node
        for operand in made.operands:
            if operand is not node and model.value(operand).is_tensor:
                yield from _steps(model, operand, x)


def _agrees(model: Model, node: cst.BaseExpression, x: cst.BaseExpression, function: Callable[[float], float]) -> bool:
    """Whether an expression gives what the function gives for `x`."""
    try:
        return all(
            abs(_evaluate(model, node, x, point) - function(point)) <= _TOLERANCE * (1 + abs(point))
            for point in _POINTS
        )
    except (Unfit, ArithmeticError, ValueError):
        return False


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _relu6(x: float) -> float:
    return min(max(x, 0.0), 6.0)


_ACTIVATIONS: Final[dict[str, Callable[[float], float]]] = {
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    'gelu(approximate="tanh")': lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
    "softplus": lambda x: math.log1p(math.exp(x)),
    "hardswish": lambda x: x * _relu6(x + 3) / 6,
}
_ONE: Final[dict[str, Callable[[float], float]]] = {
    "neg": lambda a: -a,
    "tanh": math.tanh,
    "erf": math.erf,
    "exp": math.exp,
    "sigmoid": _sigmoid,
    "sqrt": math.sqrt,
    "square": lambda a: a * a,
    "log": math.log,
    "log1p": math.log1p,
    "softplus": lambda a: math.log1p(math.exp(a)),
    "reciprocal": lambda a: 1 / a,
    "relu6": _relu6,
    "ReLU6": _relu6,
}
_TWO: Final[dict[str, Callable[[float, float], float]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: float(a**b),
}


def _evaluate(model: Model, expression: cst.BaseExpression, x: cst.BaseExpression, at: float, depth: int = 0) -> float:
    """The number that arithmetic gives where `x` is `at`. Raises Unfit for anything that is not arithmetic of x."""
    value = model.value(expression)
    if isinstance(value.const, (int, float)):
        return value.const
    if value.is_tensor or value.kind is Kind.UNKNOWN:
        if depth and is_value(model, expression, x):
            return at
    elif (number := _constant(model, expression)) is not None:
        return number
    origins = made_by(model, expression)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    if made is None or depth > _DEEPEST or made.in_place or isinstance(made.node, cst.AugAssign):
        raise Unfit
    if made.call is not None and (
        any(argument.name is not None for argument in made.call.arguments) or made.call.function.qual == _SEQUENTIAL
    ):
        raise Unfit
    operands = [_evaluate(model, operand, x, at, depth + 1) for operand in made.operands]
    if len(operands) == 1 and made.name in _ONE:
        return _ONE[made.name](*operands)
    if len(operands) == 2 and made.name in _TWO:
        return _TWO[made.name](*operands)
    raise Unfit


def _constant(model: Model, expression: cst.BaseExpression) -> float | None:
    """A number that is written as arithmetic of numbers: `math.sqrt(2 / math.pi)`."""
    value = model.value(expression)
    if isinstance(value.const, (int, float)):
        return value.const
    if value.qual == "math.pi" or model.resolve(expression) == "math.pi" or dotted(expression) == "math.pi":
        return math.pi
    origins = made_by(model, expression)
    node = origins[0] if len(origins) == 1 else expression
    if isinstance(node, cst.Call):
        site = model.call(node)
        if site is not None and site.callee == "math.sqrt" and len(site.arguments) == 1:
            inner = _constant(model, site.arguments[0].node)
            return math.sqrt(inner) if inner is not None and inner >= 0 else None
        return None
    made = operation(model, node)
    if made is None or made.name not in (*_TWO, "neg"):
        return None
    numbers = [_constant(model, operand) for operand in made.operands if operand is not expression]
    if len(numbers) == 1 and numbers[0] is not None and made.name == "neg":
        return -numbers[0]
    if len(numbers) == 2 and numbers[0] is not None and numbers[1] is not None and made.name in _TWO:
        return _TWO[made.name](numbers[0], numbers[1])
    return None


@repair
def norm(model: Model, node: cst.CSTNode, function: str, value: cst.BaseExpression, root: Operation) -> NodeFix:
    """`rms_norm(x, x.shape[-1:], eps=eps)` for `x * rsqrt(mean(x ** 2) + eps)`, `layer_norm` likewise."""
    if not isinstance(node, cst.BaseExpression):
        raise Unfit
    spread = sole(model, root.operands[0], "add", "mean", "var")
    epsilon: cst.BaseExpression | None = None
    if spread.name == "add":
        sides = spread.operands[:2]
        epsilon = next((side for side in sides if is_number(model, side)), None)
        other = next((side for side in sides if side is not epsilon), None)
        if epsilon is None or other is None:
            raise Unfit
        spread = sole(model, other, "mean", "var")
    x = value
    if function == "layer_norm":
        centred = sole(model, value, "sub")
        mean = sole(model, centred.operands[1], "mean")
        x = centred.operands[0]
        if not (_is_last(model, mean) and is_value(model, mean.operands[0], x)):
            raise Unfit
    if not _is_last(model, spread):
        raise Unfit
    if spread.name == "var":
        if not is_value(model, spread.operands[0], x) or not is_biased(model, spread):
            raise Unfit
    else:
        power = sole(model, spread.operands[0], "square", "pow", "mul")
        if not is_value(model, power.operands[0], value):
            raise Unfit
        if power.name == "mul" and not is_value(model, power.operands[1], value):
            raise Unfit
        if power.name == "pow" and not is_number(model, power.operands[1], 2):
            raise Unfit
    if dotted(x) is None:
        raise Unfit
    rewrite = Rewrite(model, node)
    spelled, imports = spell(model, f"{FUNCTIONAL}.{function}")
    rewrite.spare(root.node, spread.node)
    written, eps = rewrite.part(x), rewrite.part(epsilon) if epsilon is not None else "0.0"
    return rewrite.fix(f"Call `{function}`", f"{spelled}({written}, {written}.shape[-1:], eps={eps})", imports)


def is_biased(model: Model, made: Operation) -> bool:
    """Whether a variance divides by the number of elements, as norms do."""
    for name, wanted in (("unbiased", False), ("correction", 0)):
        argument = made.argument(None, name)
        if argument is not None:
            return bool(model.value(argument).const == wanted)
    position = made.argument(2)
    return position is not None and model.value(position).const is False


def _is_last(model: Model, made: Operation) -> bool:
    """Whether a mean or variance is taken over the last dimension alone, which it keeps."""
    dim = dim_of(made)
    if made.argument(None, "dtype") is not None:
        return False
    if dim is None or not (model.value(dim).const == -1 or code(dim).replace(" ", "") in ("(-1,)", "[-1]")):
        return False
    keep = made.argument(None, "keepdim", "keepdims") or made.argument(3 if made.name == "var" else 2)
    return keep is not None and model.value(keep).const is True

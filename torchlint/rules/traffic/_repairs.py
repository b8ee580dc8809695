"""What to write instead of operations that are spelled out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._patterns import Operation, alike, consumers, is_number, made_by, new_dimension, operation, same
from torchlint.rules._repairs import Rewrite, Unfit, add_argument, code, repair, spell, tight
from torchlint.rules.base import NodeFix
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Kind

_FUNCTIONAL: Final = "torch.nn.functional"
_SEQUENTIAL: Final = "torch.nn.Sequential"  # does more than the operation that ends it
# Where a written-out activation must agree with the function that is to take its place.
_POINTS: Final = (-3.1, -1.2, -0.4, 0.3, 1.7, 2.9)
_TOLERANCE: Final = 1e-5
_DEEPEST: Final = 24


def _made(model: Model, expression: cst.BaseExpression, *names: str) -> Operation:
    """The one operation that made a value, which must have one of the names."""
    origins = made_by(model, expression)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    if made is None or made.name not in names or made.in_place or not made.operands:
        raise Unfit
    return made


def _dim(made: Operation, position: int = 1) -> cst.BaseExpression | None:
    return made.argument(position, "dim", "axis")


def _keeps(model: Model, made: Operation) -> bool:
    keep = made.argument(2, "keepdim", "keepdims")
    return keep is not None and model.value(keep).const is True


@repair
def softmax(model: Model, node: cst.CSTNode, above: cst.BaseExpression, below: cst.BaseExpression) -> NodeFix:
    """`torch.softmax(x, dim=d)` for `exp(x - max) / exp(x - max).sum(d, keepdim=True)`."""
    if not isinstance(node, cst.BaseExpression):
        raise Unfit
    if _is_in_place(model, node):
        raise Unfit
    exponential = _made(model, above, "exp")
    total = _made(model, below, "sum", "unsqueeze", "index")
    added = _new_dimension(model, total)
    if total.name != "sum":
        total = _made(model, total.operands[0], "sum")
    dim = _dim(total)
    over = _made(model, total.operands[0], "exp")
    if dim is None or not isinstance(model.value(dim).const, int):
        raise Unfit
    if not alike(model, exponential.operands[0], over.operands[0]):
        raise Unfit
    if not _keeps(model, total) and added != model.value(dim).const:
        raise Unfit
    rewrite = Rewrite(model, node)
    rewrite.spare(exponential.node, over.node, total.node)
    scores = _unshifted(model, exponential.operands[0], dim)
    _not_changed(model, node)
    name, imports = spell(model, "torch.softmax")
    return rewrite.fix("Call `torch.softmax`", f"{name}({rewrite.part(scores)}, dim={rewrite.part(dim)})", imports)


def _not_changed(model: Model, node: cst.CSTNode) -> None:
    """Raise Unfit where a value is changed in place, and the backward of what is to make it needs it as it was."""
    for step in consumers(model, node):
        if step is not None and (step.in_place or isinstance(step.node, cst.AugAssign)) and step.operands:
            if made_by(model, step.operands[0]) == (node,) or step.in_place:
                raise Unfit


def _new_dimension(model: Model, made: Operation) -> int | None:
    """Where an operation puts a dimension of size one; none of any other operation."""
    if made.name == "unsqueeze":
        position = made.argument(1, "dim")
        const = model.value(position).const if position is not None else None
        return const if isinstance(const, int) else None
    if isinstance(made.node, cst.Subscript):
        parts = [code_of_index(part) for part in made.node.slice]
        if "None" in parts and parts.count("None") == 1:
            place = parts.index("None")
            if "..." in parts:
                return place - len(parts) if parts == ["...", "None"] else None
            return place if all(part in (":", "None") for part in parts) else None
        raise Unfit
    return None


def code_of_index(part: cst.SubscriptElement) -> str:
    """An index as written, without white space."""
    return "".join(cst.Module([]).code_for_node(part.slice).split())


def _unshifted(model: Model, scores: cst.BaseExpression, dim: cst.BaseExpression) -> cst.BaseExpression:
    """What the exponential is taken of, before its maximum was subtracted."""
    origins = made_by(model, scores)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    if (
        made is None
        or made.name != "sub"
        or len(made.operands) < 2
        or made.in_place
        or isinstance(made.node, cst.AugAssign)
    ):
        return scores
    peak = made.operands[1]
    for _ in range(3):
        found = operation(model, o[0]) if len(o := made_by(model, peak)) == 1 else None
        if found is None:
            return scores
        if found.name in ("max", "amax"):
            along = _dim(found)
            whole = along is None or model.value(along).const == model.value(dim).const
            return made.operands[0] if whole and same(model, found.operands[0], made.operands[0]) else scores
        if found.name not in ("index", "values", "detach", "unsqueeze"):
            return scores
        peak = found.operands[0]
    return scores


@repair
def log_softmax(model: Model, site: sites.Call) -> NodeFix:
    """`log_softmax(x, dim=d)` for `log(softmax(x, d))`; `cross_entropy(x, t)` where `nll_loss` takes that."""
    log = operation(model, site.node)
    softmax = _made(model, log.operands[0], "softmax") if log is not None and not log.in_place else None
    if softmax is None or softmax.call is None or softmax.call.function.kind is Kind.MODULE:
        raise Unfit
    dim = _dim(softmax)
    if dim is None or softmax.argument(2, "dtype") is not None:
        raise Unfit
    loss = _argument_of(model, site.node, f"{_FUNCTIONAL}.nll_loss")
    if loss is not None and model.value(dim).const == 1:
        rewrite = Rewrite(model, loss)
        rewrite.unchanged(softmax.node)
        name, imports = spell(model, f"{_FUNCTIONAL}.cross_entropy")
        rest = "".join(f", {_argument(argument)}" for argument in loss.args[1:])
        for argument in loss.args[1:]:
            rewrite.part(argument.value)
        return rewrite.fix("Call `cross_entropy`", f"{name}({rewrite.part(softmax.operands[0])}{rest})", imports)
    _not_changed(model, site.node)
    rewrite = Rewrite(model, site.node)
    rewrite.unchanged(softmax.node)
    name, imports = spell(model, f"{_FUNCTIONAL}.log_softmax")
    written = f"{name}({rewrite.part(softmax.operands[0])}, dim={rewrite.part(dim)})"
    return rewrite.fix("Call `log_softmax`", written, imports)


def _argument_of(model: Model, node: cst.CSTNode, callee: str) -> cst.Call | None:
    """The call of that function whose first argument a node is."""
    argument = model.parent(node)
    call = model.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(call, cst.Call) or call.args[0] is not argument or argument.keyword is not None or argument.star:
        return None
    site = model.call(call)
    return call if site is not None and site.callee == callee and not site.opaque_arguments else None


def _argument(argument: cst.Arg) -> str:
    return code(argument.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip()


@repair
def with_logits(model: Model, site: sites.Call) -> NodeFix:
    """`binary_cross_entropy_with_logits(x, t)` for `binary_cross_entropy(sigmoid(x), t)`."""
    if site.callee != f"{_FUNCTIONAL}.binary_cross_entropy" or site.opaque_arguments or not site.arguments:
        raise Unfit
    if site.arguments[0].name is not None:
        raise Unfit
    sigmoid = _made(model, site.arguments[0].node, "sigmoid")
    if model.function_of(site.context) is not (model.function_of(sigmoid.call.context) if sigmoid.call else None):
        raise Unfit
    rewrite = Rewrite(model, site.node)
    rewrite.unchanged(sigmoid.node)
    name, imports = spell(model, f"{_FUNCTIONAL}.binary_cross_entropy_with_logits")
    rest = "".join(f", {_argument(argument)}" for argument in site.node.args[1:])
    for argument in site.node.args[1:]:
        rewrite.part(argument.value)
    return rewrite.fix("Give it the logits", f"{name}({rewrite.part(sigmoid.operands[0])}{rest})", imports)


# Activations


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
    spelled, imports = spell(model, f"{_FUNCTIONAL}.{name}")
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
    if made is not None and not _is(model, node, x):
        yield made.node
        for operand in made.operands:
            if operand is not node and model.value(operand).is_tensor:
                yield from _steps(model, operand, x)


def _is_in_place(model: Model, node: cst.CSTNode) -> bool:
    made = operation(model, node)
    return made is None or made.in_place


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
        if depth and _is(model, expression, x):
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


def _is(model: Model, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """Whether two expressions are one value, and not a cast of it."""
    mine, its = model.value(one), model.value(other)
    if mine.origins == its.origins and mine.ident == its.ident and (mine.origins or mine.ident is not None):
        return True
    return alike(model, one, other)


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


# Norms


@repair
def norm(model: Model, node: cst.CSTNode, function: str, value: cst.BaseExpression, root: Operation) -> NodeFix:
    """`rms_norm(x, x.shape[-1:], eps=eps)` for `x * rsqrt(mean(x ** 2) + eps)`, `layer_norm` likewise."""
    if not isinstance(node, cst.BaseExpression):
        raise Unfit
    spread = _made(model, root.operands[0], "add", "mean", "var")
    epsilon: cst.BaseExpression | None = None
    if spread.name == "add":
        sides = spread.operands[:2]
        epsilon = next((side for side in sides if is_number(model, side)), None)
        other = next((side for side in sides if side is not epsilon), None)
        if epsilon is None or other is None:
            raise Unfit
        spread = _made(model, other, "mean", "var")
    x = value
    if function == "layer_norm":
        centred = _made(model, value, "sub")
        mean = _made(model, centred.operands[1], "mean")
        x = centred.operands[0]
        if not (_is_last(model, mean) and _is(model, mean.operands[0], x)):
            raise Unfit
    if not _is_last(model, spread):
        raise Unfit
    if spread.name == "var":
        if not _is(model, spread.operands[0], x) or not is_biased(model, spread):
            raise Unfit
    else:
        power = _made(model, spread.operands[0], "square", "pow", "mul")
        if not _is(model, power.operands[0], value):
            raise Unfit
        if power.name == "mul" and not _is(model, power.operands[1], value):
            raise Unfit
        if power.name == "pow" and not is_number(model, power.operands[1], 2):
            raise Unfit
    if dotted(x) is None:
        raise Unfit
    rewrite = Rewrite(model, node)
    spelled, imports = spell(model, f"{_FUNCTIONAL}.{function}")
    rewrite.spare(root.node, spread.node)
    written, eps = rewrite.part(x), rewrite.part(epsilon) if epsilon is not None else "0.0"
    return rewrite.fix(f"Call `{function}`", f"{spelled}({written}, {written}.shape[-1:], eps={eps})", imports)


def is_biased(model: Model, made: Operation) -> bool:
    """Whether a variance divides by the number of elements, as norms do."""
    for name, wanted in (("unbiased", False), ("correction", 0)):
        argument = made.argument(99, name)
        if argument is not None:
            return bool(model.value(argument).const == wanted)
    position = made.argument(2)
    return position is not None and model.value(position).const is False


def _is_last(model: Model, made: Operation) -> bool:
    """Whether a mean or variance is taken over the last dimension alone, which it keeps."""
    dim = _dim(made)
    if made.argument(99, "dtype") is not None:
        return False
    if dim is None or not (model.value(dim).const == -1 or code(dim).replace(" ", "") in ("(-1,)", "[-1]")):
        return False
    keep = made.argument(99, "keepdim", "keepdims") or made.argument(3 if made.name == "var" else 2)
    return keep is not None and model.value(keep).const is True


# Attention


@repair
def causal(model: Model, site: sites.Call, mask: cst.BaseExpression) -> NodeFix:
    """`is_causal=True` for a mask that is a triangle and nothing else."""
    argument = model.parent(mask)
    if not isinstance(argument, cst.Arg) or site.argument(None, "is_causal") is not None or site.opaque_arguments:
        raise Unfit
    if argument.keyword is None and site.node.args[-1] is not argument and site.node.args[4].keyword is None:
        raise Unfit
    _triangle(model, mask)
    return Rewrite(model, argument).fix("Pass `is_causal=True`", "is_causal=True")


def _triangle(model: Model, mask: cst.BaseExpression) -> None:
    """Raises Unfit unless a mask lets each position see itself and those before it."""
    made = _made(model, mask, "tril", "triu", "logical_not", "bitwise_not", "unsqueeze", "index", "to", "view")
    while made.name in ("unsqueeze", "index", "to", "view"):
        made = _made(model, made.operands[0], "tril", "triu", "logical_not", "bitwise_not", "unsqueeze", "index", "to")
    inverted = made.name in ("logical_not", "bitwise_not")
    if inverted:
        made = _made(model, made.operands[0], "triu")
    diagonal = made.argument(1, "diagonal")
    offset = 0 if diagonal is None else model.value(diagonal).const
    filled = _made(model, made.operands[0], "ones", "full", "to", "bool")
    boolean = model.value(made.operands[0]).dtype == "bool"
    if filled.name in ("to", "bool"):
        filled = _made(model, filled.operands[0], "ones")
    if made.name == "tril" and offset == 0 and not inverted and boolean and filled.name == "ones":
        return
    if made.name == "triu" and offset == 1:
        if inverted and boolean and filled.name == "ones":
            return
        number = filled.argument(1, "fill_value")
        if not inverted and filled.name == "full" and number is not None and _is_minus_infinity(model, number):
            return
    raise Unfit


def _is_minus_infinity(model: Model, number: cst.BaseExpression) -> bool:
    text = code(number).replace(" ", "").replace("'", '"').lower()
    return text in ('float("-inf")', '-float("inf")', "-math.inf", "-torch.inf", "-np.inf", "-numpy.inf")


def grouped(model: Model, attention: sites.Call) -> NodeFix | None:
    """`enable_gqa=True`, where keys and values are both repeated along the heads by statements of their own."""
    return _grouped(model, attention)


@repair
def _grouped(model: Model, attention: sites.Call) -> NodeFix:
    if attention.opaque_arguments:
        raise Unfit
    dropped, times = [], []
    for position, name in ((1, "key"), (2, "value")):
        given = attention.argument(position, name)
        if given is None or not isinstance(given.node, cst.Name):
            raise Unfit
        made = _made(model, given.node, "repeat_interleave")
        dim, repeats = made.argument(2, "dim"), made.argument(1, "repeats")
        statement = model.parent(made.node)
        if dim is None or repeats is None or model.value(dim).const not in (1, -3):
            raise Unfit
        if (
            not isinstance(statement, cst.Assign)
            or len(statement.targets) != 1
            or dotted(statement.targets[0].target) != given.node.value
            or dotted(made.operands[0]) != given.node.value
        ):
            raise Unfit
        dropped.append(statement)
        times.append(repeats)
        readers = [node for node in model.uses.get(made.node, ()) if node is not given.node]
        if readers:
            raise Unfit  # what is repeated is needed elsewhere as well
    if not alike(model, times[0], times[1]):
        raise Unfit
    last = attention.node.args[-1]
    fix = Rewrite(model, last).fix("Pass `enable_gqa=True`", _argument(last), dropped=tuple(dropped))
    return replace(fix, edits=(add_argument(attention.node, "enable_gqa=True"), *fix.edits[1:]))


@repair
def attention(model: Model, softmax: Operation, product: Operation) -> NodeFix:
    """`scaled_dot_product_attention(q, k, v)` for the softmax of a scaled, masked product, times the values.

    Casts to float32 around the softmax go: the fused kernels keep its sums in float32.
    """
    steps = _mixed(model, softmax)
    mixed = steps[-1]
    dropout = next((step for step in steps if step.name == "dropout"), None)
    rewrite = Rewrite(model, mixed.node)  # type: ignore[arg-type]
    for step in steps[:-1]:
        rewrite.absorb(step.node)
    if softmax.call is None or softmax.call.function.kind is Kind.MODULE:
        raise Unfit
    masks: list[str] = []
    scales: list[tuple[str, cst.BaseExpression]] = []
    optional: tuple[cst.CSTNode, ...] = ()
    widened = softmax.argument(2, "dtype") is not None
    current = softmax.operands[0]
    while True:
        if not masks and (choice := _optional(model, current)) is not None:
            step, condition = choice
            optional = (condition,)
            masks.append(_optional_mask(model, rewrite, step, condition))
            current = step.operands[0]
            continue
        step = _made(model, current, "matmul", "einsum", "mul", "div", "add", "masked_fill", *_DTYPE_CASTS)
        if step.name in ("matmul", "einsum"):
            break
        if step.name in _DTYPE_CASTS:
            widened = widened or _is_dtype_cast(model, step)
            current = step.operands[0]
            continue
        if isinstance(step.node, cst.AugAssign) or len(step.operands) < 2:
            raise Unfit
        left, right = step.operands[:2]
        if step.name == "masked_fill":
            number = step.argument(2, "value")
            if number is None or not _hides(model, number) or masks or model.value(right).rank == 0:
                raise Unfit
            masks.append(_inverse(rewrite, right))
        elif step.name == "add":
            if masks or not model.value(right).is_tensor or len(step.operands) > 2:
                raise Unfit
            if scales:
                raise Unfit  # the sum is scaled as a whole
            masks.append(f"{rewrite.part(right, tightly=True)}.to({{query}}.dtype)")
        else:
            if scales or not is_number(model, right):
                raise Unfit
            scales.append((step.name, right))
        current = left
    if step.node is not product.node or len(step.operands) != 2:
        raise Unfit
    if widened and not any(step.name in _DTYPE_CASTS for step in steps):
        raise Unfit  # the values are wide as well
    dim = _dim(softmax)
    if dim is None or not _is_last_of(model, dim, softmax.operands[0], step):
        raise Unfit
    query, key, turned = _queries_and_keys(model, step)
    value, ending, value_turned = _values(model, mixed, steps[-2] if len(steps) > 1 else softmax)
    parts = [_turned(rewrite, query, turned[0]), _keys(model, rewrite, key, turned[1])]
    parts.append(_turned(rewrite, value, value_turned))
    if masks:
        if "{query}" in masks[0] and dotted(query) is None:
            raise Unfit
        parts.append("attn_mask=" + masks[0].replace("{query}", rewrite.part(query)))
    if dropout is not None:
        parts.append(f"dropout_p={_probability(model, rewrite, dropout)}")
    if not scales:
        parts.append("scale=1.0")
    elif turned[0] or not _is_usual(model, scales[0], query, key):
        how, number = scales[0]
        written = rewrite.part(number, tightly=True)
        parts.append(f"scale={code(number) if how == 'mul' else f'1 / {written}'}")
    rewrite.spare(softmax.node, product.node)
    name, imports = spell(model, f"{_FUNCTIONAL}.scaled_dot_product_attention")
    written = f"{name}({', '.join(parts)}){ending}"
    return rewrite.fix("Call `scaled_dot_product_attention`", written, imports, dropped=optional)


# What may change the dtype of scores and weights.
_DTYPE_CASTS: Final = ("to", "type", "type_as", "float")
_EXCHANGE: Final = ".transpose(-2, -1)"


def _is_dtype_cast(model: Model, step: Operation) -> bool:
    """Whether a cast changes nothing but the dtype. Raises Unfit where it may move the tensor as well."""
    if step.name == "to":
        target = step.operands[1] if len(step.operands) == 2 else step.argument(99, "dtype")
        known = target is not None and ((dotted(target) or "").endswith(".dtype") or _names_dtype(model, target))
        if not known:
            raise Unfit
    return True


def _names_dtype(model: Model, node: cst.BaseExpression) -> bool:
    return (model.resolve(node) or "").rpartition(".")[2] in ("float32", "float", "float16", "half", "bfloat16")


def _is_last_of(model: Model, dim: cst.BaseExpression, scores: cst.BaseExpression, product: Operation) -> bool:
    """Whether a softmax goes over the last dimension of the scores."""
    const, rank = model.value(dim).const, model.value(scores).rank
    if product.call is not None and (product.call.callee or product.call.method or "").rpartition(".")[2] == "bmm":
        rank = 3
    if product.name == "einsum":
        rank = len(_equation(model, product)[2])
    return const == -1 or (rank is not None and const == rank - 1)


def _mixed(model: Model, softmax: Operation) -> list[Operation]:
    """What follows the softmax, up to the product with the values: a dropout, casts of the dtype."""
    steps: list[Operation] = []
    current = softmax
    for _ in range(4):
        found = list(consumers(model, current.node))
        if len(found) != 1 or found[0] is None:
            raise Unfit
        step = found[0]
        steps.append(step)
        if step.name in ("matmul", "einsum") and len(step.operands) == 2 and isinstance(step.node, cst.BaseExpression):
            return steps
        dropped = step.name == "dropout" and not any(earlier.name == "dropout" for earlier in steps[:-1])
        if step.in_place or not (dropped or (step.name in _DTYPE_CASTS and _is_dtype_cast(model, step))):
            raise Unfit
        current = step
    raise Unfit


def _optional(model: Model, scores: cst.BaseExpression) -> tuple[Operation, cst.If] | None:
    """The mask that a branch adds where there is one, `if mask is not None: scores = scores + mask`, and the branch."""
    origins = made_by(model, scores)
    for origin in origins if len(origins) == 2 else ():
        step = operation(model, origin)
        statement = model.parent(origin)
        if step is None or step.name not in ("add", "masked_fill") or step.in_place or len(step.operands) < 2:
            continue
        line = model.parent(statement) if isinstance(statement, cst.Assign) else None
        block = model.parent(line) if line is not None else None
        branch = model.parent(block) if block is not None else None
        others = tuple(other for other in origins if other is not origin)
        if (
            isinstance(branch, cst.If)
            and branch.body is block
            and branch.orelse is None
            and not isinstance(model.parent(branch), cst.If)
            and len(branch.body.body) == 1
            and isinstance(line, cst.SimpleStatementLine)
            and len(line.body) == 1
            and made_by(model, step.operands[0]) == others
        ):
            return step, branch
    return None


def _optional_mask(model: Model, rewrite: Rewrite, step: Operation, branch: cst.If) -> str:
    """A mask that may be None, as the attention takes it."""
    test = branch.test
    if (
        not isinstance(test, cst.Comparison)
        or len(test.comparisons) != 1
        or not isinstance(test.comparisons[0].operator, cst.IsNot)
        or dotted(test.comparisons[0].comparator) != "None"
        or dotted(test.left) is None
    ):
        raise Unfit
    name, mask = rewrite.part(test.left), step.operands[1]
    if step.name == "add":
        if dotted(mask) != name:
            raise Unfit
        return f"None if {name} is None else {name}.to({{query}}.dtype)"
    number = step.argument(2, "value")
    if number is None or not _hides(model, number) or not _reads_only(mask, name):
        raise Unfit
    return f"None if {name} is None else {_inverted(mask, tight)}"


def _reads_only(node: cst.BaseExpression, name: str) -> bool:
    """Whether an expression is a name, its inverse, or its comparison with a number."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
        node = node.expression
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        if not isinstance(node.comparisons[0].comparator, cst.BaseNumber):
            return False
        node = node.left
    return dotted(node) == name


def _equation(model: Model, product: Operation) -> tuple[str, str, str]:
    """What the two operands and the result of an `einsum` are called, a letter a dimension."""
    first = product.call.arguments[0].value.const if product.call is not None and product.call.arguments else None
    sides = "".join(first.split()).split("->") if isinstance(first, str) else []
    operands = sides[0].split(",") if len(sides) == 2 else []
    if len(operands) != 2 or not all(part.isalpha() and len(set(part)) == len(part) for part in (*operands, sides[1])):
        raise Unfit
    return operands[0], operands[1], sides[1]


def _is_turned(dims: str, wanted: str) -> bool:
    """Whether an operand has its last two dimensions the other way round. Raises Unfit where it has other ones."""
    if dims == wanted:
        return False
    if dims == wanted[:-2] + wanted[-1] + wanted[-2]:
        return True
    raise Unfit


def _queries_and_keys(
    model: Model, product: Operation
) -> tuple[cst.BaseExpression, cst.BaseExpression, tuple[bool, bool | None]]:
    """The operands of the scores, and whether each is turned; None for keys that a matrix product takes turned."""
    left, right = product.operands
    if product.name == "matmul":
        return left, right, (False, None)
    one, two, scores = _equation(model, product)
    if len(scores) < 2:
        raise Unfit
    if scores[-1] in one:
        left, right, one, two = right, left, two, one
    shared = (set(one) & set(two)) - set(scores)
    if len(shared) != 1:
        raise Unfit
    width = shared.pop()
    batch = scores[:-2]
    return left, right, (_is_turned(one, batch + scores[-2] + width), _is_turned(two, batch + scores[-1] + width))


def _values(model: Model, mixed: Operation, weights: Operation) -> tuple[cst.BaseExpression, str, bool]:
    """The values, what must follow the attention, and whether the values are turned."""
    left, right = mixed.operands
    if mixed.name == "matmul":
        if made_by(model, left) != (weights.node,):
            raise Unfit
        return right, "", False
    one, two, result = _equation(model, mixed)
    if made_by(model, right) == (weights.node,):
        left, right, one, two = right, left, two, one
    if made_by(model, left) != (weights.node,) or len(one) < 2:
        raise Unfit
    width = set(two) - set(one)
    if len(width) != 1:
        raise Unfit
    batch, letter = one[:-2], width.pop()
    after = _EXCHANGE if _is_turned(result, batch + one[-2] + letter) else ""
    return right, after, _is_turned(two, batch + one[-1] + letter)


def _turned(rewrite: Rewrite, node: cst.BaseExpression, turned: bool) -> str:
    return rewrite.part(node, tightly=True) + _EXCHANGE if turned else rewrite.part(node)


def _keys(model: Model, rewrite: Rewrite, node: cst.BaseExpression, turned: bool | None) -> str:
    """The keys, a row each; a matrix product takes them a column each."""
    if turned is None:
        before = _untransposed(model, node)
        return rewrite.part(node, tightly=True) + _EXCHANGE if before is None else rewrite.part(before)
    return _turned(rewrite, node, turned)


def _untransposed(model: Model, keys: cst.BaseExpression) -> cst.BaseExpression | None:
    """What the keys were before their last two dimensions were exchanged; None where they were not."""
    origins = made_by(model, keys)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    if made is None or made.name not in ("transpose", "permute") or made.in_place or not made.operands:
        return None
    if isinstance(made.node, cst.Attribute):
        return made.operands[0] if made.node.attr.value == "mT" else None
    if made.call is None or made.call.method in ("t", "adjoint"):
        return None
    dims = [model.value(dim).const for dim in made.operands[1:]]
    rank = model.value(made.operands[0]).rank
    if made.name == "permute":
        wanted = [*range(len(dims) - 2), len(dims) - 1, len(dims) - 2]
        return made.operands[0] if len(dims) > 1 and dims == wanted else None
    if set(dims) == {-1, -2} or (rank is not None and set(dims) == {rank - 1, rank - 2}):
        return made.operands[0]
    return None


def _hides(model: Model, number: cst.BaseExpression) -> bool:
    """Whether a score of that much gives no weight."""
    const = model.value(number).const
    if isinstance(const, (int, float)):
        return const <= -1e4
    return _is_minus_infinity(model, number) or "finfo" in code(number) and code(number).rstrip().endswith(".min")


def _inverse(rewrite: Rewrite, hidden: cst.BaseExpression) -> str:
    """A mask of what may be seen, from one of what may not."""
    return _inverted(hidden, lambda part: rewrite.part(part, tightly=True))


def _inverted(hidden: cst.BaseExpression, write: Callable[[cst.BaseExpression], str]) -> str:
    if isinstance(hidden, cst.UnaryOperation) and isinstance(hidden.operator, cst.BitInvert):
        return write(hidden.expression)
    if isinstance(hidden, cst.Comparison) and len(hidden.comparisons) == 1:
        opposite = {cst.Equal: "!=", cst.NotEqual: "=="}.get(type(hidden.comparisons[0].operator))
        if opposite is not None:
            left = write(hidden.left)
            return f"{left} {opposite} {write(hidden.comparisons[0].comparator)}"
    return f"~{write(hidden)}"


def _probability(model: Model, rewrite: Rewrite, dropout: Operation) -> str:
    """How likely dropout drops a weight, as the attention is to be told."""
    site = dropout.call
    if site is None or site.opaque_arguments:
        raise Unfit
    if site.function.kind is Kind.MODULE:
        module = dotted(site.node.func)
        if module is None or site.function.qual != "torch.nn.Dropout":
            raise Unfit
        return f"{module}.p if {module}.training else 0.0"
    if site.callee != f"{_FUNCTIONAL}.dropout":
        raise Unfit
    likely, training = site.argument(1, "p"), site.argument(2, "training")
    chance = rewrite.part(likely.node) if likely is not None else "0.5"
    if training is None or model.value(training.node).const is True:
        return chance
    return f"{chance} if {rewrite.part(training.node)} else 0.0"


def _is_usual(
    model: Model, scale: tuple[str, cst.BaseExpression], query: cst.BaseExpression, key: cst.BaseExpression
) -> bool:
    """Whether scores are scaled by the root of the width, which is what the attention does by itself."""
    how, number = scale
    origins = made_by(model, number)
    node = origins[0] if len(origins) == 1 else number
    width: cst.BaseExpression | None = None
    if isinstance(node, cst.Call):
        site = model.call(node)
        if how == "div" and site is not None and site.callee == "math.sqrt" and len(site.arguments) == 1:
            width = site.arguments[0].node
    elif isinstance(node, cst.BinaryOperation):
        made = operation(model, node)
        if made is not None and made.name == "pow":
            power = model.value(made.operands[1]).const
            if (how, power) in (("div", 0.5), ("mul", -0.5)):
                width = made.operands[0]
        elif made is not None and made.name == "div" and how == "mul" and model.value(made.operands[0]).const == 1:
            return _is_usual(model, ("div", made.operands[1]), query, key)
    return width is not None and any(_is_width(model, width, tensor) for tensor in (query, key))


def _is_width(model: Model, width: cst.BaseExpression, tensor: cst.BaseExpression) -> bool:
    """Whether a number is the size of a tensor's last dimension."""
    origins = made_by(model, width)
    node = origins[0] if len(origins) == 1 else width
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "size":
        arguments = node.args
        return (
            len(arguments) == 1 and model.value(arguments[0].value).const == -1 and _is(model, node.func.value, tensor)
        )
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape":
        last = [model.value(part.slice.value).const for part in node.slice if isinstance(part.slice, cst.Index)]
        return last == [-1] and _is(model, node.value.value, tensor)
    return False


# Distances


@repair
def pairwise(model: Model, total: Operation, difference: Operation, power: Operation | None) -> NodeFix:
    """`torch.cdist(a, b)` for the norm of `a[:, None] - b[None]`, its square for the sum of squares."""
    left, right = difference.operands[:2]
    places = new_dimension(model, left), new_dimension(model, right)
    if places in ((1, 0), (2, 1)):
        rows = left, right
    elif places in ((0, 1), (1, 2)):
        rows = right, left  # the distance is the same from both sides
    else:
        raise Unfit
    if any(total.argument(99, name) is not None for name in ("keepdim", "dtype")) or difference.in_place:
        raise Unfit
    node, ending, norm = total.node, "", ""
    if total.name == "sum":
        if power is not None and power.name == "abs":
            norm = ", p=1.0"
        else:
            rooted = _rooted(model, total)
            node, ending = (total.node, ".square()") if rooted is None else (rooted, "")
    else:
        order = total.argument(1, "p", "ord")
        if order is not None and not is_number(model, order, 2):
            raise Unfit
    if not isinstance(node, cst.BaseExpression):
        raise Unfit
    rewrite = Rewrite(model, node)
    rewrite.spare(difference.node)
    one, other = (_without_new_dimension(model, rewrite, side) for side in rows)
    name, imports = spell(model, "torch.cdist")
    return rewrite.fix("Call `torch.cdist`", f"{name}({one}, {other}{norm}){ending}", imports)


def _rooted(model: Model, total: Operation) -> cst.CSTNode | None:
    """The square root of a sum, where that is all that is made of it."""
    found = list(consumers(model, total.node))
    root = found[0] if len(found) == 1 else None
    if root is None or root.in_place or root.operands[0] is not total.node:
        return None
    half = root.name == "pow" and len(root.operands) > 1 and is_number(model, root.operands[1], 0.5)
    return root.node if root.name == "sqrt" or half else None


def _without_new_dimension(model: Model, rewrite: Rewrite, side: cst.BaseExpression) -> str:
    """Rows, before they got a dimension of one."""
    made = _made(model, side, "unsqueeze", "index")
    if isinstance(made.node, cst.Subscript):
        parts = [code_of_index(part) for part in made.node.slice]
        if any(part not in (":", "None", "...") for part in parts) or parts.count("None") != 1:
            raise Unfit
    return rewrite.part(made.operands[0])


@repair
def channels_last(model: Model, moved: sites.Call) -> NodeFix:
    """`memory_format=torch.channels_last` where a network is moved; its inputs need the same, which a person adds."""
    if moved.method != "to" or moved.opaque_arguments:
        raise Unfit
    written, imports = spell(model, "torch.channels_last")
    edit = add_argument(moved.node, f"memory_format={written}")
    return NodeFix(Applicability.DISPLAY, "Move the network and its inputs as channels last", (edit,), imports)

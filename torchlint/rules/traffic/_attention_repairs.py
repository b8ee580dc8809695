"""Fused attention in place of its products, masks and repeated heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import libcst as cst

from torchlint.rules._patterns import Operation, alike, consumers, is_number, made_by, operation
from torchlint.rules._repairs import Rewrite, Unfit, add_argument, code, repair, spell, tight
from torchlint.rules.base import NodeFix
from torchlint.rules.traffic._attention import equation
from torchlint.rules.traffic._repairs import FUNCTIONAL, dim_of, is_minus_infinity, is_value, sole
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Kind


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
    made = sole(model, mask, "tril", "triu", "logical_not", "bitwise_not", "unsqueeze", "index", "to", "view")
    while made.name in ("unsqueeze", "index", "to", "view"):
        made = sole(model, made.operands[0], "tril", "triu", "logical_not", "bitwise_not", "unsqueeze", "index", "to")
    inverted = made.name in ("logical_not", "bitwise_not")
    if inverted:
        made = sole(model, made.operands[0], "triu")
    diagonal = made.argument(1, "diagonal")
    offset = 0 if diagonal is None else model.value(diagonal).const
    filled = sole(model, made.operands[0], "ones", "full", "to", "bool")
    boolean = model.value(made.operands[0]).dtype == "bool"
    if filled.name in ("to", "bool"):
        filled = sole(model, filled.operands[0], "ones")
    if made.name == "tril" and offset == 0 and not inverted and boolean and filled.name == "ones":
        return
    if made.name == "triu" and offset == 1:
        if inverted and boolean and filled.name == "ones":
            return
        number = filled.argument(1, "fill_value")
        if not inverted and filled.name == "full" and number is not None and is_minus_infinity(number):
            return
    raise Unfit


@repair
def grouped(model: Model, attention: sites.Call) -> NodeFix:
    """`enable_gqa=True`, where keys and values are both repeated along the heads by statements of their own."""
    if attention.opaque_arguments:
        raise Unfit
    dropped, times = [], []
    for position, name in ((1, "key"), (2, "value")):
        given = attention.argument(position, name)
        if given is None or not isinstance(given.node, cst.Name):
            raise Unfit
        made = sole(model, given.node, "repeat_interleave")
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
    fix = Rewrite(model, last).fix("Pass `enable_gqa=True`", code(last), dropped=tuple(dropped))
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
        step = sole(model, current, "matmul", "einsum", "mul", "div", "add", "masked_fill", *_DTYPE_CASTS)
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
    dim = dim_of(softmax)
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
    name, imports = spell(model, f"{FUNCTIONAL}.scaled_dot_product_attention")
    written = f"{name}({', '.join(parts)}){ending}"
    return rewrite.fix("Call `scaled_dot_product_attention`", written, imports, dropped=optional)


# What may change the dtype of scores and weights.
_DTYPE_CASTS: Final = ("to", "type", "type_as", "float")
_EXCHANGE: Final = ".transpose(-2, -1)"


def _is_dtype_cast(model: Model, step: Operation) -> bool:
    """Whether a cast changes nothing but the dtype. Raises Unfit where it may move the tensor as well."""
    if step.name == "to":
        target = step.operands[1] if len(step.operands) == 2 else step.argument(None, "dtype")
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
        rank = len(_equation(product)[2])
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


def _equation(product: Operation) -> tuple[str, str, str]:
    """What the two operands and the result of an `einsum` are called, a letter a dimension."""
    called = equation(product)
    if called is None:
        raise Unfit
    return called


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
    one, two, scores = _equation(product)
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
    one, two, result = _equation(mixed)
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
    return is_minus_infinity(number) or "finfo" in code(number) and code(number).rstrip().endswith(".min")


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
    if site.callee != f"{FUNCTIONAL}.dropout":
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
            len(arguments) == 1
            and model.value(arguments[0].value).const == -1
            and is_value(model, node.func.value, tensor)
        )
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape":
        last = [model.value(part.slice.value).const for part in node.slice if isinstance(part.slice, cst.Index)]
        return last == [-1] and is_value(model, node.value.value, tensor)
    return False

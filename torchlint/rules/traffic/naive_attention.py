"""TL302: attention is written out."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._patterns import CASTS, SHAPES, Operation, called, consumers, made_by, operation, reach
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.traffic import _attention_repairs
from torchlint.rules.traffic._attention import equation, feeds_only
from torchlint.rules.traffic._dispatch import has_fused_branch
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Kind

_FUSED: Final = frozenset(
    """scaled_dot_product_attention flash_attn_func flash_attn_varlen_func flash_attn_qkvpacked_func
    flash_attn_varlen_qkvpacked_func flash_attn_kvpacked_func flash_attn_with_kvcache memory_efficient_attention
    flex_attention flash_attention _flash_attention_forward""".split()
)
# What may stand between the product and the softmax: scale, mask and bias, in any order.
_FIRST: Final = CASTS | SHAPES | frozenset("masked_fill dropout clamp div index".split())
_EITHER: Final = frozenset("mul add sub where maximum".split())
# What holds the same numbers.
_SAME: Final = CASTS | SHAPES
# What may stand between the softmax and the second product.
_AFTER: Final = CASTS | SHAPES | frozenset("dropout masked_fill index".split())


class NaiveAttention(Rule):
    code = "TL302"
    name = "naive-attention"
    bottleneck = "traffic"
    summary = "Attention is written out: `softmax(q @ k.transpose(-2, -1) * scale) @ v`"
    fix_availability = FixAvailability.SOMETIMES
    torch = "2.0"
    calls = ("torch.softmax", "torch.nn.functional.softmax", "torch.special.softmax", ".softmax", "torch.nn.Softmax")
    words = ("softmax", "Softmax")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        softmax = called(site)
        if softmax is None or softmax.name != "softmax" or not softmax.operands or surroundings.in_test(site.context):
            return
        scores = reach(model, softmax.operands[0], _is_scores, _before)
        if (
            scores is None
            or _merges(model, softmax.operands[0])
            or not feeds_only(model, site.node, functools.partial(_is_weighing, _axis(model, softmax)), _AFTER)
            or _weighs_others(model, site)
            or _over_queries(model, softmax)
            or _over_places(model, scores.operations[0])
        ):
            return
        if has_fused_branch(model, site.context, _FUSED):
            return
        product = scores.operations[0]
        yield Report(
            site.node,
            f"{quote(site.node)} stores the attention weights of {quote(product.node)}, a matrix of query "
            "length by key length that is written and read again at every step up to the product with the values",
            "call `torch.nn.functional.scaled_dot_product_attention`, which never stores that matrix; masks go to "
            "`attn_mask` or `is_causal`, another scale to `scale`, dropout to `dropout_p`",
            Confidence.LIKELY
            if scores.certain and not _with_parameter(model, scores.operations)
            else Confidence.POSSIBLE,
            (("the scores", product.node),),
            _attention_repairs.attention(model, softmax, product),
        )


def _is_product(step: Operation) -> bool:
    return step.name in ("matmul", "baddbmm", "einsum") and len(step.operands) == 2


def _is_scores(step: Operation) -> bool:
    """Whether it is a product of queries with keys: one query for each sample, without an axis, makes no matrix."""
    if not _is_product(step):
        return False
    names = equation(step) if step.name == "einsum" else None
    if names is None:
        return True
    first, second, result = map(set, names)
    return bool((first - second) & result) and bool((second - first) & result)


def _is_weighing(axis: int | None, step: Operation) -> bool:
    """Whether it is a product that may sum over the axis of the weights that is that of the keys."""
    if not _is_product(step):
        return False
    names = equation(step) if step.name == "einsum" else None
    if names is None or axis is None:
        return True
    return any(-len(side) <= axis < len(side) and side[axis] not in names[2] for side in names[:2])


def _axis(model: Model, softmax: Operation) -> int | None:
    """Over which axis the weights add up to one, as far as is known."""
    site = softmax.call
    assert site is not None
    if site.function.kind is Kind.MODULE:
        made = model.call(site.function.origin) if site.function.origin is not None else None
        given = made.argument(0, "dim") if made is not None else None
        along = given.node if given is not None else None
    else:
        along = softmax.argument(1, "dim")
    dim = model.value(along).const if along is not None else None
    return dim if isinstance(dim, int) else None


def _over_queries(model: Model, softmax: Operation) -> bool:
    """Whether the weights are known not to add up to one over the last dimension, which is that of the keys."""
    dim = _axis(model, softmax)
    if dim is None:
        return False
    rank = model.value(softmax.operands[0]).rank
    return dim not in (-1, rank - 1) if rank is not None else dim < -1


def _over_places(model: Model, product: Operation) -> bool:
    """Whether the scores sum over axes that are laid out as one, as `x.view(b, c, -1)` does: no fused kernel does.

    Those take a head's few features, not all places of an image.
    """
    return any(_merges_last(model, operation(model, node)) for node in made_by(model, product.operands[0]))


def _merges_last(model: Model, made: Operation | None) -> bool:
    """Whether an operation lays out the last axes of a tensor as one, and not the first of them."""
    if made is None or not made.operands:
        return False
    sizes = made.operands[1:]
    if made.name == "flatten":
        return len(sizes) == 1
    rank = model.value(made.operands[0]).rank
    merges = rank is not None and 1 < len(sizes) < rank
    return made.name in ("view", "reshape") and merges and model.value(sizes[-1]).const == -1


def _weighs_others(model: Model, softmax: sites.Call) -> bool:
    """Whether the weights go into products with different values in one function: the fused call gives only one."""
    weighed: dict[cst.CSTNode, set[cst.CSTNode]] = {}
    sides: set[bool] = set()  # whether the weights are the first operand
    todo: list[cst.CSTNode] = [softmax.node]
    seen: set[cst.CSTNode] = set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        for step in consumers(model, node):
            if step is None:
                continue
            if not _is_product(step):
                todo.append(step.node)
            elif step.call is None or not any(_is_asked(link) for link in step.call.context.chain()):
                weighed[step.node] = {origin for operand in step.operands for origin in model.value(operand).origins}
                sides.add(not seen.isdisjoint(model.value(step.operands[0]).origins))
    if len(sides) > 1:
        return True  # the values of another product
    sets = [made - seen for made in weighed.values()]
    return any(not one & other for index, one in enumerate(sets) for other in sets[:index])


def _is_asked(link: Context) -> bool:
    """Whether it is a branch that a call may ask for: not one that its object was made with."""
    return link.scope is Scope.BRANCH and (
        link.test is None or not (dotted(link.test) or "").startswith("self.") or link.negated
    )


def _merges(model: Model, scores: cst.BaseExpression) -> bool:
    """Whether queries and keys are laid out as one axis, as `view(b, -1)` does: the softmax runs over all pairs."""
    made = operation(model, scores)
    if made is None or not made.operands:
        return False
    if made.name in CASTS:
        return _merges(model, made.operands[0])
    sizes = made.operands[1:]
    if made.name == "flatten":
        return len(sizes) == 1
    return made.name in ("view", "reshape") and len(sizes) == 2 and model.value(sizes[1]).const == -1


def _before(step: Operation) -> tuple[cst.BaseExpression, ...]:
    if step.name in _FIRST:
        return step.operands[:1]
    return step.operands if step.name in _EITHER else ()


def _with_parameter(model: Model, products: tuple[Operation, ...]) -> bool:
    """Whether what is multiplied is a parameter itself: a router or a memory, not queries and keys."""
    return any(_is_parameter(model, operand) for made in products for operand in made.operands)


def _is_parameter(model: Model, operand: cst.BaseExpression) -> bool:
    if model.value(operand).qual == "torch.nn.Parameter":
        return True
    made = operation(model, operand)
    return made is not None and made.name in _SAME and bool(made.operands) and _is_parameter(model, made.operands[0])

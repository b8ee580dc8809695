"""What feeds attention: the fused call, and the products of one that is written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import libcst as cst

from torchlint.rules._patterns import Operation, consumers, made_by
from torchlint.semantics.model import Model

SDPA: Final = "torch.nn.functional.scaled_dot_product_attention"


def is_fused(step: Operation) -> bool:
    """Whether an operation is the fused attention call."""
    return step.call is not None and step.call.callee == SDPA


def equation(product: Operation) -> tuple[str, str, str] | None:
    """What the two operands and the result of an `einsum` are called, a letter a dimension; None where it is other."""
    first = product.call.arguments[0].value.const if product.call is not None and product.call.arguments else None
    sides = "".join(first.split()).split("->") if isinstance(first, str) else []
    operands = sides[0].split(",") if len(sides) == 2 else []
    if len(operands) != 2 or not all(part.isalpha() and len(set(part)) == len(part) for part in (*operands, sides[1])):
        return None
    return operands[0], operands[1], sides[1]


def feeds_only(
    model: Model, node: cst.CSTNode, is_end: Callable[[Operation], bool], passes: frozenset[str], *, kept: bool = False
) -> bool:
    """Whether what a node makes is read by the operations that are ends alone, through those in `passes`.

    `kept`: it may lie in an attribute or a buffer on the way.
    """
    todo: list[cst.CSTNode] = [node]
    seen: set[cst.CSTNode] = set()
    fed = False
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for step in consumers(model, current, kept=kept):
            if step is None:
                return False
            if step.node in seen:
                continue
            if is_end(step):
                fed = True
            elif step.name in passes:
                todo.append(step.node)
                if step.in_place:
                    todo += made_by(model, step.operands[0])
            else:
                return False
    return fed

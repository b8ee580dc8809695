"""What feeds the fused attention call."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.rules._patterns import consumers, made_by
from torchlint.semantics.model import Model

SDPA: Final = "torch.nn.functional.scaled_dot_product_attention"


def feeds_only(model: Model, node: cst.CSTNode, end: str, passes: frozenset[str]) -> bool:
    """Whether what a node makes is read by calls of `end` alone, through the operations in `passes`."""
    todo: list[cst.CSTNode] = [node]
    seen: set[cst.CSTNode] = set()
    fed = False
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for step in consumers(model, current, kept=True):
            if step is None:
                return False
            if step.call is not None and step.call.callee == end:
                fed = True
            elif step.name in passes:
                todo.append(step.node)
                if step.in_place:
                    todo += made_by(model, step.operands[0])
            else:
                return False
    return fed

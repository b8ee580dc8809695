"""What to write instead of operations that are spelled out."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.rules._patterns import Operation, alike, is_number, made_by, operation, same
from torchlint.rules._repairs import Rewrite, Unfit, repair, spell
from torchlint.rules.base import NodeFix
from torchlint.semantics.model import Model

_FUNCTIONAL: Final = "torch.nn.functional"


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
    scores = _unshifted(model, exponential.operands[0], dim)
    name, imports = spell(model, "torch.softmax")
    return rewrite.fix("Call `torch.softmax`", f"{name}({rewrite.part(scores)}, dim={rewrite.part(dim)})", imports)


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
    if made is None or made.name != "sub" or len(made.operands) < 2 or made.in_place or isinstance(made.node, cst.AugAssign):
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

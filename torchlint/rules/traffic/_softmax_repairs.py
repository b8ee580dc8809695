"""Softmax, its logarithm and losses of it, in place of their arithmetic."""

from __future__ import annotations

import libcst as cst

from torchlint.rules._patterns import Operation, alike, consumers, made_by, operation, same
from torchlint.rules._repairs import Rewrite, Unfit, code, repair, spell
from torchlint.rules.base import NodeFix
from torchlint.rules.traffic._repairs import FUNCTIONAL, code_of_index, dim_of, is_in_place, sole
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind


def _keeps(model: Model, made: Operation) -> bool:
    keep = made.argument(2, "keepdim", "keepdims")
    return keep is not None and model.value(keep).const is True


@repair
def softmax(model: Model, node: cst.CSTNode, above: cst.BaseExpression, below: cst.BaseExpression) -> NodeFix:
    """`torch.softmax(x, dim=d)` for `exp(x - max) / exp(x - max).sum(d, keepdim=True)`."""
    if not isinstance(node, cst.BaseExpression):
        raise Unfit
    if is_in_place(model, node):
        raise Unfit
    exponential = sole(model, above, "exp")
    total = sole(model, below, "sum", "unsqueeze", "index")
    added = _new_dimension(model, total)
    if total.name != "sum":
        total = sole(model, total.operands[0], "sum")
    dim = dim_of(total)
    over = sole(model, total.operands[0], "exp")
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
            along = dim_of(found)
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
    softmax = sole(model, log.operands[0], "softmax") if log is not None and not log.in_place else None
    if softmax is None or softmax.call is None or softmax.call.function.kind is Kind.MODULE:
        raise Unfit
    dim = dim_of(softmax)
    if dim is None or softmax.argument(2, "dtype") is not None:
        raise Unfit
    loss = _argument_of(model, site.node, f"{FUNCTIONAL}.nll_loss")
    if loss is not None and model.value(dim).const == 1:
        rewrite = Rewrite(model, loss)
        rewrite.unchanged(softmax.node)
        name, imports = spell(model, f"{FUNCTIONAL}.cross_entropy")
        rest = "".join(f", {code(argument)}" for argument in loss.args[1:])
        for argument in loss.args[1:]:
            rewrite.part(argument.value)
        return rewrite.fix("Call `cross_entropy`", f"{name}({rewrite.part(softmax.operands[0])}{rest})", imports)
    _not_changed(model, site.node)
    rewrite = Rewrite(model, site.node)
    rewrite.unchanged(softmax.node)
    name, imports = spell(model, f"{FUNCTIONAL}.log_softmax")
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


@repair
def with_logits(model: Model, site: sites.Call) -> NodeFix:
    """`binary_cross_entropy_with_logits(x, t)` for `binary_cross_entropy(sigmoid(x), t)`."""
    if site.callee != f"{FUNCTIONAL}.binary_cross_entropy" or site.opaque_arguments or not site.arguments:
        raise Unfit
    if site.arguments[0].name is not None:
        raise Unfit
    sigmoid = sole(model, site.arguments[0].node, "sigmoid")
    if model.function_of(site.context) is not (model.function_of(sigmoid.call.context) if sigmoid.call else None):
        raise Unfit
    rewrite = Rewrite(model, site.node)
    rewrite.unchanged(sigmoid.node)
    name, imports = spell(model, f"{FUNCTIONAL}.binary_cross_entropy_with_logits")
    rest = "".join(f", {code(argument)}" for argument in site.node.args[1:])
    for argument in site.node.args[1:]:
        rewrite.part(argument.value)
    return rewrite.fix("Give it the logits", f"{name}({rewrite.part(sigmoid.operands[0])}{rest})", imports)

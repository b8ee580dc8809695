"""Through which names a backward runs: what an expression is a sum, product or mean of."""

from __future__ import annotations

import libcst as cst

from torchlint.knowledge.names import LOSSES
from torchlint.semantics.names import dotted, identifier

__all__ = ["factors", "terms"]

# Calls whose result is differentiable in all that goes in.
_PASSING_CALLS = frozenset(
    """sum mean stack cat concat scale float double half to flatten view reshape squeeze clone max min values items zip
    enumerate reversed list tuple iter append""".split()
)


# Further ones, whose other arguments are often options: an exponent, a dimension.
_FUNCTIONS = frozenset(
    """abs exp gather log log1p log_softmax logsumexp masked_fill neg norm permute pow prod relu rsqrt sigmoid softmax
    softplus sqrt square std tanh transpose unsqueeze var where""".split()
)


def factors(node: cst.BaseExpression) -> set[str]:
    """The names that an expression is a sum, product or mean of: a backward through it may run through them."""
    return _names(node, sure=False)


def terms(node: cst.BaseExpression) -> set[str]:
    """Those of the factors on which a graph must hang if one hangs on the whole: no divisors, no mere weights."""
    return _names(node, sure=True)


def _names(node: cst.BaseExpression, *, sure: bool) -> set[str]:
    names: set[str] = set()
    todo: list[cst.BaseExpression] = [node]
    while todo:
        node = todo.pop()
        if type(node) is cst.BinaryOperation:
            todo += _sides(node, sure=sure)
        elif type(node) is cst.Call:
            todo += _differentiable(node, sure=sure)
        elif type(node) is cst.Name:
            names.add(identifier(node.value))
        elif type(node) is cst.Attribute:
            name = dotted(node)
            if name is not None:
                names.add(name)
            else:
                todo.append(node.value)
        elif type(node) is cst.UnaryOperation:
            todo.append(node.expression)
        elif type(node) is cst.IfExp:
            todo += [node.body, node.orelse]
        elif type(node) is cst.Subscript:
            todo.append(node.value)
        elif type(node) is cst.Tuple or type(node) is cst.List:
            todo += [element.value for element in node.elements]
        elif type(node) is cst.GeneratorExp or type(node) is cst.ListComp:
            todo += [node.elt, node.for_in.iter]
    return names


def _sides(node: cst.BinaryOperation, *, sure: bool) -> list[cst.BaseExpression]:
    """The operands that a backward runs through; with `sure`, those that must have a graph."""
    sides = [node.left, node.right]
    if sure and isinstance(node.operator, (cst.Divide, cst.FloorDivide)):
        return [node.left]
    if sure and isinstance(node.operator, (cst.Multiply, cst.MatrixMultiply, cst.Power, cst.Modulo)):
        if not any(isinstance(side, cst.BaseNumber) for side in sides):
            return [side for side in sides if not isinstance(side, (cst.Name, cst.Attribute, cst.Subscript))]
    return sides


def _differentiable(call: cst.Call, *, sure: bool) -> list[cst.BaseExpression]:
    """The parts of a call that a backward through its result runs through; with `sure`, those that have a graph."""
    function = call.func
    last = function.attr.value if type(function) is cst.Attribute else getattr(function, "value", "")
    if last in LOSSES:
        return [argument.value for argument in call.args[:1]]  # the prediction; targets have no graph
    if last not in _PASSING_CALLS and (sure or last not in _FUNCTIONS):
        return []
    parts = [argument.value for argument in call.args]
    return [*parts, function.value] if type(function) is cst.Attribute else parts

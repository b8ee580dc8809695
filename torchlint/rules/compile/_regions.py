"""Compiled regions, as the rules on graph breaks see them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.semantics import surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind


def region(context: Context, model: Model, node: cst.CSTNode | None = None) -> FunctionInfo | None:
    """The compiled function whose graph code here belongs to; None outside, and where it says that it is not.

    `node`: a part of a condition, which the parts before it may keep out: `not is_compiling() and ...`.
    """
    if node is not None and _follows_question(node, model):
        return None
    function = model.compiled(context)
    if function is None or surroundings.in_test(context):
        return None
    for link in context.in_function():
        if link.scope is Scope.BRANCH and link.test is not None and _asks_compiling(link.test):
            return None
        if link.scope is Scope.HANDLER:
            return None
    return function


def behind_a_break(context: Context, model: Model) -> bool:
    """Whether a branch on tensor data leads to the code: the graph ends there already, and seldom goes there."""
    return any(
        link.scope is Scope.BRANCH
        and not link.negated  # as all is that follows a branch which leaves
        and link.test is not None
        and any(_is_data(part, model) for part in _parts(link.test))
        for link in context.in_function()
    )


def _is_data(test: cst.BaseExpression, model: Model) -> bool:
    value = model.value(test)
    return value.kind is Kind.TENSOR and not value.on_host


def is_full_graph(function: FunctionInfo) -> bool:
    """Whether the region was compiled with `fullgraph=True`: what would break the graph fails or is captured."""
    return function.fullgraph or (function.cls is not None and function.cls.fullgraph)


def _follows_question(node: cst.CSTNode, model: Model) -> bool:
    inner, around = node, model.parent(node)
    while isinstance(around, cst.BaseExpression):
        if isinstance(around, cst.BooleanOperation) and inner is around.right and _asks_compiling(around.left):
            return True
        inner, around = around, model.parent(around)
    return False


def _asks_compiling(test: cst.BaseExpression) -> bool:
    for part in _parts(test):
        if isinstance(part, cst.Call):
            name = part.func.attr.value if isinstance(part.func, cst.Attribute) else getattr(part.func, "value", "")
            if name in ("is_compiling", "is_dynamo_compiling", "is_tracing", "is_scripting"):
                return True
    return False


def _parts(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a condition asks, one thing after the other: each side of an `and`, and what a `not` stands before."""
    todo = [test]
    while todo:
        part = todo.pop()
        if isinstance(part, cst.UnaryOperation):
            todo.append(part.expression)
        elif isinstance(part, cst.BooleanOperation):
            todo += [part.left, part.right]
        else:
            yield part


def because(function: FunctionInfo) -> tuple[tuple[str, cst.CSTNode], ...]:
    """Where the region is, as a report relates it."""
    return ((f"`{function.qualname}` is compiled", function.node),)

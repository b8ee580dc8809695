"""TL210: a table of constants is built anew each time a module runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._bodies import names_written
from torchlint.rules._patterns import CASTS, SHAPES, Operation, new_dimension, operation
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import Role
from torchlint.semantics.model import Model
from torchlint.semantics.names import names_read
from torchlint.semantics.values import Kind, Value

_FACTORIES: Final = frozenset("arange linspace logspace range ones zeros full eye".split())
_ARITHMETIC: Final = frozenset(
    """add sub mul div pow neg exp log sin cos outer einsum square sqrt rsqrt reciprocal remainder floor_divide cat
    stack tril triu""".split()
)
_GROWS: Final = frozenset("add sub mul div".split())
_OUTER: Final = frozenset("outer ger".split())
_DEPTH: Final = 12  # operations from a table back to its factories


class TableRebuiltPerCall(Rule):
    code = "TL210"
    name = "table-rebuilt-per-call"
    bottleneck = "launch"
    summary = "A table of constants is built anew each time a module runs"
    ruleset = RuleSet.EXTENDED
    calls = ("torch.outer", "torch.ger", ".outer", "torch.einsum", "torch.tril", "torch.triu", ".tril", ".triu")
    words = ("outer", "ger", "einsum", "tril", "triu", "arange", "linspace")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = operation(model, site.node)
        if made is None:
            return
        whole = (
            made.name in _OUTER or (made.name == "einsum" and len(made.operands) == 2) or made.name in ("tril", "triu")
        )
        if whole and all(
            _is_constant(model, operand) for operand in made.operands[:2] if model.value(operand).is_tensor
        ):
            yield from self._report(site.node, site.context, model)

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        made = operation(model, site.node)
        if made is None or made.name not in _GROWS or not (site.left.is_tensor and site.right.is_tensor):
            return
        if new_dimension(model, made.operands[0]) == new_dimension(model, made.operands[1]):
            return
        if all(_is_constant(model, operand) for operand in made.operands):
            yield from self._report(site.node, site.context, model)

    def _report(self, node: cst.CSTNode, context: Context, model: Model) -> Iterator[Report]:
        hot = model.hot(context)
        if hot is None or not hot.interface or surroundings.in_test(context) or not _in_module(context):
            return
        if _is_cached(model, context):
            return
        if not any(_from_factory(model, operand, 0) for operand in _operands(model, node)):
            return
        yield Report(
            node,
            f"{quote(node)} builds the same table {often(hot)}, of sizes and constants alone",
            "build it once, keep it as a buffer, and slice it; or build it in the model and pass it to the layers",
            Confidence.LIKELY,
            because(hot),
        )


def _operands(model: Model, node: cst.CSTNode) -> tuple[cst.BaseExpression, ...]:
    made = operation(model, node)
    return made.operands if made is not None else ()


def _is_cached(model: Model, context: Context) -> bool:
    """Whether it is built only where a condition on an attribute asks for it, which the same branch then sets."""
    for link in context.chain():
        if link.scope is Scope.BRANCH and link.test is not None and isinstance(link.node, cst.If):
            asked = {name for name in names_read(link.test) if name.startswith("self.")}
            if asked & names_written(model, [link.node.body]):
                return True
    return False


def _in_module(context: Context) -> bool:
    """Whether it runs as a part of a module's forward, whose instance could keep the table."""
    owner = context.owner
    return owner is not None and (
        owner.role is Role.FORWARD or (owner.cls is not None and "forward" in owner.cls.methods) or bool(owner.callers)
    )


def _is_constant(model: Model, expression: cst.BaseExpression, depth: int = 0) -> bool:
    """Whether an expression is made of factories, numbers and buffers alone."""
    value = model.value(expression)
    if value.kind in (Kind.NUMBER, Kind.DTYPE, Kind.DEVICE, Kind.STRING):
        return True
    if value.kind is Kind.UNKNOWN:
        return _is_setting(model, expression)
    if not value.is_tensor or depth > _DEPTH:
        return False
    if _is_buffer(model, expression, value):
        return True
    if not value.origins:
        return False
    for origin in value.origins:
        made = operation(model, origin)
        if made is None:
            return False
        if made.name in _FACTORIES:
            continue
        if made.name not in _ARITHMETIC and made.name not in CASTS and made.name not in SHAPES and made.name != "index":
            return False
        if not all(_is_constant(model, operand, depth + 1) for operand in _tensors(made)):
            return False
    return True


def _is_setting(model: Model, expression: cst.BaseExpression) -> bool:
    """Whether it is an attribute that a module's constructor alone sets: a size, a base."""
    if not isinstance(expression, cst.Attribute):
        return False
    owner = model.value(expression.value)
    if owner.kind is not Kind.MODULE or owner.cls is None:
        return False
    setters = {
        method.role
        for method in owner.cls.methods.values()
        for cls, name, _ in method.attributes
        if cls is owner.cls and name == expression.attr.value
    }
    return setters == {Role.SETUP}


def _tensors(made: Operation) -> tuple[cst.BaseExpression, ...]:
    """The operands that decide the numbers: a cast's target does not."""
    return made.operands[:1] if made.name in CASTS or made.name in SHAPES or made.name == "index" else made.operands


def _is_buffer(model: Model, expression: cst.BaseExpression, value: Value) -> bool:
    """Whether it is an attribute that the constructor filled with constants, and no parameter."""
    if not isinstance(expression, cst.Attribute) or value.qual == "torch.nn.Parameter" or not value.origins:
        return False
    owner = model.value(expression.value)
    return (
        owner.kind is Kind.MODULE
        and owner.cls is not None
        and not any(
            stored.qual == "torch.nn.Parameter" for stored in owner.cls.stores.get(expression.attr.value, {}).values()
        )
    )


def _from_factory(model: Model, expression: cst.BaseExpression, depth: int) -> bool:
    """Whether a factory of this call stands at its beginning: not a buffer alone."""
    if depth > _DEPTH:
        return False
    for origin in model.value(expression).origins:
        made = operation(model, origin)
        if made is not None and made.name in _FACTORIES and not (isinstance(expression, cst.Attribute)):
            return True
        if made is not None and any(
            _from_factory(model, operand, depth + 1) for operand in made.operands if operand is not expression
        ):
            return True
    return False

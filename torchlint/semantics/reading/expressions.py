"""Literals, displays and the rest of the expressions; which method reads which kind of node."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import libcst as cst

from torchlint.semantics.functions import EffectKind
from torchlint.semantics.names import literal_of
from torchlint.semantics.nodes import within
from torchlint.semantics.reading.base import READS
from torchlint.semantics.reading.elements import ElementReader, hashable
from torchlint.semantics.values import (
    DEVICE,
    MISSING,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Kind,
    Value,
    device_bits,
    holds_functions,
    join_optional,
)

_ELLIPSIS = Value(Kind.NUMBER, const=Ellipsis)


@functools.lru_cache(maxsize=1024)
def _integer(written: str) -> Value:
    try:
        return Value(Kind.NUMBER, const=int(written.replace("_", ""), 0), dtype="int")
    except ValueError:
        return NUMBER


@functools.lru_cache(maxsize=1024)
def _text(written: str) -> Value:
    text = literal_of(written)
    return Value(Kind.STRING, const=text, device=device_bits(text) if isinstance(text, str) else 0)


class ExpressionReader(ElementReader):
    """Evaluates all expressions but calls."""

    def _integer(self, node: cst.Integer) -> Value:
        return _integer(node.value)

    def _float(self, node: cst.Float) -> Value:
        return Value(Kind.NUMBER, const=float(node.value.replace("_", "")), dtype="float")

    def _imaginary(self, node: cst.Imaginary) -> Value:
        return NUMBER

    def _string(self, node: cst.SimpleString) -> Value:
        try:
            value = _text(node.value)
        except (ValueError, SyntaxError):
            return STRING
        if value.device & DEVICE:
            self.model.accelerated = True
        return value

    def _concatenated(self, node: cst.ConcatenatedString) -> Value:
        self.eval(node.left)
        self.eval(node.right)
        return STRING

    def _formatted(self, node: cst.FormattedString | cst.TemplatedString) -> Value:
        for part in node.parts:
            if isinstance(part, (cst.FormattedStringExpression, cst.TemplatedStringExpression)):
                value = self.eval(part.expression)
                if value.kind is Kind.BATCH and part.format_spec:
                    value = value.but(kind=Kind.TENSOR, rank=0)  # of what holds tensors, none takes a format
                if type(node) is cst.FormattedString:
                    self.formatted(node, part.expression, value, "f-string")
                for inner in part.format_spec or ():
                    if isinstance(inner, (cst.FormattedStringExpression, cst.TemplatedStringExpression)):
                        self.eval(inner.expression)
        head = node.parts[0] if node.parts else None
        place = device_bits(head.value) if isinstance(head, cst.FormattedStringText) else 0
        if place & DEVICE:
            self.model.accelerated = True
        return STRING.but(device=place) if place else STRING  # f"cuda:{rank}"

    def _elements(self, elements: Sequence[cst.BaseElement]) -> tuple[Value | None, dict[Any, Value] | None]:
        joined: Value | None = None
        items: dict[Any, Value] | None = {}
        for index, element in enumerate(elements):
            value = self.eval(element.value)
            if type(element) is cst.StarredElement:
                value = self.element(value)
                items = None
            elif items is not None:
                items[index] = value
            joined = join_optional(joined, value)
            self.note_stored_parameter(value)
        return joined, items

    def _tuple(self, node: cst.Tuple) -> Value:
        joined, items = self._elements(node.elements)
        return Value(Kind.CONTAINER, elem=joined, items=items, qual="tuple", origins=(node,))

    def _list(self, node: cst.List) -> Value:
        joined, items = self._elements(node.elements)
        return Value(Kind.CONTAINER, elem=joined, items=items, qual="list", origins=(node,))

    def _set(self, node: cst.Set) -> Value:
        joined, _ = self._elements(node.elements)
        return Value(Kind.CONTAINER, elem=joined, qual="set", origins=(node,))

    def _dict(self, node: cst.Dict) -> Value:
        joined: Value | None = None
        items: dict[Any, Value] | None = {}
        for element in node.elements:
            if type(element) is cst.DictElement:
                key = self.eval(element.key)
                value = self.eval(element.value)
                if items is not None and key.const is not MISSING and hashable(key.const):
                    items[key.const] = value
                self.note_stored_parameter(value)
            else:
                whole = self.eval(element.value)
                value = self.element(whole, values=True)
                items = {**(items or {}), **(whole.items or {})}
            joined = join_optional(joined, value)
        made = Value(Kind.CONTAINER, elem=joined, items=items, qual="dict", origins=(node,))
        return made if node.elements else self._as_register(node, made)

    def _as_register(self, node: cst.Dict, made: Value) -> Value:
        """An empty dictionary, with the functions that decorators put into it, of which there may be more elsewhere.

        The decorators' bodies are read after those of functions that stand further up and look there.
        """
        if not self.recording:
            self.registers[node] = made
        else:
            filled = self.registers.get(node, made)
            if holds_functions(filled):
                made.elem, made.items = join_optional(filled.elem, UNKNOWN), dict(filled.items or {})
        return made

    def _starred(self, node: cst.StarredElement) -> Value:
        return self.eval(node.value)

    def _await(self, node: cst.Await) -> Value:
        return self.eval(node.expression)

    def _yield(self, node: cst.Yield) -> Value:
        passes: int | None = None
        if isinstance(node.value, cst.From):
            whole = self.eval(node.value.item)
            value, passes = self.element(whole), whole.ident
        elif node.value is not None:
            value = self.eval(node.value)
            passes = self._iterated(node.value)
        else:
            value = NONE
        self.frame.yields.append(value)
        self.frame.passes.add(passes)
        info, flags = self.frame.info, self.context.flags_around()
        info.held = flags if info.held is None else info.held & flags
        self.effect(EffectKind.YIELD, node, value)
        return UNKNOWN

    def _iterated(self, node: cst.BaseExpression) -> int | None:
        """The parameter of which an expression is the element of the round, as a loop around binds it."""
        for link in self.context.enclosing_loops():
            facts = link.loop
            loop = facts.node if facts is not None else None
            if type(loop) is not cst.For or type(loop.target) is not cst.Name:
                continue
            if type(node) is cst.Name and node.value == loop.target.value:
                bound = (part.target for part in within([loop.body]) if type(part) is cst.AssignTarget)
                again = any(type(target) is cst.Name and target.value == node.value for target in bound)
                iterable = facts.iterable if facts is not None else None
                return iterable.ident if iterable is not None and not again else None
        return None

    def _ellipsis(self, node: cst.Ellipsis) -> Value:
        return _ELLIPSIS


READS.update(
    {
        cst.Name: ExpressionReader._name,
        cst.Attribute: ExpressionReader._attribute,
        cst.Call: lambda self, node: self.call(node),
        cst.BinaryOperation: ExpressionReader._binary,
        cst.UnaryOperation: ExpressionReader._unary,
        cst.BooleanOperation: ExpressionReader._boolean,
        cst.Comparison: ExpressionReader._comparison,
        cst.IfExp: ExpressionReader._ternary,
        cst.NamedExpr: ExpressionReader._walrus,
        cst.Subscript: ExpressionReader._subscript,
        cst.Integer: ExpressionReader._integer,
        cst.Float: ExpressionReader._float,
        cst.Imaginary: ExpressionReader._imaginary,
        cst.SimpleString: ExpressionReader._string,
        cst.ConcatenatedString: ExpressionReader._concatenated,
        cst.FormattedString: ExpressionReader._formatted,
        cst.TemplatedString: ExpressionReader._formatted,
        cst.Tuple: ExpressionReader._tuple,
        cst.List: ExpressionReader._list,
        cst.Set: ExpressionReader._set,
        cst.Dict: ExpressionReader._dict,
        cst.StarredElement: ExpressionReader._starred,
        cst.ListComp: ExpressionReader.comprehension,
        cst.SetComp: ExpressionReader.comprehension,
        cst.GeneratorExp: ExpressionReader.comprehension,
        cst.DictComp: ExpressionReader.comprehension,
        cst.Lambda: lambda self, node: self.lambda_function(node),
        cst.Await: ExpressionReader._await,
        cst.Yield: ExpressionReader._yield,
        cst.Ellipsis: ExpressionReader._ellipsis,
    }
)

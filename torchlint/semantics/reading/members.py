"""Loops that replace the members of a mapping one by one: `for k in batch: batch[k] = batch[k].to(device)`."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics.names import dotted, identifier, literal
from torchlint.semantics.nodes import within
from torchlint.semantics.values import Kind, Value, join, join_optional


@dataclass(slots=True, eq=False)
class Replacing:
    """A loop that gives members of a mapping new values: which mapping, under which keys, by which statements."""

    holder: str
    keys: tuple[str, ...] | None  # None: all of them
    writes: list[cst.Assign] = field(default_factory=list)
    always: bool = True  # whether every member that is a tensor is replaced
    values: dict[cst.CSTNode, Value] = field(default_factory=dict)  # what they are given, by statement

    def after(self, held: Value) -> Value:
        """The mapping after the loop."""
        new = functools.reduce(join, self.values.values())
        if not self.always:
            before = held.elem if held.elem is not None or held.kind is not Kind.BATCH else held.but(items=None)
            new = join_optional(before, new) or new
        if self.keys is not None:
            return held.but(items={**(held.items or {}), **dict.fromkeys(self.keys, new)})
        if held.kind is Kind.BATCH and not new.is_tensor:
            return Value(Kind.CONTAINER, Confidence.LIKELY, qual="dict", elem=new)
        if held.kind is Kind.BATCH:
            return held.but(device=new.device, graph=new.graph, pinned=new.pinned, items=None)
        items = None if held.items is None else dict.fromkeys(held.items, new)
        return held.but(elem=new, items=items)


def replacing(loop: cst.For) -> Replacing | None:
    """What a loop replaces, as its text tells; None where it does not."""
    target: cst.BaseExpression = loop.target
    if type(target) is cst.Tuple and len(target.elements) == 2:
        target = target.elements[0].value
    if type(target) is not cst.Name:
        return None
    keys = _literals(loop.iter)
    holder = _mapping(loop.iter) if keys is None else None
    if keys is None and holder is None:
        return None
    return _collected(loop.body.body, Replacing(holder or "", keys), holder, identifier(target.value), True)


def _collected(
    statements: Iterable[cst.CSTNode], found: Replacing, holder: str | None, key: str, sure: bool
) -> Replacing | None:
    """Note the statements that write members; `sure`: every member that is a tensor comes to these."""
    for statement in statements:
        if type(statement) is cst.SimpleStatementLine:
            for small in statement.body:
                name = _written(small, key)
                if name is None or name != (holder or found.holder or name):
                    continue
                assert type(small) is cst.Assign
                found.holder = name
                found.always = sure
                found.writes = [small] if sure else [*found.writes, small]  # what is written last is what stays
        elif type(statement) is cst.If:
            tensors = _of_tensors(statement.test)
            if tensors is not False:  # what it does to other members does not matter here
                _collected(statement.body.body, found, holder, key, sure and tensors is True)
            if type(statement.orelse) is cst.If:
                _collected([statement.orelse], found, holder, key, sure and tensors is False)
            elif type(statement.orelse) is cst.Else and tensors is not True:
                _collected(statement.orelse.body.body, found, holder, key, sure and tensors is False)
            if tensors is not False and any(type(small) is cst.Continue for small in _last(statement.body)):
                sure = False
        elif type(statement) is cst.With:
            _collected(statement.body.body, found, holder, key, sure)
    return found if found.writes else None


def _last(body: cst.BaseSuite) -> Iterable[cst.CSTNode]:
    last = body.body[-1] if body.body else None
    return last.body if type(last) is cst.SimpleStatementLine else ()


def _written(statement: cst.CSTNode, key: str) -> str | None:
    """The mapping of which a statement sets the member under a key of that name."""
    if type(statement) is not cst.Assign or len(statement.targets) != 1:
        return None
    target = statement.targets[0].target
    if type(target) is not cst.Subscript or len(target.slice) != 1:
        return None
    index = target.slice[0].slice
    named = type(index) is cst.Index and type(index.value) is cst.Name and identifier(index.value.value) == key
    return dotted(target.value) if named else None


def _literals(iterable: cst.BaseExpression) -> tuple[str, ...] | None:
    """The texts that a tuple or list in the source consists of."""
    if not isinstance(iterable, (cst.Tuple, cst.List)) or not iterable.elements:
        return None
    found = [literal(e.value) if type(e.value) is cst.SimpleString else None for e in iterable.elements]
    texts = tuple(text for text in found if isinstance(text, str))
    return texts if len(texts) == len(found) else None


def _mapping(iterable: cst.BaseExpression) -> str | None:
    """The mapping whose keys, or keys and members, are iterated."""
    while type(iterable) is cst.Call:
        if type(iterable.func) is cst.Attribute and not iterable.args:
            if iterable.func.attr.value not in ("keys", "items"):
                return None
            iterable = iterable.func.value
        elif type(iterable.func) is cst.Name and iterable.func.value in ("list", "tuple", "sorted", "set"):
            if len(iterable.args) != 1:
                return None
            iterable = iterable.args[0].value
        else:
            return None
    return dotted(iterable)


def _of_tensors(test: cst.BaseExpression) -> bool | None:
    """Whether a test on a member holds for tensors; False where it holds for others alone, None where for both."""
    if type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
        holds = _of_tensors(test.expression)
        return None if holds is None else not holds
    if type(test) is cst.BooleanOperation and type(test.operator) is cst.And:
        both = {_of_tensors(test.left), _of_tensors(test.right)}
        return False if False in both else both == {True} or None
    if type(test) is cst.Comparison:
        operator, right = test.comparisons[0].operator, test.comparisons[0].comparator
        if type(operator) is cst.NotIn:
            return False
        if type(right) is cst.Name and right.value == "None":
            return {cst.Is: False, cst.IsNot: True}.get(type(operator))
    if type(test) is cst.Call:
        name = (dotted(test.func) or "").rsplit(".", 1)[-1]
        if name == "isinstance" and len(test.args) == 2:
            return any(type(part) is cst.Name and part.value == "Tensor" for part in within([test.args[1].value]))
        return True if name in ("is_tensor", "hasattr", "callable") else None
    return None

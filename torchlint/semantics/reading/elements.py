"""What is in a thing: indexing, iterating, unpacking, and comprehensions."""

from __future__ import annotations

from typing import Any

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, LoopFacts, Scope
from torchlint.semantics.functions import ClassInfo, EffectKind
from torchlint.semantics.names import dotted, identifier
from torchlint.semantics.nodes import within
from torchlint.semantics.reading.evidence import KEYED
from torchlint.semantics.reading.operators import OperatorReader
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    HOST,
    MAYBE,
    MAYBE_TENSORS,
    MISSING,
    NUMBER,
    STRING,
    UNKNOWN,
    Kind,
    Value,
)

ELEMENTS = "*elements"  # the attribute under which stands what the instances of a class hold that is a list itself
PARAMETER = Value(Kind.TENSOR, Confidence.SURE, device=ANYWHERE, graph=ATTACHED, qual="torch.nn.Parameter")


class ElementReader(OperatorReader):
    """Evaluates subscripts and comprehensions."""

    def _subscript(self, node: cst.Subscript) -> Value:
        result = self.subscript(node, "read", None)
        entry = self.entry_name(node) if self.dotted_bases else None
        return (self.lookup(entry) if entry is not None else None) or result

    def subscript(self, node: cst.Subscript, mode: str, written: Value | None) -> Value:
        """Evaluate an indexing and record it; what it reads."""
        base = self.eval(node.value)
        indices: list[tuple[cst.BaseExpression | None, Value | None]] = []
        bounds: list[tuple[cst.BaseExpression, Value]] = []
        for element in node.slice:
            part = element.slice
            if type(part) is cst.Index:
                if type(part.value) is cst.Tuple:
                    indices.extend((item.value, self.eval(item.value)) for item in part.value.elements)
                else:
                    index = self.eval(part.value)
                    of_tensor = base.is_tensor or (base.kind is Kind.UNKNOWN and base.may_be_device)
                    several = of_tensor and index.kind is Kind.CONTAINER and index.qual == "tuple"
                    indices += [(part.value, one) for one in (_positions(index) if several else (index,))]
            elif type(part) is cst.Slice:
                indices.append((None, None))
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        bounds.append((bound, self.eval(bound)))
        result = self.indexed(node, base, indices)
        if len(indices) == 1 and indices[0][1] is not None and indices[0][1].kind is Kind.STRING:
            name = dotted(node.value)
            if name is not None:
                self.note_evidence(name, KEYED)
        if self.recording:
            self.model.values[node] = result
            into_host = base.kind is Kind.TENSOR and base.on_host
            if written is not None and into_host and written.kind in MAYBE_TENSORS and not written.on_host:
                self.effect(EffectKind.WAIT, node, written)  # `losses[k] = loss`: it is copied to where the others are
            of_array = base.kind is Kind.NDARRAY and not any(bound.kind is Kind.TENSOR for _, bound in bounds)
            if base.kind is not Kind.CLASS and not of_array:
                self.sites.subscripts.append(
                    sites.Subscript(node, base, indices, bounds, mode, written, result, self.context, self.statement)
                )
        return result

    def indexed(
        self, node: cst.Subscript, base: Value, indices: list[tuple[cst.BaseExpression | None, Value | None]]
    ) -> Value:
        """What `base[indices]` gives."""
        first = indices[0][1] if indices else None
        key = first.const if first is not None and len(indices) == 1 else MISSING
        kind = base.kind
        if kind is Kind.CONTAINER or (kind is Kind.UNKNOWN and base.items is not None):
            if first is None and indices:
                return base.but(items=None)  # a slice
            self.note_lookup(base)
            return _entry(base, key)
        if kind is Kind.SHAPE:
            if first is None:
                return Value(Kind.SHAPE, qual="tensor size")
            if base.items is not None and key in base.items:
                return base.items[key]
            return NUMBER.but(qual="tensor size")
        if kind is Kind.TENSOR:
            if isinstance(key, str):
                return base.but(kind=Kind.BATCH, origins=(node,), ident=None, rank=None, shape=None)
            return self.indexed_tensor(node, base, indices)
        if kind is Kind.BATCH:
            if len(indices) > 1 or first is None or first.kind is Kind.TENSOR:
                return self.indexed_tensor(node, base, indices)
            if base.items is not None and key in base.items:
                return base.items[key]
            if base.elem is not None and isinstance(key, str):
                return base.elem
            return base.but(origins=(node,), ident=None, items=None)
        if kind is Kind.NDARRAY:
            rows = all(index is not None and index.kind in (Kind.NUMBER, Kind.UNKNOWN) for _, index in indices)
            rank, conf = _row(base, len(indices)) if rows else (None, Confidence.SURE)
            return Value(Kind.NDARRAY, conf, device=HOST, origins=(node,), dtype=base.dtype, rank=rank)
        if kind is Kind.MODULE:
            return (
                base.elem
                if base.elem is not None
                else Value(Kind.MODULE, Confidence.LIKELY, device=base.device or ANYWHERE, graph=MAYBE)
            )
        if kind is Kind.STRING:
            return STRING
        if kind is Kind.CLASS or kind is Kind.NAMESPACE or (kind is Kind.OBJECT and base.device == HOST):
            return base
        if kind is Kind.DATASET or (kind is Kind.OBJECT and base.on_host and base.cls is None):
            return Value(Kind.UNKNOWN, device=HOST, graph=DETACHED)
        if kind is Kind.UNKNOWN:
            return _indexed_unknown(node, base, [value for _, value in indices])
        if base.cls is not None:
            method = base.cls.find_method("__getitem__")
            if method is not None and method.returns is not None:
                return method.returns.but(ident=None, deps=0)
        return UNKNOWN

    def note_lookup(self, container: Value) -> None:
        """Remember what a function finds in a dictionary that others fill: it is read again when there is more."""
        made = container.origin
        if not self.recording and made in self.registers:
            self.looked_up.setdefault(self.frame.info, {})[made] = container.elem

    def indexed_tensor(
        self, node: cst.Subscript, base: Value, indices: list[tuple[cst.BaseExpression | None, Value | None]]
    ) -> Value:
        rank = base.rank
        if rank is not None:
            for _, index in indices:
                if index is None or index.const is Ellipsis:
                    continue
                if index.kind is Kind.NUMBER:
                    rank -= 1
                elif index.kind is Kind.NONE:
                    rank += 1
                elif index.kind is Kind.TENSOR and index.dtype != "bool" and index.rank is not None:
                    rank += index.rank - 1
                else:
                    rank = None
                    break
            if rank is not None and rank < 0:
                rank = None
        result = self.tensor(node, (base,), dtype=base.dtype, rank=rank)
        if len(indices) > 1 and base.conf is Confidence.POSSIBLE:
            result.conf = Confidence.LIKELY
        result.pinned = base.pinned
        result.loaders = base.loaders
        if base.kind is Kind.BATCH and result.conf < Confidence.LIKELY:
            result.conf = base.conf
        return result

    def element(self, value: Value, values: bool = False) -> Value:
        """What iterating a value gives; with `values`, the values of a mapping."""
        kind = value.kind
        if kind is Kind.CONTAINER:
            if value.qual == "dict" and not values:
                return STRING if value.items else UNKNOWN
            return value.elem if value.elem is not None else UNKNOWN
        if kind is Kind.TENSOR:
            rank = value.rank - 1 if value.rank else None
            if value.conf is Confidence.POSSIBLE:
                return value.but(kind=Kind.UNKNOWN, rank=None, shape=None, ident=None, const=MISSING)
            # A row of a parameter is none.
            return value.but(rank=rank, shape=None, ident=None, origins=(), const=MISSING, qual=None)
        if kind is Kind.BATCH:
            return value.but(ident=None)
        if kind is Kind.LOADER:
            if value.elem is not None:
                return value.elem
            return Value(
                Kind.BATCH, Confidence.LIKELY, device=value.device or HOST, graph=DETACHED, pinned=value.pinned
            )
        if kind is Kind.SHAPE:
            return NUMBER.but(qual="tensor size")
        if kind is Kind.NDARRAY:
            rank, conf = _row(value)
            return Value(Kind.NDARRAY, conf, device=HOST, dtype=value.dtype, rank=rank, origins=value.origins)
        if kind is Kind.PARAMETERS:
            return value.elem if value.elem is not None else PARAMETER
        if kind is Kind.MODULE:
            if value.elem is not None:
                return value.elem
            return Value(Kind.MODULE, Confidence.LIKELY, device=value.device or ANYWHERE, graph=MAYBE)
        if kind is Kind.STRING:
            return STRING
        if kind is Kind.DATASET:
            return Value(Kind.UNKNOWN, device=HOST, graph=DETACHED)
        if kind is Kind.OBJECT and value.device == HOST:
            return value
        if kind is Kind.OBJECT and value.cls is not None:
            return self._given_by(value.cls)
        if kind is Kind.UNKNOWN:
            if value.elem is not None:
                return value.elem
            return Value(Kind.UNKNOWN, device=value.device or ANYWHERE, graph=value.graph or MAYBE, deps=value.deps)
        return UNKNOWN

    def given_to(
        self, target: cst.BaseAssignTargetExpression, node: cst.BaseExpression, iterable: Value, loop: cst.CSTNode
    ) -> Value:
        """What a loop's variable gets: a key, where the loop indexes what it iterates by it, as it does a mapping."""
        name = dotted(node)
        if (
            name is None
            or type(target) is not cst.Name
            or iterable.kind not in MAYBE_TENSORS
            or iterable.conf is Confidence.SURE
            and iterable.kind is Kind.TENSOR
        ):
            return self.element(iterable)
        keyed = self.keyed.get(loop)
        if keyed is None:
            keyed = self.keyed[loop] = _indexes(loop, name, target.value)
        if not keyed:
            return self.element(iterable)
        self.note_evidence(name, KEYED)
        return STRING

    def _given_by(self, cls: ClassInfo) -> Value:
        """What iterating an object of the program gives: what `__iter__` makes, or itself, as an iterator."""
        step = cls.find_method("__next__")
        if step is None:
            method = cls.find_method("__iter__")
            if method is None:
                held = cls.find_attribute(ELEMENTS)
                return UNKNOWN if held is None else self.element(held)
            made = UNKNOWN if method.returns is None else method.returns
            if made.kind is not Kind.OBJECT or made.cls is None:
                return self.element(made)
            step = made.cls.find_method("__next__")
        return UNKNOWN if step is None or step.returns is None else step.returns

    def member(self, value: Value, index: int | None) -> Value:
        """What unpacking gives at a position."""
        if (
            value.kind in (Kind.CONTAINER, Kind.UNKNOWN, Kind.BATCH)
            and value.items is not None
            and index in value.items
        ):
            return value.items[index]
        if value.kind is Kind.SHAPE:
            if value.items is not None and index in value.items:
                return value.items[index]
            return NUMBER.but(qual="tensor size")
        if value.kind is Kind.CONTAINER:
            return value.elem if value.elem is not None else UNKNOWN
        return self.element(value)

    def note_rounds(self, iterable: cst.BaseExpression) -> None:
        """Remember with the calls of an iterable that the loop at hand iterates what they give: a generator's body."""
        calls = {part for part in within([iterable]) if type(part) is cst.Call} if self.recording else ()
        for site in reversed(self.sites.calls[-2 * len(calls) :] if calls else ()):
            if site.node in calls and site.target is not None:
                for caller in reversed(site.target.callers):
                    if caller.node is site.node:
                        caller.rounds = self.context
                        break

    def note_inner(self, loop: Context) -> None:
        """Remember with the loop around, where there is one, that it holds another."""
        around = self.context.enclosing_loops()
        if around and around[0].loop is not None:
            around[0].loop.inner.append(loop)

    def comprehension(self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp) -> Value:
        before = self.frame.env
        self.frame.env = before.copy()
        saved = self.context
        part: cst.CompFor | None = node.for_in
        while part is not None:
            iterable = self.eval(part.iter)
            facts = LoopFacts(node, iterable, self.count_of(iterable, part.iter))
            context = Context(Scope.LOOP, node, self.context, loop=facts)
            if self.recording:
                self.note_inner(context)
                self.sites.loops.append(sites.Loop(node, part.target, iterable, part.iter, context, self.context))
            self.context = context
            self.note_rounds(part.iter)
            self.assign(part.target, self.given_to(part.target, part.iter, iterable, node), node, None)
            for test in part.ifs:
                self.condition(test.test, "comprehension")
                self.narrow(test.test, True)
            part = part.inner_for_in
        if isinstance(node, cst.DictComp):
            self.eval(node.key)
            element = self.eval(node.value)
        else:
            element = self.eval(node.elt)
        self.context = saved
        after = self.frame.env
        self.frame.env = before
        for name in _walrus_targets(node):
            if name in after:
                before[name] = after[name]
        qual = {cst.ListComp: "list", cst.SetComp: "set", cst.DictComp: "dict"}.get(type(node), "generator")
        if element.ident is not None:
            element = element.but(ident=None)
        return Value(Kind.CONTAINER, elem=element, qual=qual, origins=(node,))

    def count_of(self, iterable: Value | None, node: cst.BaseExpression | None = None) -> int | None:
        """How many rounds at most, where a literal says so."""
        if iterable is None:
            return None
        if type(node) is cst.Subscript and (most := _most_of_slice(node)) is not None:
            return most
        if iterable.kind is Kind.CONTAINER and iterable.qual in ("list", "tuple", "set") and iterable.items:
            return len(iterable.items)
        if iterable.qual == "range" and isinstance(iterable.const, int):
            return iterable.const
        return None


def _indexes(loop: cst.CSTNode, name: str, variable: str) -> bool:
    """Whether a loop takes `name[variable]`."""
    return any(
        type(node) is cst.Subscript
        and len(node.slice) == 1
        and type(node.slice[0].slice) is cst.Index
        and type(node.slice[0].slice.value) is cst.Name
        and node.slice[0].slice.value.value == variable
        and dotted(node.value) == name
        for node in within([loop])
    )


def _positions(index: Value) -> list[Value]:
    """The indices that a tuple is, as `nonzero(as_tuple=True)` gives them: of several one, where nobody counts them."""
    if index.items:
        return list(index.items.values())
    one = index.elem
    return [index if one is None or one.kind is not Kind.TENSOR else one.but(rank=None, shape=None)]


def _most_of_slice(node: cst.Subscript) -> int | None:
    """How many rows `rows[:3]` or `rows[-2:]` has at most."""
    part = node.slice[0].slice if len(node.slice) == 1 else None
    if type(part) is not cst.Slice:
        return None
    if part.lower is None and type(part.upper) is cst.Integer:
        return int(part.upper.value, 0)
    last = part.lower.expression if type(part.lower) is cst.UnaryOperation else None
    from_end = part.upper is None and type(last) is cst.Integer
    return int(last.value, 0) if from_end and type(last) is cst.Integer else None


def _walrus_targets(node: cst.CSTNode) -> list[str]:
    names: list[str] = []
    tests: list[cst.BaseExpression] = []
    part: cst.CompFor | None = node.for_in  # type: ignore[attr-defined]
    while part is not None:
        tests += [test.test for test in part.ifs]
        part = part.inner_for_in
    for test in tests:
        todo: list[cst.BaseExpression] = [test]
        while todo:
            expression = todo.pop()
            if type(expression) is cst.NamedExpr and type(expression.target) is cst.Name:
                names.append(identifier(expression.target.value))
            elif type(expression) is cst.BooleanOperation:
                todo += [expression.left, expression.right]
            elif type(expression) is cst.Comparison:
                todo.append(expression.left)
    return names


def _row(array: Value, numbers: int = 1) -> tuple[int | None, Confidence]:
    """How many dimensions that part of an array has which some numbers choose, and how sure it is that it is an array.

    Of a vector a row is a number.
    """
    if array.rank is None:
        return None, Confidence.POSSIBLE
    return max(array.rank - numbers, 0), array.conf


def hashable(key: object) -> bool:
    return isinstance(key, (int, str, float, bool, bytes))


def _entry(container: Value, key: Any) -> Value:
    """What a container has under a literal key, MISSING where it is none."""
    items = container.items
    if items is not None and key is not MISSING and hashable(key):
        index = len(items) + key if isinstance(key, int) and key < 0 and key not in items else key
        if index in items:
            return items[index]
        if isinstance(key, str) and not all(item.is_tensor for item in items.values()):
            return UNKNOWN  # an option: the others do not tell what it is
    return container.elem if container.elem is not None else UNKNOWN


def _indexed_unknown(node: cst.Subscript, base: Value, indices: list[Value | None]) -> Value:
    """What indexing something unknown gives: only tensors and arrays take several positions, or a tensor as one."""
    first = indices[0] if indices else None
    several = len(indices) > 1 and any(v is None or v.kind is Kind.TENSOR or v.kind is Kind.NONE for v in indices)
    of_tensor = several or (first is not None and first.kind is Kind.TENSOR and first.rank != 0)
    if not of_tensor and base.elem is not None:
        return base.elem
    return Value(
        Kind.TENSOR if of_tensor else Kind.UNKNOWN,
        Confidence.POSSIBLE if of_tensor else Confidence.SURE,
        device=base.device or ANYWHERE,
        graph=base.graph or MAYBE,
        deps=base.deps,
        origins=(node,),
    )

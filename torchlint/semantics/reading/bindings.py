"""Imports and assignments: what gives names, attributes and entries their values."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.factors import factors, terms
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.names import attribute_asked, dotted, holder, identifier
from torchlint.semantics.project import Missing
from torchlint.semantics.reading.calls import CallReader
from torchlint.semantics.reading.evidence import COUNTED, MOVED, PART_MOVED
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DEVICE,
    HOST,
    UNKNOWN,
    Kind,
    Value,
    grow,
    join,
    same,
)

_AUGMENTED: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.MatrixMultiplyAssign: "@",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
}


_PLAYED = (4, 5)  # what a simulator gives for an action: since 2022 it says apart why an episode ends


class BindingReader(CallReader):
    """Reads imports and assignments."""

    def delete(self, target: cst.BaseExpression) -> None:
        name = dotted(target)
        if name is not None:
            self.frame.env.pop(name, None)
        elif type(target) is cst.Tuple:
            for element in target.elements:
                self.delete(element.value)
        elif type(target) is cst.Subscript:
            self.subscript(target, "delete", None)

    def import_statement(self, node: cst.Import) -> None:
        assert not isinstance(node.names, cst.ImportStar)
        for alias in node.names:
            full = dotted(alias.name)
            if full is None:
                continue
            self.model.imports.add(full)
            if alias.asname is not None and type(alias.asname.name) is cst.Name:
                self.bind(identifier(alias.asname.name.value), Value(Kind.NAMESPACE, qual=full))
            else:
                top = full.split(".")[0]
                self.bind(top, Value(Kind.NAMESPACE, qual=top))

    def import_from(self, node: cst.ImportFrom) -> None:
        module = (dotted(node.module) if node.module is not None else None) or ""
        project = self.model.project
        level = len(node.relative)

        def named(member: str) -> str:
            """What a name below the module is called: by its place where that is a file that is read."""
            below = ".".join(part for part in (module, member) if part)
            absolute = project.absolute(self.model, level, below) if project is not None and level else None
            return absolute or "." * level + below

        source = named("")
        self.model.imports.add(source)
        if isinstance(node.names, cst.ImportStar):
            self.model.star_imports.add(source)
            for name, value in project.names_of(source, self.model).items() if project is not None else ():
                self.bind(name, value)
            return
        for alias in node.names:
            if type(alias.name) is not cst.Name:
                continue
            name = bound = identifier(alias.name.value)
            if alias.asname is not None and type(alias.asname.name) is cst.Name:
                bound = identifier(alias.asname.name.value)
            try:
                value = self.external(named(name))
            except Missing as error:
                if project is None or self.frame is not self.module_frame:
                    raise
                project.put_off(self.model, bound, error)
                continue
            if value is UNKNOWN and project is not None and self.frame is self.module_frame:
                project.unsettled.append((self.model, self.frame.env, bound, named(name)))
            self.bind(bound, value)

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value in this scope."""
        frame = self.frame
        if name in frame.nonlocals:
            outer = frame.parent
            while outer is not None:
                if name in outer.env:
                    outer.env[name] = join(outer.env[name], value)
                    return
                outer = outer.parent
        frame.env[name] = value
        if name in self.dotted_bases:
            prefix = name + "."
            for key in [key for key in frame.env if key.startswith(prefix)]:
                del frame.env[key]

    def assign_statement(self, node: cst.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target.target, value, node, node.value)
        if len(node.targets) == 1:
            self.note_play(node.targets[0].target, node.value)
            self.note_sum(node.targets[0].target, node.value)
            self.note_count(node.targets[0].target, node.value)
            self.self_sum(node, node.targets[0].target)

    def note_play(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        """`obs, reward, done, info = env.step(action)`: what gives that many things for an action is a simulator."""
        if type(target) is not cst.Tuple or len(target.elements) not in _PLAYED or type(value) is not cst.Call:
            return
        if type(value.func) is cst.Attribute and value.func.attr.value == "step" and value.args:
            if self.eval_quietly(value.func.value).kind in (Kind.UNKNOWN, Kind.OBJECT):
                self.effect(EffectKind.PLAY, value)

    def note_count(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        """`step = step + 1`: it counts."""
        if type(value) is cst.BinaryOperation and type(value.right) is cst.Integer:
            name = dotted(target)
            if name is not None and isinstance(value.operator, (cst.Add, cst.Subtract)) and dotted(value.left) == name:
                self.note_evidence(name, COUNTED)

    def self_sum(self, node: cst.Assign, target: cst.BaseExpression) -> None:
        """`a = a + b` is an accumulation, and so are `a = 0.9 * a + 0.1 * b` and `a = b if a is None else a + b`."""
        value = node.value
        if not self.recording or not (type(value) is cst.BinaryOperation or type(value) is cst.IfExp):
            return
        name = self.text_of(target)
        if name is None:
            return
        for total in [value.body, value.orelse] if type(value) is cst.IfExp else [value]:
            if type(total) is not cst.BinaryOperation or not isinstance(total.operator, (cst.Add, cst.Subtract)):
                continue
            for scaled, other in ((total.left, total.right), (total.right, total.left)):
                mine = self.term_of(name, scaled)
                if mine is not None:
                    before = self.model.values.get(mine, UNKNOWN)
                    added = self.model.values.get(other, UNKNOWN)
                    operator = "+" if type(total.operator) is cst.Add else "-"
                    self.sites.accumulations.append(
                        sites.Accumulate(
                            node, name, target, before, other, added, operator, self.context, in_place=False
                        )
                    )
                    return

    def term_of(self, name: str, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The part of a term that is what the name holds: the term itself, or a factor beside a number."""
        if self.text_of(node) == name:
            return node
        if type(node) is cst.BinaryOperation and isinstance(node.operator, (cst.Multiply, cst.Divide)):
            for mine, factor in ((node.left, node.right), (node.right, node.left)):
                if self.text_of(mine) == name and self.model.values.get(factor, UNKNOWN).kind is Kind.NUMBER:
                    return mine
        return None

    def text_of(self, node: cst.BaseExpression) -> str | None:
        """A target as written: a dotted name, one with a subscript, or `getattr` of a name."""
        name = dotted(node) or attribute_asked(node)
        if name is None and type(node) is cst.Subscript:
            base = dotted(node.value)
            if base is not None:
                return f"{base}[{self.model.module.code_for_node(node.slice[0])}]" if len(node.slice) == 1 else None
        return name

    def assign(
        self, target: cst.BaseExpression, value: Value, node: cst.CSTNode, value_node: cst.BaseExpression | None
    ) -> None:
        """Give a target a value, taking tuples apart."""
        if type(target) is cst.Name:
            name = identifier(target.value)
            if value.kind is Kind.UNKNOWN:
                value = self.refine(value, self.frame.info.duck.get(name))
            if type(node) is cst.For or isinstance(node, cst.BaseComp):
                value = self.unmoved_batch(name, value)
            rooted = self.rooted(value, name)
            if rooted is not value and value_node is not None:
                self.note_graph_makers(value_node)
            value = rooted
            self.bind(name, value)
            if self.recording:
                self.model.values[target] = value
                self.sites.assigns.append(sites.Assign(node, target, name, None, value_node, value, self.context))
        elif type(target) is cst.Tuple or type(target) is cst.List:
            self.unpack(target.elements, value, node, value_node)
        elif type(target) is cst.Attribute:
            self.assign_attribute(target, value, node, value_node)
        elif type(target) is cst.Subscript:
            self.subscript(target, "write", value)
            self.store_into(target, value, node, value_node)
            self.frame.env.pop(self.entry_name(target) or "", None)
        elif type(target) is cst.StarredElement:
            self.assign(target.value, Value(Kind.CONTAINER, elem=value), node, None)

    def unpack(
        self,
        elements: Iterable[cst.BaseElement],
        value: Value,
        node: cst.CSTNode,
        value_node: cst.BaseExpression | None,
    ) -> None:
        elements = list(elements)
        if type(node) is cst.For or isinstance(node, cst.BaseComp):
            value = self.unmoved(elements, value)
        parts: list[cst.BaseExpression | None] = [None] * len(elements)
        starred = any(type(element) is cst.StarredElement for element in elements)
        if type(value_node) is cst.Tuple or type(value_node) is cst.List:
            if len(value_node.elements) == len(elements) and not starred:
                parts = [element.value for element in value_node.elements]
        for index, element in enumerate(elements):
            if type(element) is cst.StarredElement:
                self.assign(element.value, Value(Kind.CONTAINER, elem=self.element(value)), node, None)
            else:
                self.assign(element.value, self.member(value, index if not starred else None), node, parts[index])
        name = _sized(value_node) if value.kind is Kind.SHAPE and not starred else None
        held = self.frame.env.get(name) if name is not None else None
        if name is not None and held is not None and held.is_tensor and held.rank is None:
            self.frame.env[name] = held.but(rank=len(elements))

    def unmoved(self, elements: Iterable[cst.BaseElement], value: Value) -> Value:
        """What a loop takes apart: where one part is moved to the device, all of them come from the host."""
        if value.kind not in (Kind.UNKNOWN, Kind.BATCH) or value.device & DEVICE:
            return value
        duck, names = self.frame.info.duck, (dotted(element.value) for element in elements)
        moved = any(name is not None and MOVED in duck.get(name, ()) for name in names)
        return value.but(device=HOST) if moved else value

    def unmoved_batch(self, name: str, value: Value) -> Value:
        """A batch that a loop takes: where something in it is moved to the device, all of it comes from the host."""
        if value.kind not in (Kind.UNKNOWN, Kind.BATCH) or value.device & DEVICE:
            return value
        return value.but(device=HOST) if PART_MOVED in self.frame.info.duck.get(name, ()) else value

    def assign_attribute(
        self, target: cst.Attribute, value: Value, node: cst.CSTNode, value_node: cst.BaseExpression | None
    ) -> None:
        owner = self.eval(target.value)
        attribute = identifier(target.attr.value)
        name = dotted(target)
        if name is not None:
            base = name.split(".", 1)[0]
            if owner.cls is not None and value.kind is Kind.UNKNOWN:
                value = self.refine(value, owner.cls.duck.get(attribute))
            if owner.cls is not None and attribute in owner.cls.roots:
                value = self.as_root(value)
            self.frame.env[name] = value
            self.dotted_bases.add(base)
        if owner.cls is not None:
            stored = value
            if stored.kind is Kind.TENSOR and owner.kind is Kind.MODULE and stored.qual == "torch.nn.Parameter":
                stored = stored.but(device=ANYWHERE)  # moves with its module
            if stored.deps or stored.ident is not None:
                stored = stored.but(ident=None, deps=0)
            self.store(owner.cls, attribute, node, stored)
            self.frame.info.attributes.append((owner.cls, attribute, node))
        if owner.kind is Kind.TENSOR and attribute == "data" and name is not None:
            self.frame.env.pop(name, None)
        if owner.kind is Kind.TENSOR and attribute == "requires_grad" and value.const is True:
            base_name = dotted(target.value)
            if base_name is not None:
                self.frame.env[base_name] = owner.but(graph=ATTACHED)
        qualified = (
            f"{owner.qual}.{attribute}" if owner.qual and owner.kind in (Kind.NAMESPACE, Kind.FUNCTION) else None
        )
        self.note_stored_parameter(value)
        if self.recording:
            self.model.values[target] = value
            self.sites.assigns.append(sites.Assign(node, target, name, qualified, value_node, value, self.context))
            if value_node is not None:
                self.sites.stores.append(
                    sites.Store(
                        node, "attribute", owner, dotted(target.value), value_node, value, self.context, node, attribute
                    )
                )

    def store_into(
        self, target: cst.Subscript, value: Value, node: cst.CSTNode, value_node: cst.BaseExpression | None
    ) -> None:
        """`container[key] = value`: the container remembers it."""
        base = self.eval_quietly(target.value)
        replaced = self.replacements.get(node)
        if replaced is not None:
            replaced.values[node] = value
        elif base.kind is Kind.CONTAINER:
            self.put(base, self.literal_key(target), value, target.value)
        elif base.kind is Kind.MODULE and base.cls is None and value.kind is Kind.MODULE and value is not base:
            grow(base, value, None)  # `self.layers[name] = Block(width)`
        elif base.kind is Kind.UNKNOWN and base.elem is None and dotted(target.value) is not None:
            # Something that is filled by key: remember what goes in under literal keys.
            key = self.literal_key(target)
            if isinstance(key, str):
                if base is UNKNOWN or base.items is None:
                    filled = base.but(items={key: value})
                    name = dotted(target.value)
                    assert name is not None
                    if name in self.frame.env:
                        self.frame.env[name] = filled
                else:
                    base.items[key] = join(base.items[key], value) if key in base.items else value
        self.note_stored_parameter(value)
        if self.recording and value_node is not None and base.kind not in (Kind.TENSOR, Kind.NDARRAY):
            self.sites.stores.append(
                sites.Store(
                    node,
                    "setitem",
                    base,
                    holder(target.value),
                    value_node,
                    value,
                    self.context,
                    node,
                    entry=target,
                )
            )

    def put(self, container: Value, key: object, value: Value, named: cst.BaseExpression) -> None:
        """A container has a value under a key: in place of what it had, for the name that it is put through."""
        before = dict(container.items) if container.items and key in container.items else {}
        holder_name = dotted(named)
        if value.ident is not None and holder_name is not None and holder_name not in self.frame.env:
            value = value.but(deps=0, ident=None)  # which parameter of this function it was tells nothing elsewhere
        grow(container, value, key)  # whoever has it under another name sees one or the other
        name = identifier(named.value) if before and type(named) is cst.Name else None
        if name is None or self.frame.env.get(name) is not container:
            return
        if same(container.elem, join(functools.reduce(join, before.values()), value)):
            items = {**before, key: value}
            self.frame.env[name] = container.but(items=items, elem=functools.reduce(join, items.values()))

    def augmented(self, node: cst.AugAssign) -> None:
        added = self.eval(node.value)
        operator = _AUGMENTED.get(type(node.operator), "?")
        target = node.target
        if type(target) is cst.Subscript:
            before = self.subscript(target, "update", added)
        else:
            before = self.eval(target)
        result = self.arithmetic(node, operator, before, added)
        if before.is_tensor and before.qual is not None:
            result = result.but(qual=before.qual)  # written in place: a parameter stays one
        if before.kind is Kind.CONTAINER:
            if added.kind is Kind.CONTAINER and added.elem is not None:
                grow(before, added.elem, None)
            result = before
        if self.recording:
            name = self.text_of(target)
            if operator in ("+", "-") and name is not None:
                self.sites.accumulations.append(
                    sites.Accumulate(
                        node, name, target, before, node.value, added, operator, self.context, in_place=True
                    )
                )
            self.model.augmented[node] = result
            self.sites.binaries.append(
                sites.Binary(node, operator, target, node.value, before, added, result, self.context, node)
            )
        name = dotted(target)
        if name is not None:
            self.frame.info.note_flow(name, factors(node.value), terms(node.value))
            if operator in ("+", "-") and type(node.value) is cst.Integer:
                self.note_evidence(name, COUNTED)
        if type(target) is cst.Name:
            self.bind(identifier(target.value), self.rooted(result, identifier(target.value)))
        elif type(target) is cst.Attribute:
            self.assign_attribute(target, result, node, None)
        elif type(target) is cst.Subscript:
            base = self.eval_quietly(target.value)
            if base.kind is Kind.CONTAINER:
                grow(base, result, self.literal_key(target))


def _sized(node: cst.BaseExpression | None) -> str | None:
    """The name of the tensor whose sizes an expression gives: `x` in `x.shape`, `x.size()`."""
    if type(node) is cst.Call and not node.args and type(node.func) is cst.Attribute and node.func.attr.value == "size":
        return dotted(node.func.value)
    return dotted(node.value) if type(node) is cst.Attribute and node.attr.value == "shape" else None

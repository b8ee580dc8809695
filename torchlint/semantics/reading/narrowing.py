"""What is known of values where a test holds, or fails."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge.devices import ASKED, PLACING
from torchlint.semantics.names import dotted
from torchlint.semantics.reading.attributes import AttributeReader
from torchlint.semantics.values import ANYWHERE, DETACHED, DEVICE, HOST, MAYBE, NONE, NUMBER, Kind, Value, device_bits

_OTHER_THAN = (cst.IsNot, cst.NotEqual)
_OTHER = Value(Kind.UNKNOWN, device=HOST, graph=DETACHED)  # than the tensor or the container that was asked for


class NarrowingReader(AttributeReader):
    """Changes what is known by tests."""

    def narrow(self, test: cst.BaseExpression, holds: bool) -> None:
        """Change the environment by what is known where a test holds, or fails."""
        if type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
            self.narrow(test.expression, not holds)
        elif type(test) is cst.BooleanOperation:
            if (type(test.operator) is cst.And) == holds:
                self.narrow(test.left, holds)
                self.narrow(test.right, holds)
            elif holds:
                self._narrow_either(test)
        elif type(test) is cst.Call:
            self._narrow_call(test, holds)
        elif type(test) is cst.Comparison and len(test.comparisons) == 1:
            self._narrow_comparison(test.left, test.comparisons[0], holds)
        elif type(test) is cst.Attribute:
            if test.attr.value in ("is_cuda", "is_cpu"):
                self._place(test.value, DEVICE if holds == (test.attr.value == "is_cuda") else HOST)
            elif test.attr.value in ASKED and holds:
                self._place(test.value, DEVICE)

    def _narrow_comparison(self, left: cst.BaseExpression, comparison: cst.ComparisonTarget, holds: bool) -> None:
        """`x is None`, `type(x) is float`, `x.device.type == "cpu"`."""
        operator, right = comparison.operator, comparison.comparator
        if type(right) is cst.Name and right.value == "None":
            if isinstance(operator, (cst.Is, cst.Equal)) == holds:
                own = type(left) is cst.Name  # an attribute may be given a value by the next call
                self._rebind(left, lambda v: NONE if own or v.kind is Kind.NONE else v)
            else:
                self._rebind(left, lambda v: v.but(optional=False) if v.optional else v)
        elif _asks_for_type(left) and isinstance(operator, (cst.Is, cst.Equal, *_OTHER_THAN)):
            assert isinstance(left, cst.Call)
            self._narrow_kind(left.args[0].value, right, holds != isinstance(operator, _OTHER_THAN))
        elif type(left) is cst.Attribute and left.attr.value == "type":
            owner = left.value
            if type(owner) is cst.Attribute and owner.attr.value == "device":
                text = self.eval_quietly(right).const
                bits = device_bits(text) if isinstance(text, str) else 0
                equal = (type(operator) is cst.Equal) == holds
                if bits:
                    self._place(owner.value, bits if equal else DEVICE if bits == HOST else 0)

    def _place(self, node: cst.BaseExpression, bits: int) -> None:
        if bits:
            self._rebind(node, lambda v: v.but(device=bits) if v.device != bits else v)

    def _rebind(self, node: cst.BaseExpression, change: Callable[[Value], Value]) -> None:
        name = dotted(node) or self.entry_name(node)
        if name is None:
            return
        value = self.lookup(name)
        if value is None and isinstance(node, (cst.Attribute, cst.Subscript)):
            value = self.eval_quietly(node)
            self.dotted_bases.add(name.split(".", 1)[0])
        if value is not None:
            changed = change(value)
            if changed is not value:
                self.frame.env[name] = changed

    def _narrow_call(self, test: cst.Call, holds: bool) -> None:
        if not test.args:
            return
        asked = self.eval_quietly(test.func).qual
        if asked == "torch.is_tensor":
            self._narrow_tensor(test.args[0].value, holds)
        elif asked == "isinstance" and len(test.args) == 2:
            if holds and not self._names_tensor(test.args[1].value):
                self._narrow_first(test)
            self._narrow_kind(test.args[0].value, test.args[1].value, holds)

    def _narrow_tensor(self, node: cst.BaseExpression, holds: bool) -> None:
        """What is known of an expression where it is a tensor, or is none."""
        if not holds:
            self._rebind(node, lambda v: _OTHER if v.kind is Kind.TENSOR else v)
            return
        self._rebind(
            node,
            lambda v: (
                v
                if v.kind is Kind.TENSOR or v.is_no_tensor
                else v.but(
                    kind=Kind.TENSOR, conf=Confidence.LIKELY, device=v.device or ANYWHERE, graph=v.graph or MAYBE
                )
            ),
        )

    def _narrow_kind(self, node: cst.BaseExpression, asked: cst.BaseExpression, holds: bool) -> None:
        """What is known of an expression where it is of a class, or is not."""
        if self._names_tensor(asked):
            self._narrow_tensor(node, holds)
            return
        declared = self.annotated(asked)
        if not holds:
            if declared.kind is Kind.CONTAINER:  # not what it is everywhere else: nothing is known of it here
                self._rebind(node, lambda v: _OTHER if v.kind is Kind.CONTAINER and v.qual == declared.qual else v)
        elif declared.kind in (Kind.NUMBER, Kind.STRING, Kind.CONTAINER, Kind.NDARRAY, Kind.MODULE):
            self._rebind(
                node,
                lambda v: (
                    v
                    if v.kind is declared.kind
                    else declared.but(elem=(v.elem or v) if v.kind is Kind.BATCH else declared.elem, deps=v.deps)
                ),
            )
        elif type(asked) is cst.Tuple:
            self._narrow_to_others(node, [element.value for element in asked.elements])

    def _narrow_either(self, test: cst.BooleanOperation) -> None:
        """`type(x) == float or type(x) == int`: it is of one of several classes."""
        asked: list[tuple[cst.BaseExpression, cst.BaseExpression]] = []
        todo: list[cst.BaseExpression] = [test]
        while todo:
            part = todo.pop()
            if type(part) is cst.BooleanOperation and type(part.operator) is cst.Or:
                todo += [part.left, part.right]
                continue
            pair = _class_asked(part)
            if pair is None or (asked and not pair[0].deep_equals(asked[0][0])):
                return
            asked.append(pair)
        self._narrow_to_others(asked[0][0], [cls for _, cls in asked])

    def _narrow_to_others(self, node: cst.BaseExpression, classes: list[cst.BaseExpression]) -> None:
        """What is known of an expression that is of one of some classes, none of which is that of tensors."""
        if any(type(cls) is cst.Tuple for cls in classes) or any(map(self._names_tensor, classes)):
            return
        if all(self.annotated(cls).kind is Kind.NUMBER for cls in classes):
            self._rebind(node, lambda v: v if v.kind is Kind.NUMBER else NUMBER.but(deps=v.deps))
            return
        known = (self.eval_quietly(cls) for cls in classes)
        if all(cls.qual is not None and cls.cls is None and not cls.qual.startswith("torch") for cls in known):
            self._rebind(node, lambda v: _OTHER if v.kind is Kind.TENSOR else v)

    def asks_whether_tensor(self, test: cst.Call) -> bool:
        """`torch.is_tensor(x)`, `isinstance(x, torch.Tensor)`."""
        qual = self.eval_quietly(test.func).qual
        if qual == "torch.is_tensor":
            return True
        return qual == "isinstance" and len(test.args) == 2 and self._names_tensor(test.args[1].value)

    def asks_for_tensor(self, test: cst.BaseExpression) -> bool:
        """`torch.is_tensor(x)`, `isinstance(x, torch.Tensor)`, `hasattr(x, "to")`."""
        test, _ = unnegated(test)
        if type(test) is not cst.Call or not test.args:
            return False
        if self.asks_whether_tensor(test):
            return True
        has = len(test.args) == 2 and self.eval_quietly(test.func).qual == "hasattr"
        return has and self.eval_quietly(test.args[1].value).const in ("cpu", "device", *PLACING)

    def asks_of_entry(self, test: cst.BaseExpression) -> bool:
        """`isinstance(batch["task"], list)`: of the entries of a batch some are tensors, others names."""
        test, _ = unnegated(test)
        if type(test) is not cst.Call or len(test.args) != 2 or self.entry_name(test.args[0].value) is None:
            return False
        return self.eval_quietly(test.func).qual == "isinstance"

    def _narrow_first(self, test: cst.Call) -> None:
        """`isinstance(rows[0], np.ndarray)`: all of the rows are such."""
        first, name = test.args[0].value, None
        if type(first) is cst.Subscript and len(first.slice) == 1:
            index = first.slice[0].slice
            if type(index) is cst.Index and type(index.value) is cst.Integer:
                name = dotted(first.value)
        held = self.lookup(name) if name is not None else None
        declared = self.annotated(test.args[1].value)
        if name is None or held is None or declared.kind is not Kind.NDARRAY:
            return
        if held.kind is Kind.UNKNOWN or (held.kind is Kind.CONTAINER and held.elem and held.elem.kind is Kind.UNKNOWN):
            self.frame.env[name] = Value(Kind.CONTAINER, Confidence.LIKELY, qual="list", elem=declared, deps=held.deps)

    def _names_tensor(self, node: cst.BaseExpression) -> bool:
        if type(node) is cst.Tuple:
            return any(self._names_tensor(element.value) for element in node.elements)
        return self.eval_quietly(node).qual in (
            "torch.Tensor",
            "torch.nn.Parameter",
            "torch.FloatTensor",
            "torch.cuda.FloatTensor",
        )


def _class_asked(test: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """What a test asks to be of which class: `isinstance(x, str)`, `type(x) == float`."""
    if type(test) is cst.Call and len(test.args) == 2 and dotted(test.func) == "isinstance":
        return test.args[0].value, test.args[1].value
    if type(test) is cst.Comparison and len(test.comparisons) == 1 and _asks_for_type(test.left):
        if isinstance(test.comparisons[0].operator, (cst.Is, cst.Equal)) and isinstance(test.left, cst.Call):
            return test.left.args[0].value, test.comparisons[0].comparator
    return None


def _asks_for_type(node: cst.BaseExpression) -> bool:
    """`type(x)`."""
    return type(node) is cst.Call and type(node.func) is cst.Name and node.func.value == "type" and len(node.args) == 1


def unnegated(test: cst.BaseExpression) -> tuple[cst.BaseExpression, bool]:
    """A test without the `not` before it, and whether there was one."""
    flipped = False
    while type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
        test, flipped = test.expression, not flipped
    return test, flipped


def not_none(test: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a test asks to be something: `x` in `x is not None`."""
    if type(test) is not cst.Comparison or type(test.comparisons[0].operator) is not cst.IsNot:
        return None
    none = test.comparisons[0].comparator
    return test.left if type(none) is cst.Name and none.value == "None" else None

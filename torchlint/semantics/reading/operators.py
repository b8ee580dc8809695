"""What operators give."""

from __future__ import annotations

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.reading.arrays import is_single, operator_dtype
from torchlint.semantics.reading.conditions import ConditionReader
from torchlint.semantics.reading.evidence import BITS
from torchlint.semantics.reading.gates import SWAPPED, combine, crosses_interval
from torchlint.semantics.values import (
    ANYWHERE,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    MAYBE_TENSORS,
    MISSING,
    NUMBER,
    STRING,
    UNKNOWN,
    Gate,
    Kind,
    Value,
    join,
)

_BINARY: dict[type[cst.BaseBinaryOp], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.MatrixMultiply: "@",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
}


_COMPARE: dict[type[cst.BaseCompOp], str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}


def _counted(operator: str, left: Value, right: Value) -> str | None:
    """The mark of a sum of a loop's index and something else: another number in each round. None for others."""
    return "counted" if operator in ("+", "-") and {"index", "counted"} & {left.qual, right.qual} else None


_REPEATED = ("list", "tuple")
# What tensors compare themselves with: of anything else, such as a sentinel, identity alone is asked.
_COMPARED = MAYBE_TENSORS | {Kind.NUMBER, Kind.CLOCK, Kind.NDARRAY}


class OperatorReader(ConditionReader):
    """Evaluates operators and comparisons."""

    def _binary(self, node: cst.BinaryOperation) -> Value:
        left = self.eval(node.left)
        operator = _BINARY.get(type(node.operator), "?")
        right = self.eval(node.right)
        if operator in ("&", "|"):
            self._note_bits(node.left, node.right)
        if operator == "%" and left.kind is Kind.STRING:
            parts: list[tuple[cst.BaseExpression, Value]] = [(node.right, right)]
            if type(node.right) is cst.Tuple:
                parts = [
                    (element.value, self.model.values.get(element.value, UNKNOWN)) for element in node.right.elements
                ]
            for part, value in parts:
                self.formatted(node, part, value, "%")
            return STRING.but(device=left.device)  # "cuda:%d" % rank
        result = self.arithmetic(node, operator, left, right)
        if self.recording:
            self.sites.binaries.append(
                sites.Binary(node, operator, node.left, node.right, left, right, result, self.context, self.statement)
            )
        return result

    def arithmetic(self, node: cst.CSTNode, operator: str, left: Value, right: Value) -> Value:
        """What an arithmetic operator gives."""
        left, right = _moved(left), _moved(right)
        repeated = left if right.is_tensor else right
        if operator == "*" and repeated.kind is Kind.CONTAINER and repeated.qual in _REPEATED:
            return repeated.but(items=None)  # `[pad] * length`, also where the length is a tensor
        if left.is_tensor or right.is_tensor:
            dtype, rank = _of_operands(operator, left, right)
            return self.launch(self.tensor(node, (left, right), dtype=dtype, rank=rank), node)
        if left.kind is Kind.NDARRAY or right.kind is Kind.NDARRAY:
            single = is_single(left) and is_single(right)
            dtype = operator_dtype(operator, left, right)
            conf = max(side.conf for side in (left, right) if side.kind is Kind.NDARRAY)
            return Value(Kind.NDARRAY, conf, device=HOST, dtype=dtype, rank=0 if single else None, origins=(node,))
        if left.kind is Kind.CLOCK or right.kind is Kind.CLOCK:
            if operator == "-" and left.kind is Kind.CLOCK and right.kind is Kind.CLOCK:
                return NUMBER.but(qual="interval", origins=(node,))
            if operator == "+" and {left.kind, right.kind} & {Kind.NUMBER, Kind.UNKNOWN}:
                return (left if left.kind is Kind.CLOCK else right).but()  # `spent + perf_counter() - start`
            if operator == "-" and right.kind is Kind.NUMBER:
                return left.but()
            return NUMBER.but(origins=(node,))
        if left.kind is Kind.STRING or right.kind is Kind.STRING:
            return STRING.but(device=left.device) if operator == "+" and left.kind is Kind.STRING else STRING
        if left.kind is Kind.CONTAINER and operator == "+":
            return left.but(
                elem=join(left.elem, right.elem) if left.elem and right.elem else left.elem or right.elem,
                items=None,
                origins=(node,),
            )
        if left.kind is Kind.CONTAINER and operator == "*":
            return left.but(items=None)
        if left.kind is Kind.SHAPE or right.kind is Kind.SHAPE:
            return Value(Kind.SHAPE)
        gates = SWAPPED if operator == "%" and right.const != 2 else None  # what every other round does is not rare
        if left.kind is Kind.NUMBER and right.kind is Kind.NUMBER:
            what = "tensor size" if "tensor size" in (left.qual, right.qual) else _counted(operator, left, right)
            return Value(Kind.NUMBER, gates=gates, qual=what, origins=(node,) if left.origins or right.origins else ())
        if left.kind is Kind.UNKNOWN and right.kind is Kind.UNKNOWN and operator == "@" and not self.model.uses_numpy:
            return self.launch(self.tensor(node, (left, right), Confidence.POSSIBLE), node)
        if left.kind is Kind.UNKNOWN and right.kind is Kind.UNKNOWN or Kind.UNKNOWN in (left.kind, right.kind):
            # Something unknown and a number: a number or a tensor.
            unknown = left if left.kind is Kind.UNKNOWN else right
            return Value(
                Kind.UNKNOWN,
                device=(left.device | right.device) or unknown.device,
                graph=unknown.graph or MAYBE,
                deps=left.deps | right.deps,
                gates=gates,
                qual=_counted(operator, left, right),
                origins=(node,),
            )
        return UNKNOWN.but(gates=gates)  # `step % args.log_every` with a foreign object's attribute

    def _unary(self, node: cst.UnaryOperation) -> Value:
        if type(node.operator) is cst.Not:
            value = self.condition(node.expression, "not")
            gates = value.gates
            return NUMBER if gates is None else NUMBER.but(gates=(gates[1], gates[0]))
        value = self.eval(node.expression)
        if type(node.operator) is cst.BitInvert:
            self._note_bits(node.expression)
        if value.kind is Kind.NUMBER and value.const is not MISSING and type(node.operator) is cst.Minus:
            return value.but(const=-value.const) if isinstance(value.const, (int, float)) else NUMBER
        if value.is_tensor:
            return self.launch(self.tensor(node, (value,), dtype=value.dtype, rank=value.rank), node)
        return value

    def _note_bits(self, *operands: cst.BaseExpression) -> None:
        for operand in operands:
            if isinstance(operand, cst.Name):
                self.note_evidence(operand.value, BITS)

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        how = "and" if type(node.operator) is cst.And else "or"
        left = self.condition(node.left, how)
        right = self.eval(node.right)
        gates = combine(how, left.gates, right.gates)
        if left.kind is Kind.NUMBER and right.kind is Kind.NUMBER:
            return NUMBER.but(gates=gates)
        if how == "or" and left.kind is Kind.NONE:
            return right
        either = join(left, right)
        return either if gates is None else either.but(gates=gates)  # `interval and step % interval == 0`

    def _comparison(self, node: cst.Comparison) -> Value:
        left_node = node.left
        left = self.eval(left_node)
        result = NUMBER
        for index, comparison in enumerate(node.comparisons):
            operator = _COMPARE.get(type(comparison.operator), "?")
            right = self.eval(comparison.comparator)
            if index and result.kind is Kind.TENSOR:
                self.truth(node, result, "and")  # a < b < c
            result = self.compare(node, operator, left_node, left, comparison.comparator, right)
            if self.recording:
                self.sites.binaries.append(
                    sites.Binary(
                        node,
                        operator,
                        left_node,
                        comparison.comparator,
                        left,
                        right,
                        result,
                        self.context,
                        self.statement,
                    )
                )
            left, left_node = right, comparison.comparator
        return result

    def _search(
        self, node: cst.Comparison, left_node: cst.BaseExpression, left: Value, right: Value, *, found: bool
    ) -> Value:
        """`left in right`, or whether it is not `found` there."""
        if left.gates == SWAPPED:  # a remainder: `step % every in (0, 1)`
            return NUMBER.but(gates=(Gate.RARE, Gate.NONE) if found else SWAPPED)
        literals = [item.const for item in (right.items or {}).values()] if right.qual in ("list", "tuple") else []
        if any(isinstance(name, str) and self.is_device_type(left_node, left, name) for name in literals):
            places = (Gate.NONE, Gate.HOST) if "cuda" in literals else (Gate.HOST, Gate.NONE)
            return NUMBER.but(gates=places if found else places[::-1])
        if left.const is not MISSING and literals and MISSING not in literals:
            return NUMBER.but(const=(left.const in literals) == found)
        if right.kind is Kind.CONTAINER and right.qual == "dict":
            return NUMBER  # by hash
        if left.kind is Kind.STRING:
            return NUMBER  # of what models give, dictionaries alone are asked for text
        searched = right.elem if right.kind is Kind.CONTAINER else right
        if right.kind is Kind.TENSOR:
            self.truth(node, right, "in")
        elif searched is not None and searched.kind is Kind.TENSOR and left.kind in _COMPARED:
            self.truth(node, searched, "in")
        elif left.kind is Kind.TENSOR and right.kind is Kind.CONTAINER and right.qual in ("list", "tuple"):
            self.truth(node, left, "in")
        elif searched is None or searched.kind in (Kind.NUMBER, Kind.UNKNOWN, Kind.OBJECT):  # `step in (10, 100)`
            asked = self.gates_of_comparison("==" if found else "!=", left_node, left, NUMBER)
            return NUMBER if asked is None else NUMBER.but(gates=asked)
        return NUMBER

    def compare(
        self,
        node: cst.Comparison,
        operator: str,
        left_node: cst.BaseExpression,
        left: Value,
        right_node: cst.BaseExpression,
        right: Value,
    ) -> Value:
        """What a comparison gives."""
        if operator in ("is", "is not"):
            return NUMBER
        if operator in ("in", "not in"):
            return self._search(node, left_node, left, right, found=operator == "in")
        if left.kind is Kind.TENSOR or right.kind is Kind.TENSOR:
            if any(value.kind in (Kind.STRING, Kind.NONE) or _holds_text(value) for value in (left, right)):
                return NUMBER
            tensor = self.tensor(node, (left, right), dtype="bool", graph=DETACHED)
            if left.is_tensor != right.is_tensor:
                tensor.rank = (left if left.is_tensor else right).rank
            elif left.rank is not None and left.rank == right.rank:
                tensor.rank = left.rank
            return self.launch(tensor, node)
        gates = self.gates_of_comparison(operator, left_node, left, right)
        if gates is None and operator in ("<", ">", "!=") and crosses_interval(left_node, right_node):
            gates = (Gate.RARE, Gate.NONE)
        if (
            left.kind in (Kind.BATCH, Kind.UNKNOWN)
            and operator in ("<", ">", "<=", ">=", "==", "!=")
            and right.kind
            in (
                Kind.NUMBER,
                Kind.UNKNOWN,
                Kind.BATCH,
                *((Kind.NDARRAY,) if left.kind is Kind.BATCH else ()),
            )
        ):
            if left.kind is Kind.BATCH:
                return self.tensor(node, (left, right), Confidence.POSSIBLE, dtype="bool", graph=DETACHED)
            return Value(Kind.UNKNOWN, device=left.device or ANYWHERE, graph=DETACHED, gates=gates, origins=(node,))
        if left.kind is Kind.NDARRAY or right.kind is Kind.NDARRAY:
            return Value(Kind.NDARRAY, device=HOST, dtype="bool", origins=(node,))
        return NUMBER if gates is None else NUMBER.but(gates=gates)

    def _ternary(self, node: cst.IfExp) -> Value:
        value = self.condition(node.test, "ternary")
        before = self.frame.env
        then_gate, else_gate = value.gates or (Gate.NONE, Gate.NONE)
        saved = self.context
        then_asks, else_asks = self.asks_of(node.test, True), self.asks_of(node.test, False)
        self.frame.env = before.copy()
        self.narrow(node.test, True)
        self.context = Context(Scope.BRANCH, node, saved, gate=then_gate, test=node.test, asks=then_asks)
        then = self.eval(node.body)
        self.frame.env = before.copy()
        self.narrow(node.test, False)
        self.context = Context(Scope.BRANCH, node, saved, gate=else_gate, test=node.test, negated=True, asks=else_asks)
        other = self.eval(node.orelse)
        self.frame.env = before
        self.context = saved
        value = join(then, other)
        if value.kind is Kind.TENSOR and (self.asks_for_tensor(node.test) or self.asks_of_entry(node.test)):
            if {then.kind, other.kind} in ({Kind.TENSOR, Kind.BATCH}, {Kind.TENSOR, Kind.UNKNOWN}):
                return value.but(kind=Kind.BATCH)  # of the parts of a batch some are tensors, others names and numbers
        return value

    def _walrus(self, node: cst.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.assign(node.target, value, node, node.value)
        return value


def _holds_text(value: Value) -> bool:
    """Whether it is a list of names: what that is compared with is no tensor."""
    return value.kind is Kind.CONTAINER and value.elem is not None and value.elem.kind is Kind.STRING


def _moved(value: Value) -> Value:
    """An operand of unknown kind that was moved to a device: no module takes part in arithmetic, so it is a tensor."""
    if value.kind is Kind.UNKNOWN and value.device == DEVICE:
        return value.but(kind=Kind.TENSOR, conf=Confidence.LIKELY)
    return value


def _of_operands(operator: str, left: Value, right: Value) -> tuple[str | None, int | None]:
    """The dtype and the number of dimensions of what an operator makes of two operands, one of them a tensor."""
    if operator in ("&", "|", "^") and "bool" in (left.dtype, right.dtype):
        dtype: str | None = "bool"
    elif left.is_tensor and left.dtype not in (None, "bool"):
        dtype = left.dtype
    else:
        dtype = right.dtype if right.is_tensor else None
    if left.is_tensor and right.is_tensor:
        known = left.rank is not None and right.rank is not None and operator != "@"
        return dtype, max(left.rank or 0, right.rank or 0) if known else None
    side, other = (left, right) if left.is_tensor else (right, left)
    return dtype, side.rank if other.kind in (Kind.NUMBER, Kind.CLOCK) else None

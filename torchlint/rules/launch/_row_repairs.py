"""Whole tensors for a loop over their rows."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._bodies import names_written
from torchlint.rules._patterns import operation
from torchlint.rules._repairs import (
    Rewrite,
    Unfit,
    code,
    comments,
    repair,
    spell,
    tight,
)
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.rules.launch._repairs import lines_behind, start_before
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import below
from torchlint.semantics.values import Kind
from torchlint.source.written import parentheses, parsed

_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)
# Operations on each element by itself, and those along one dimension.
_ELEMENTWISE: Final = frozenset(
    """abs add sub mul div pow neg exp log log1p expm1 sqrt rsqrt square sin cos tanh sigmoid relu gelu silu softplus
    clamp reciprocal erf sign float double half bfloat16""".split()
)
_ALONG_ONE: Final = frozenset("sum mean amax amin softmax log_softmax cumsum cumprod logsumexp normalize".split())


def vectorised(model: Model, site: sites.Loop) -> NodeFix | None:
    """All rounds at once, where each treats its slice by itself in the same way."""
    return _rows_at_once(model, site) or _appended(model, site) or _indexed(model, site)


@repair
def _rows_at_once(model: Model, site: sites.Loop) -> NodeFix:
    """`f(x)` for `torch.stack([f(row) for row in x])`."""
    loop = site.node
    if not isinstance(loop, (cst.ListComp, cst.GeneratorExp)):
        raise Unfit
    clause = loop.for_in
    rows = clause.iter
    if clause.inner_for_in is not None or clause.ifs or not isinstance(clause.target, cst.Name) or dotted(rows) is None:
        raise Unfit
    argument = model.parent(loop)
    stack = model.parent(argument) if isinstance(argument, cst.Arg) else None
    call = model.call(stack) if isinstance(stack, cst.Call) else None
    if call is None or not _stacks_rows(call, loop):
        raise Unfit
    row = clause.target.value
    if not _by_row(model, loop.elt, row, model.value(rows).rank) or model.value(rows).kind is not Kind.TENSOR:
        raise Unfit
    return Rewrite(model, call.node).fix("Take all rows at once", tight(_with_whole(loop.elt, row, code(rows))))


@repair
def _appended(model: Model, site: sites.Loop) -> NodeFix:
    """`out = f(x)` for `out = []`, `for row in x: out.append(f(row))`, where `torch.stack(out)` alone reads it."""
    loop = site.node
    if not isinstance(loop, cst.For) or loop.orelse is not None or not isinstance(loop.target, cst.Name):
        raise Unfit
    rows, row = loop.iter, loop.target.value
    lines = loop.body.body
    small = lines[0].body if len(lines) == 1 and isinstance(lines[0], cst.SimpleStatementLine) else ()
    append = small[0].value if len(small) == 1 and isinstance(small[0], cst.Expr) else None
    if dotted(rows) is None or not isinstance(append, cst.Call) or not isinstance(append.func, cst.Attribute):
        raise Unfit
    name = dotted(append.func.value)
    if name is None or "." in name or append.func.attr.value != "append" or len(append.args) != 1:
        raise Unfit
    start = start_before(model, loop, name)
    behind = list(lines_behind(model, loop))
    readers = [node for line in behind for node in below(line) if isinstance(node, cst.Name) and node.value == name]
    argument = model.parent(readers[0]) if len(readers) == 1 else None
    stack = model.parent(argument) if isinstance(argument, cst.Arg) else None
    call = model.call(stack) if isinstance(stack, cst.Call) else None
    if not isinstance(start.value, cst.List) or start.value.elements or call is None:
        raise Unfit
    if not _stacks_rows(call, readers[0]) or model.value(rows).kind is not Kind.TENSOR:
        raise Unfit
    if not _by_row(model, append.args[0].value, row, model.value(rows).rank):
        raise Unfit
    if any(row in names_read(line) or names_read(rows) & names_written(model, [line]) for line in behind):
        raise Unfit
    whole = code(_with_whole(append.args[0].value, row, code(rows)))
    edits = (
        NodeEdit(start, "", "delete"),
        NodeEdit(loop, "\n".join([*comments(loop), f"{name} = {whole}"]), "lines"),
        NodeEdit(call.node, name),
    )
    return NodeFix(Applicability.UNSAFE, "Take all rows at once", edits)


def _stacks_rows(call: sites.Call, rows: cst.CSTNode) -> bool:
    """Whether a call is `torch.stack` of some rows along a new first dimension."""
    if call.callee != "torch.stack" or call.opaque_arguments or call.arguments[0].node is not rows:
        return False
    dim = call.argument(1, "dim")
    return len(call.arguments) == 1 or (len(call.arguments) == 2 and dim is not None and dim.value.const == 0)


def _with_whole(element: cst.BaseExpression, row: str, whole: str) -> cst.BaseExpression:
    """An expression with the whole tensor in the place of a row."""

    class _Whole(cst.CSTTransformer):
        def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802
            return cst.parse_expression(whole) if original_node.value == row else updated_node

        def leave_Attribute(  # noqa: N802
            self, original_node: cst.Attribute, updated_node: cst.Attribute
        ) -> cst.BaseExpression:
            return updated_node.with_changes(attr=original_node.attr)

        def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
            return updated_node.with_changes(keyword=original_node.keyword)

    written = parsed(element).visit(_Whole())
    assert isinstance(written, cst.BaseExpression)
    return written


@repair
def _indexed(model: Model, site: sites.Loop) -> NodeFix:
    """`b[:, :n] = a[:, :n] * i` with `i = torch.arange(n)`, for `for i in range(n): b[:, i] = a[:, i] * i`.

    Every tensor is read and written at the position of the round alone, in one and the same dimension, with nothing
    but arithmetic around it; the index becomes a tensor with as many dimensions as stand behind that one.
    """
    loop = site.node
    if not isinstance(loop, cst.For) or loop.orelse is not None or not isinstance(loop.target, cst.Name):
        raise Unfit
    counter = model.call(loop.iter)
    index = loop.target.value
    if counter is None or counter.callee != "range" or len(counter.arguments) != 1 or counter.opaque_arguments:
        raise Unfit
    stop = counter.arguments[0].node
    lines = loop.body.body
    small = lines[0].body if len(lines) == 1 and isinstance(lines[0], cst.SimpleStatementLine) else ()
    statement = small[0] if len(small) == 1 else None
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        raise Unfit
    target = statement.targets[0].target
    if not isinstance(target, cst.Subscript) or not isinstance(target.value, cst.Name):
        raise Unfit
    if not isinstance(stop, (cst.Name, cst.Integer, cst.Attribute, cst.Subscript)):
        raise Unfit
    if any(index in names_read(line) for line in lines_behind(model, loop)):
        raise Unfit
    slices = _Slices(model, index, stop, target.value.value)
    position = slices.position(target)
    left, right = slices.sliced(target), slices.written(statement.value)
    arange, imports = spell(model, "torch.arange")
    whole = target.value.value
    sizes = f"{whole}.ndim - {position + 1}"
    lines_written = [f"{left} = {right}"]
    if slices.counts:
        made = f"{arange}({code(stop)}, device={whole}.device)"
        lines_written.insert(0, f"{index} = {made}.view(-1, *[1] * ({sizes}))")
    return NodeFix(
        Applicability.UNSAFE,
        "Take all positions at once",
        (NodeEdit(loop, "\n".join([*comments(loop), *lines_written]), "lines"),),
        imports if slices.counts else (),
    )


class _Slices:
    """Writes the body of an index loop for all positions. Raises Unfit for what is not elementwise in the index."""

    def __init__(self, model: Model, index: str, stop: cst.BaseExpression, target: str) -> None:
        self.model = model
        self.index = index
        self.stop = stop
        self.target = target
        self.counts = False  # the index is read as a number as well
        self.where: int | None = None

    def position(self, node: cst.Subscript) -> int:
        """Which dimension the index stands in; the others are taken whole."""
        found = [place for place, part in enumerate(node.slice) if self.index in names_read(part)]
        if len(found) != 1 or (self.where is not None and found[0] != self.where):
            raise Unfit
        for place, part in enumerate(node.slice):
            if place != found[0] and code(part.slice).replace(" ", "") != ":":
                raise Unfit
        self.where = found[0]
        return found[0]

    def sliced(self, node: cst.Subscript) -> str:
        """A subscript with a slice where the index stood."""
        place = self.position(node)
        part = node.slice[place].slice
        if not isinstance(part, cst.Index) or not isinstance(node.value, cst.Name):
            raise Unfit
        if self.model.value(node.value).kind is not Kind.TENSOR:
            raise Unfit
        name, stop = node.value.value, tight(self.stop)
        offset = self._offset(part.value)
        if offset is None:
            taken = f":{stop}"
        elif isinstance(offset, cst.UnaryOperation) and isinstance(offset.operator, cst.Minus):
            if not offset.expression.deep_equals(self.stop):
                raise Unfit
            taken = f"{name}.shape[{place}] - {stop} :"
        else:
            first = self.model.value(offset).const
            if not isinstance(first, int) or first < 0:
                raise Unfit  # a position from the end would mean something else in a slice
            taken = f"{tight(offset)} : {tight(offset)} + {stop}"
        if name == self.target and offset is not None:
            raise Unfit  # one round may read what another wrote
        return f"{name}[{', '.join([':'] * place + [taken] + [':'] * (len(node.slice) - place - 1))}]"

    def _offset(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What is added to the index; None where it stands alone."""
        if isinstance(node, cst.Name) and node.value == self.index:
            return None
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, cst.Name) and one.value == self.index and self.index not in names_read(other):
                    return other
        raise Unfit

    def written(self, node: cst.BaseExpression) -> str:
        """Arithmetic of slices, numbers and the index, as it is for all positions."""
        if isinstance(node, cst.Name) and node.value == self.index:
            self.counts = True
            return node.value
        if isinstance(node, cst.Subscript):
            return self.sliced(node)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (*_ARITHMETIC, cst.Power)):
            operator = code(node.operator)
            text = f"{self.written(node.left)}{operator}{self.written(node.right)}"
        elif isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            text = f"-{self.written(node.expression)}"
        elif self.model.value(node).kind is Kind.NUMBER and self.index not in names_read(node):
            return code(node)
        else:
            raise Unfit
        return f"({text})" if parentheses(node) else text


def _by_row(model: Model, node: cst.BaseExpression, row: str, rank: int | None) -> bool:
    """Whether an expression is made of a row or of numbers, by operations that do the same for all rows at once."""
    if isinstance(node, cst.Name) and node.value == row:
        return True
    if model.value(node).kind is Kind.NUMBER:
        return not any(isinstance(inner, cst.Name) and inner.value == row for inner in below(node))
    made = operation(model, node)
    if made is None or made.in_place or not made.operands:
        return False
    options = [] if made.call is None else [a for a in made.call.arguments if a.name is not None]
    if made.name in _ELEMENTWISE:
        if any(option.value.kind not in (Kind.NUMBER, Kind.STRING) for option in options):
            return False
        return all(_by_row(model, operand, row, rank) for operand in made.operands)
    if made.name in _ALONG_ONE and rank is not None and rank > 1:
        dim = made.argument(1, "dim")
        const = model.value(dim).const if dim is not None else None
        return isinstance(const, int) and -rank < const < 0 and _by_row(model, made.operands[0], row, rank)
    return False

"""What to write instead of work that is launched piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._patterns import consumers, operation
from torchlint.rules._repairs import (
    Rewrite,
    Unfit,
    code,
    comments,
    is_pure,
    remove_argument,
    repair,
    spell,
    tight,
)
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.rules.launch._bodies import bound_names, names_written
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import below, dotted, names_read
from torchlint.semantics.values import Kind

_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)
_JOINS: Final = ("cat", "concat", "concatenate", "hstack", "vstack")
_CASTS: Final = {"Float": "float", "Double": "double", "Half": "half", "Long": "long", "Int": "int", "Short": "short"}
# In-place methods, and how many of their arguments a foreach function takes as they are.
_FOREACH: Final = frozenset("mul_ add_ sub_ div_ copy_ lerp_ zero_ addcmul_ addcdiv_ clamp_min_ clamp_max_".split())


@repair
def drop_foreach(site: sites.Call) -> NodeFix:
    """Leave `foreach=False` out."""
    option = site.argument(None, "foreach")
    if option is None:
        raise Unfit
    return NodeFix(Applicability.UNSAFE, "Leave `foreach` out", (remove_argument(site.node, option.node),))


@repair
def plain_number(model: Model, site: sites.Call, data: sites.Argument) -> NodeFix:
    """The number itself, for a tensor made of it that is used in arithmetic with tensors alone."""
    if data.value.kind is not Kind.NUMBER or any(argument.name == "dtype" for argument in site.arguments):
        raise Unfit
    for step in consumers(model, site.node):
        if step is None or not isinstance(step.node, cst.BinaryOperation) or len(step.operands) != 2:
            raise Unfit
        if sum(model.value(operand).is_tensor for operand in step.operands) != 2:
            raise Unfit
        if isinstance(model.parent(step.node), cst.Assign) and _starts(model, step.node, site.node):
            raise Unfit
    rewrite = Rewrite(model, site.node)
    around = model.parent(site.node)
    if isinstance(around, cst.AnnAssign):
        raise Unfit
    loose = isinstance(around, (cst.Assign, cst.Arg))
    return rewrite.fix("Compute with the number itself", rewrite.part(data.node, tightly=not loose))


def _starts(model: Model, sum_: cst.CSTNode, number: cst.CSTNode) -> bool:
    """Whether a sum goes to the name that the number has: it starts there, and may never grow."""
    targets = [
        {dotted(target.target) for target in statement.targets}
        for statement in (model.parent(sum_), model.parent(number))
        if isinstance(statement, cst.Assign)
    ]
    return len(targets) == 2 and bool(targets[0] & targets[1])


@repair
def stacked_arrays(model: Model, site: sites.Call, data: sites.Argument) -> NodeFix:
    """`torch.from_numpy(np.stack(rows))` for `torch.tensor(rows)`."""
    if data.value.qual not in ("list", "tuple") or data.star or site.opaque_arguments:
        raise Unfit
    options = {argument.name: argument.node for argument in site.arguments if argument is not data}
    if not options.keys() <= {"dtype", "device"}:
        raise Unfit
    last = (site.callee or "").rpartition(".")[2]
    cast = ""
    if last.endswith("Tensor"):
        cast = _CASTS.get(last.removesuffix("Tensor"), "")
        if not cast or options:
            raise Unfit
        cast = f".{cast}()"
    rewrite = Rewrite(model, site.node)
    given = [rewrite.part(options[name]) for name in ("device", "dtype") if name in options]
    if len(given) == 1 and "dtype" in options:
        given = [f"dtype={given[0]}"]
    moved = f".to({', '.join(given)})" if given else cast
    join, numpy = spell(model, "numpy.stack")
    wrap, torch = spell(model, "torch.from_numpy")
    return rewrite.fix("Stack the arrays first", f"{wrap}({join}({rewrite.part(data.node)})){moved}", (*numpy, *torch))


@repair
def collected(model: Model, site: sites.Call, grown: cst.BaseExpression, loop: cst.CSTNode) -> NodeFix:
    """Pieces collected in a list and joined once behind the loop."""
    statement = model.parent(site.node)
    parts = site.arguments[0].node
    if (
        not isinstance(loop, cst.For)
        or not isinstance(statement, cst.Assign)
        or len(statement.targets) != 1
        or not isinstance(grown, cst.Name)
        or dotted(statement.targets[0].target) != grown.value
        or not isinstance(parts, (cst.List, cst.Tuple))
        or len(parts.elements) != 2
        or parts.elements[0].value is not grown
    ):
        raise Unfit
    name, piece = grown.value, parts.elements[1].value
    if (site.callee or "").rpartition(".")[2] not in _JOINS:
        raise Unfit
    start = _start_before(model, loop, name)
    if not model.value(start.value).is_tensor or isinstance(start.value, cst.Name):
        raise Unfit
    read = names_read(piece)
    if any(_changes(node, read) for node in below(loop.body)):
        raise Unfit  # a list would hold what is changed later, where the join held a copy
    inside = [node for node in below(loop) if isinstance(node, cst.Name) and node.value == name]
    target = statement.targets[0].target
    if any(node is not grown and node is not target for node in inside) or loop.orelse is not None:
        raise Unfit
    if not any(statement in below(line) for line in loop.body.body) or _is_nested(model, statement, loop):
        raise Unfit
    rest = "".join(f", {code(argument).strip().rstrip(',')}" for argument in site.node.args[1:])
    return NodeFix(
        Applicability.UNSAFE,
        "Collect the pieces, and join them once",
        (
            NodeEdit(start.value, f"[{code(start.value)}]"),
            NodeEdit(statement, f"{name}.append({code(piece)})"),
            NodeEdit(loop, f"{name} = {code(site.node.func)}({name}{rest})", "line-after"),
        ),
    )


def _start_before(model: Model, loop: cst.CSTNode, name: str) -> cst.Assign:
    """The statement that gives a name its value right before a loop. Raises Unfit where others stand between."""
    block = model.parent(loop)
    found: cst.Assign | None = None
    for line in block.body if isinstance(block, (cst.IndentedBlock, cst.Module)) else ():
        if line is loop:
            break
        for node in below(line):
            if isinstance(node, cst.Assign) and len(node.targets) == 1 and dotted(node.targets[0].target) == name:
                found = node if model.parent(node) is line else None
            elif (
                isinstance(node, cst.Name)
                and node.value == name
                and (found is None or node is not found.targets[0].target)
            ):
                around = model.parent(node)
                if not isinstance(around, cst.AssignTarget):
                    found = None
    if found is None:
        raise Unfit
    return found


def _changes(node: cst.CSTNode, names: set[str]) -> bool:
    """Whether a node changes in place what one of the names stands for."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        method = node.func.attr.value
        return method.endswith("_") and not method.endswith("__") and _stem(node.func.value) in names
    if isinstance(node, (cst.AugAssign, cst.AssignTarget)) and not isinstance(node.target, cst.Name):
        return _stem(node.target) in names
    return isinstance(node, cst.AugAssign) and _stem(node.target) in names


def _stem(node: cst.BaseExpression) -> str | None:
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None


def _is_nested(model: Model, statement: cst.CSTNode, loop: cst.CSTNode) -> bool:
    """Whether a statement stands in another loop, function or `try` inside of a loop."""
    around = model.parent(statement)
    while around is not None and around is not loop:
        if isinstance(around, (cst.For, cst.While, cst.FunctionDef, cst.ClassDef, cst.Try, cst.TryStar)):
            return True
        around = model.parent(around)
    return False


def hoisted(model: Model, node: cst.CSTNode, loop: cst.CSTNode) -> NodeFix | None:
    """What every round computes again, computed in front of the loop."""
    return _statement_hoisted(model, node, loop) or _expression_hoisted(model, node, loop)


@repair
def _expression_hoisted(model: Model, node: cst.CSTNode, loop: cst.CSTNode) -> NodeFix:
    """A part of a statement that gets a name in front of its loop."""
    if not isinstance(node, cst.BaseExpression) or not isinstance(loop, (cst.For, cst.While)):
        raise Unfit
    around = model.parent(node)
    while around is not None and around is not loop.body:
        if isinstance(around, (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.CompFor, cst.BaseComp, cst.Try)):
            raise Unfit
        around = model.parent(around)
    if around is None or isinstance(model.parent(node), (cst.Assign, cst.Expr, cst.AugAssign)):
        raise Unfit
    changing = names_written(model, [loop]) | (bound_names(loop.target) if isinstance(loop, cst.For) else set())
    if names_read(node) & changing or not all(is_pure(model, part) for part in below(node)):
        raise Unfit
    used = {part.value for part in below(model.module) if isinstance(part, cst.Name)}
    name = next((name for name in ("unchanged", "invariant", "constant_part") if name not in used), None)
    if name is None:
        raise Unfit
    edits = (NodeEdit(node, name, "unwrap"), NodeEdit(loop, f"{name} = {code(node)}", "line-before"))
    return NodeFix(Applicability.UNSAFE, "Compute it before the loop", edits)


@repair
def _statement_hoisted(model: Model, node: cst.CSTNode, loop: cst.CSTNode) -> NodeFix:
    """A statement moved in front of its loop."""
    statement = model.parent(node)
    if (
        not isinstance(statement, cst.Assign)
        or not isinstance(loop, (cst.For, cst.While))
        or len(statement.targets) != 1
        or not isinstance(statement.targets[0].target, cst.Name)
    ):
        raise Unfit
    name = statement.targets[0].target.value
    line = model.parent(statement)
    if line not in loop.body.body or not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        raise Unfit
    for other in loop.body.body:
        if other is line:
            break
        if name in names_read(other):
            raise Unfit
    changing = names_written(model, [loop.body]) | (bound_names(loop.target) if isinstance(loop, cst.For) else set())
    if names_read(statement.value) & (changing - {name}):
        raise Unfit
    others: list[cst.CSTNode] = [other for other in loop.body.body if other is not line]
    head: list[cst.CSTNode] = [loop.iter, loop.target] if isinstance(loop, cst.For) else [loop.test]
    if name in names_written(model, others) or any(name in names_read(part) for part in head):
        raise Unfit
    return NodeFix(
        Applicability.UNSAFE,
        "Compute it before the loop",
        (NodeEdit(statement, "", "delete"), NodeEdit(loop, code(statement), "line-before")),
    )


@dataclass(frozen=True, slots=True)
class _Update:
    """One in-place operation of a round: `target.method(arguments)`."""

    method: str
    target: cst.BaseExpression
    arguments: tuple[cst.Arg, ...]


@repair
def foreach(model: Model, site: sites.Loop) -> NodeFix:
    """`torch._foreach_*` over lists, where a round is nothing but in-place operations on its parameters."""
    loop = site.node
    if not isinstance(loop, cst.For) or loop.orelse is not None or loop.asynchronous is not None:
        raise Unfit
    lists = dict(_lists(model, loop))
    updates = [update for line in loop.body.body for update in _updates(line)]
    written = dict.fromkeys(lists, False)
    lines = []
    for update in updates:
        arguments = []
        if update.method not in _FOREACH:
            raise Unfit
        for argument in update.arguments:
            if argument.star:
                raise Unfit
            text = _element(argument.value, lists, written)
            if text is None:
                if any(isinstance(node, cst.Name) and node.value in lists for node in below(argument.value)):
                    raise Unfit
                if not _is_number(model, argument.value):
                    raise Unfit
                text = code(argument.value)
            arguments.append(f"{argument.keyword.value}={text}" if argument.keyword is not None else text)
        target = _element(update.target, lists, written)
        if target is None:
            raise Unfit
        function, imports = spell(model, f"torch._foreach_{update.method}")
        if imports:
            raise Unfit
        lines.append(f"{function}({', '.join([target, *arguments])})")
    if not lines or any(name in names_read(node) for name in lists for node in _behind(model, loop)):
        raise Unfit
    made = [
        f"[{name}.data for {name} in {code(source)}]" if written[name] else f"list({code(source)})"
        for name, source in lists.items()
    ]
    lines.insert(0, f"{', '.join(lists)} = {', '.join(made)}")
    return NodeFix(
        Applicability.UNSAFE,
        "Take the tensors together",
        (NodeEdit(loop, "\n".join([*comments(loop), *lines]), "lines"),),
    )


def _lists(model: Model, loop: cst.For) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The loop's variables, and what each runs over: `zip(a.parameters(), b.parameters())`, or one of those."""
    call = model.call(loop.iter)
    sources: list[cst.BaseExpression] = [loop.iter]
    targets: list[cst.BaseExpression] = [loop.target]
    if call is not None and call.callee == "zip":
        if not isinstance(loop.target, cst.Tuple) or any(argument.name or argument.star for argument in call.arguments):
            raise Unfit
        sources = [argument.node for argument in call.arguments]
        targets = [element.value for element in loop.target.elements]
    if len(sources) != len(targets):
        raise Unfit
    for target, source in zip(targets, sources, strict=True):
        made = model.call(source)
        if not isinstance(target, cst.Name) or made is None or made.method not in ("parameters", "buffers"):
            raise Unfit
        yield target.value, source


def _updates(line: cst.CSTNode) -> Iterator[_Update]:
    """The in-place calls of a statement that is nothing but a chain of them."""
    if not isinstance(line, cst.SimpleStatementLine):
        raise Unfit
    for small in line.body:
        if not isinstance(small, cst.Expr):
            raise Unfit
        chain: list[_Update] = []
        node: cst.BaseExpression = small.value
        while isinstance(node, cst.Call):
            if not isinstance(node.func, cst.Attribute):
                raise Unfit
            chain.append(_Update(node.func.attr.value, node.func.value, tuple(node.args)))
            node = node.func.value
        if not chain:
            raise Unfit
        yield from (_Update(update.method, node, update.arguments) for update in reversed(chain))


def _element(node: cst.BaseExpression, lists: dict[str, cst.BaseExpression], data: dict[str, bool]) -> str | None:
    """The variable that an expression is: `p`, or `p.data`, which is noted."""
    if isinstance(node, cst.Attribute) and node.attr.value == "data" and isinstance(node.value, cst.Name):
        if node.value.value in lists:
            data[node.value.value] = True
            return node.value.value
    return node.value if isinstance(node, cst.Name) and node.value in lists else None


def _is_number(model: Model, node: cst.BaseExpression) -> bool:
    """Whether an argument is one number for all parameters: no tensor, as far as is known."""
    return not any(model.value(inner).is_tensor for inner in below(node) if isinstance(inner, cst.BaseExpression))


def _behind(model: Model, loop: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The statements behind a loop in its block."""
    block = model.parent(loop)
    seen = False
    for line in block.body if isinstance(block, (cst.IndentedBlock, cst.Module)) else ():
        if seen:
            yield line
        seen = seen or line is loop


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
    start = _start_before(model, loop, name)
    behind = list(_behind(model, loop))
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

    written = element.visit(_Whole())
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
    if any(index in names_read(line) for line in _behind(model, loop)):
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
        return f"({text})" if node.lpar else text


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

"""What to write instead of reads that wait for the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules._patterns import alike, made_by, operation
from torchlint.rules._repairs import (
    Rewrite,
    Unfit,
    code,
    comments,
    is_pure,
    option_off,
    repair,
    spell,
    tight,
    without_option,
)
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import below, children
from torchlint.semantics.values import Kind, Value

_INTEGERS: Final = frozenset("bool uint8 int8 int16 int32 int64".split())
_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)


@repair
def summed_on_device(model: Model, site: sites.Call, read: Value) -> NodeFix:
    """`total += loss.detach().double()`, read as a number once behind the loop, for `total += loss.item()`.

    Python adds in float64, so that the sum is the same number. Integers are added as they are.
    """
    added = model.parent(site.node)
    node: cst.BaseExpression = site.node
    while isinstance(added, cst.BinaryOperation) and isinstance(added.operator, _ARITHMETIC):
        other = added.right if added.left is node else added.left
        if model.value(other).kind is not Kind.NUMBER:
            raise Unfit
        node, added = added, model.parent(added)
    if (
        site.method != "item"
        or site.receiver_node is None
        or not isinstance(added, cst.AugAssign)
        or not isinstance(added.operator, cst.AddAssign)
        or added.value is not node
        or not isinstance(added.target, cst.Name)
    ):
        raise Unfit
    loop = _loop(model, added)
    name = added.target.value
    start, readings = _life(model, loop, added, name)
    if read.dtype in _INTEGERS:
        kind, device = "int", tight(site.receiver_node)
        if node is not site.node or not isinstance(start.value, cst.Integer):
            raise Unfit
    elif read.attached or (read.dtype or "").startswith(("float", "bfloat")) or isinstance(start.value, cst.Float):
        kind, device = "float", f"{tight(site.receiver_node)}.detach().double()"
    else:
        raise Unfit
    edits = [NodeEdit(site.node, device)]
    if len(readings) == 1:
        edits.append(NodeEdit(readings[0], f"{kind}({name})"))
    else:
        edits.append(NodeEdit(loop, f"{name} = {kind}({name})", "line-after"))
    return NodeFix(Applicability.UNSAFE, "Add up on the device, and read the sum once", tuple(edits))


def _loop(model: Model, statement: cst.CSTNode) -> cst.For:
    """The `for` whose body a statement stands in, be it under a condition or a manager."""
    around = model.parent(statement)
    while around is not None and not isinstance(around, (cst.For, cst.While, cst.FunctionDef, cst.ClassDef)):
        around = model.parent(around)
    if not isinstance(around, cst.For) or around.orelse is not None:
        raise Unfit
    return around


def _life(model: Model, loop: cst.For, added: cst.AugAssign, name: str) -> tuple[cst.Assign, list[cst.Name]]:
    """The statement that starts a sum at zero in front of its loop, and the places behind the loop that read it.

    Raises Unfit where anything else touches it.
    """
    block = model.parent(loop)
    if not isinstance(block, cst.IndentedBlock):
        raise Unfit
    start: cst.Assign | None = None
    readings: list[cst.Name] = []
    behind = False
    for line in block.body:
        if line is loop:
            if start is None:
                raise Unfit
            if any(use is not added.target for use in _named(line, name)):
                raise Unfit
            behind = True
            continue
        for use in _named(line, name):
            around = model.parent(use)
            statement = model.parent(around) if isinstance(around, cst.AssignTarget) else None
            if behind:
                if isinstance(around, (cst.AssignTarget, cst.AugAssign, cst.Del, cst.NamedExpr)):
                    raise Unfit
                readings.append(use)
            elif (
                not isinstance(statement, cst.Assign)
                or len(statement.targets) > 1
                or model.parent(statement) is not line
            ):
                raise Unfit
            else:
                start = statement
    function = model.parent(block)
    while function is not None and not isinstance(function, cst.FunctionDef):
        function = model.parent(function)
    everywhere = sum(1 for _ in _named(function.body, name)) if function is not None else 0
    here = sum(1 for line in block.body for _ in _named(line, name))
    if start is None or model.value(start.value).const not in (0, 0.0) or not readings or everywhere != here:
        raise Unfit
    return start, readings


def _named(root: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    """Where a name stands as a variable."""
    stack: list[tuple[cst.CSTNode, cst.CSTNode | None]] = [(root, None)]
    while stack:
        node, around = stack.pop()
        if isinstance(node, cst.Name) and node.value == name:
            if not (isinstance(around, cst.Attribute) and around.attr is node) and not (
                isinstance(around, cst.Arg) and around.keyword is node
            ):
                yield node
        stack += [(inner, node) for inner in reversed(children(node))]


@repair
def tensors_own(model: Model, site: sites.Call) -> NodeFix:
    """The tensor's own `max`, `sum` and so on, for Python's."""
    name = site.callee or ""
    if site.opaque_arguments or any(argument.name for argument in site.arguments) or name == "sorted":
        raise Unfit
    rewrite = Rewrite(model, site.node)
    values = [argument.value for argument in site.arguments]
    nodes = [argument.node for argument in site.arguments]
    if len(values) == 1 and values[0].kind is Kind.CONTAINER and values[0].qual == "list":
        members = values[0].elem.origins if values[0].elem is not None else ()
        if not members or not all(operation(model, member) is not None for member in members):
            raise Unfit  # Python's own numbers may be among them
        stack, imports = spell(model, "torch.stack")
        return rewrite.fix("Stack them first", f"{stack}({rewrite.part(nodes[0])}).{name}()", imports)
    if len(values) == 1 and (values[0].kind is Kind.TENSOR or isinstance(nodes[0], cst.Comparison)):
        where = "0" if name == "sum" else ""
        return rewrite.fix("Ask the tensor", f"{rewrite.part(nodes[0], tightly=True)}.{name}({where})")
    if len(values) == 2 and name in ("max", "min"):
        tensors = [value.kind is Kind.TENSOR for value in values]
        if all(tensors):
            function, imports = spell(model, f"torch.{name}imum")
            written = ", ".join(rewrite.part(node) for node in nodes)
            return rewrite.fix("Ask the tensors", f"{function}({written})", imports)
        if any(tensors) and any(value.kind is Kind.NUMBER for value in values):
            tensor, number = nodes if tensors[0] else reversed(nodes)
            bound = "min" if name == "max" else "max"
            written = f"{rewrite.part(tensor, tightly=True)}.clamp({bound}={rewrite.part(number)})"
            return rewrite.fix("Ask the tensor", written)
    raise Unfit


@repair
def scaled_operand(model: Model, site: sites.Call) -> NodeFix:
    """`a + b * t` for `a.add(b, alpha=t)`, and `torch.where(mask, t, x)` for `x.masked_fill(mask, t)`."""
    name = (site.callee or site.method or "").rpartition(".")[2]
    operands = [argument.node for argument in site.arguments if argument.name is None]
    if (site.callee is None or site.callee.startswith("torch.Tensor.")) and site.receiver_node is not None:
        operands.insert(0, site.receiver_node)
    options = {argument.name: argument.node for argument in site.arguments if argument.name is not None}
    if site.opaque_arguments or len(operands) < 2:
        raise Unfit
    rewrite = Rewrite(model, site.node)
    parts = [rewrite.part(node, tightly=name != "masked_fill") for node in operands]
    if name in ("add", "sub", "subtract") and len(parts) == 2 and options.keys() == {"alpha"}:
        sign = "+" if name == "add" else "-"
        written = f"{parts[0]} {sign} {parts[1]} * {rewrite.part(options['alpha'], tightly=True)}"
        around = model.parent(site.node)
        if not isinstance(around, (cst.Assign, cst.AnnAssign, cst.Return, cst.Arg, cst.NamedExpr)):
            written = f"({written})"
        return rewrite.fix("Let the tensor take part", written)
    if name == "masked_fill":
        parts += [rewrite.part(node) for key, node in options.items() if key == "value"]
        if len(parts) == 3 and options.keys() <= {"value"}:
            where, imports = spell(model, "torch.where")
            return rewrite.fix("Let the tensor take part", f"{where}({parts[1]}, {parts[2]}, {parts[0]})", imports)
    raise Unfit


@repair
def filled_element(model: Model, site: sites.Subscript) -> NodeFix:
    """`v[3].fill_(0.5)` for `v[3] = 0.5`."""
    target = model.parent(site.node)
    statement = model.parent(target) if target is not None else None
    if site.mode != "write" or not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        raise Unfit
    if not all(value is not None and value.kind is Kind.NUMBER for _, value in site.indices):
        raise Unfit
    if any(value is not None and isinstance(value.const, bool) for _, value in site.indices):
        raise Unfit  # that is a mask
    # The target is evaluated before the number then; and what is called a tensor must be one.
    known = site.base.conf is Confidence.SURE and model.value(statement.value).conf is Confidence.SURE
    pure = all(is_pure(model, node) for node in below(statement))
    return NodeFix(
        Applicability.SAFE if known and pure else Applicability.UNSAFE,
        "Fill it on the device",
        (NodeEdit(statement, f"{code(site.node)}.fill_({code(statement.value)})"),),
    )


@repair
def sliced(model: Model, index: cst.BaseExpression) -> NodeFix:
    """`x[:, -1:]` for `x[:, [-1]]`: a view where the list made a copy."""
    if not isinstance(index, cst.List) or len(index.elements) != 1:
        raise Unfit
    at = model.value(index.elements[0].value).const
    if not isinstance(at, int) or isinstance(at, bool):
        raise Unfit
    stop = "" if at == -1 else str(at + 1)
    return NodeFix(Applicability.UNSAFE, "Write a slice", (NodeEdit(index, f"{at}:{stop}"),))


@repair
def without_validation(made: sites.Call) -> NodeFix:
    """`validate_args=False` for a distribution."""
    added = made.argument(None, "validate_args") is None
    if added and (made.result.cls is not None or any(isinstance(node, cst.Await) for node in below(made.node))):
        raise Unfit
    return option_off(made, "validate_args", "Pass `validate_args=False`")


@repair
def without_norm_check(site: sites.Call) -> NodeFix:
    """Leave `error_if_nonfinite` out."""
    return without_option(site, "error_if_nonfinite", "Leave the check out")


@repair
def chosen_on_device(model: Model, site: sites.Truth) -> NodeFix:
    """`torch.where(c, a, b)` for a choice between two tensors, each of them one expression that does nothing else."""
    condition = model.value(site.node)
    if condition.kind is not Kind.TENSOR or condition.rank != 0 or condition.conf is Confidence.POSSIBLE:
        raise Unfit
    call = model.call(site.node)
    if (call is not None and call.callee == "bool") or not _is_made_a_tensor(model, site.node):
        raise Unfit
    around = model.parent(site.node)
    where, imports = spell(model, "torch.where")
    if isinstance(around, cst.IfExp) and around.test is site.node:
        sides = (around.body, around.orelse)
        _may_both_run(model, sides)
        rewrite = Rewrite(model, around)
        written = ", ".join(rewrite.part(part) for part in (site.node, *sides))
        return rewrite.fix("Choose on the device", f"{where}({written})", imports)
    if not isinstance(around, cst.If) or around.test is not site.node or isinstance(model.parent(around), cst.If):
        raise Unfit
    target, taken = _only_assignment(around.body)
    other: cst.BaseExpression = target
    if around.orelse is not None:
        if not isinstance(around.orelse, cst.Else):
            raise Unfit
        again, other = _only_assignment(around.orelse.body)
        if again.value != target.value:
            raise Unfit
        _may_both_run(model, (taken, other))
        kept = code(other)
    else:
        _may_both_run(model, (taken,))
        if not any(isinstance(node, cst.Name) and node.value == target.value for node in below(taken)):
            raise Unfit  # what it was before is not seen here
        kept = target.value
    written = f"{target.value} = {where}({code(site.node)}, {code(taken)}, {kept})"
    return NodeFix(
        Applicability.UNSAFE,
        "Choose on the device",
        (NodeEdit(around, "\n".join([*comments(around), written]), "lines"),),
        imports,
    )


def _is_made_a_tensor(model: Model, node: cst.BaseExpression) -> bool:
    """Whether what made a value is an operation of tensors, on every way to it: no `a or b`, no choice, no number."""
    origins = made_by(model, node)
    return all(
        operation(model, origin) is not None
        and (origin is node or isinstance(model.parent(origin), (cst.Assign, cst.NamedExpr, cst.Arg)))
        for origin in origins
    )


def _only_assignment(body: cst.BaseSuite) -> tuple[cst.Name, cst.BaseExpression]:
    """The name and the value of the one statement in a block."""
    line = body.body[0] if len(body.body) == 1 else None
    small = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    if not isinstance(small, cst.Assign) or len(small.targets) != 1:
        raise Unfit
    target = small.targets[0].target
    if not isinstance(target, cst.Name):
        raise Unfit
    return target, small.value


def _may_both_run(model: Model, sides: tuple[cst.BaseExpression, ...]) -> None:
    for side in sides:
        if not model.value(side).is_tensor or not all(is_pure(model, node) for node in below(side)):
            raise Unfit


@repair
def chosen_elements(model: Model, site: sites.Subscript) -> NodeFix:
    """`x.copy_(torch.where(m, y, x))` for `x[m] = y[m]`, where `m` compares `x` with a number and so has its shape."""
    statement = model.parent(parent) if (parent := model.parent(site.node)) is not None else None
    if site.mode != "write" or not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        raise Unfit
    source = statement.value
    if not isinstance(source, cst.Subscript) or len(source.slice) != 1 or len(site.node.slice) != 1:
        raise Unfit
    mine, its = site.node.slice[0].slice, source.slice[0].slice
    if not isinstance(mine, cst.Index) or not isinstance(its, cst.Index) or not alike(model, mine.value, its.value):
        raise Unfit
    mask = mine.value
    if (
        not isinstance(mask, cst.Comparison)
        or len(mask.comparisons) != 1
        or not alike(model, mask.left, site.node.value)
    ):
        raise Unfit
    if model.value(mask.comparisons[0].comparator).kind is not Kind.NUMBER:
        raise Unfit
    if not all(is_pure(model, node) for node in below(source)):
        raise Unfit
    where, imports = spell(model, "torch.where")
    x = code(site.node.value)
    written = f"{x}.copy_({where}({code(mask)}, {code(source.value)}, {x}))"
    return NodeFix(Applicability.UNSAFE, "Choose on the device", (NodeEdit(statement, written),), imports)

"""What to write instead of work that is launched piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._bodies import names_written
from torchlint.rules._patterns import consumers
from torchlint.rules._repairs import (
    Rewrite,
    Unfit,
    code,
    is_pure,
    repair,
    spell,
    without_option,
)
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import below
from torchlint.semantics.targets import loop_names
from torchlint.semantics.values import Kind

_JOINS: Final = ("cat", "concat", "concatenate", "hstack", "vstack")
_CASTS: Final = {"Float": "float", "Double": "double", "Half": "half", "Long": "long", "Int": "int", "Short": "short"}


@repair
def drop_foreach(site: sites.Call) -> NodeFix:
    """Leave `foreach=False` out."""
    return without_option(site, "foreach", "Leave `foreach` out")


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
    start = start_before(model, loop, name)
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


def start_before(model: Model, loop: cst.CSTNode, name: str) -> cst.Assign:
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
    changing = names_written(model, [loop])
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
    changing = names_written(model, [loop.body]) | loop_names(loop)
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


def lines_behind(model: Model, loop: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The statements behind a loop in its block."""
    block = model.parent(loop)
    seen = False
    for line in block.body if isinstance(block, (cst.IndentedBlock, cst.Module)) else ():
        if seen:
            yield line
        seen = seen or line is loop

"""Writing repairs: how a file calls what torch has, what may be moved, and what a rewrite leaves without use.

A function that builds a repair raises `Unfit` where it would not be right, and is decorated with `repair`, which makes
that None.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Final, ParamSpec

import libcst as cst

from torchlint.findings import Applicability
from torchlint.knowledge import names as known
from torchlint.rules._patterns import operation
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, identifier
from torchlint.semantics.nodes import below
from torchlint.semantics.targets import WRITING, targets
from torchlint.source import written

_P = ParamSpec("_P")

_ATOMS: Final = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.BaseNumber,
    cst.SimpleString,
    cst.List,
    cst.ListComp,
    cst.Dict,
    cst.DictComp,
    cst.Set,
    cst.SetComp,
)
# Modules under the name that everybody gives them.
_CUSTOMARY: Final = (
    ("torch.nn.functional", "F", "import torch.nn.functional as F"),
    ("torch", "torch", "import torch"),
    ("numpy", "np", "import numpy as np"),
    ("contextlib", "contextlib", "import contextlib"),
)
_PURE_CALLS: Final = frozenset("len int float bool abs min max range tuple list".split())


class Unfit(Exception):
    """There is no repair here that is sure to say the same."""


def repair(build: Callable[_P, NodeFix]) -> Callable[_P, NodeFix | None]:
    """A builder that returns None where it raises Unfit."""

    @functools.wraps(build)
    def attempt(*arguments: _P.args, **options: _P.kwargs) -> NodeFix | None:
        try:
            return build(*arguments, **options)
        except Unfit:
            return None

    return attempt


# Text


def code(node: cst.CSTNode) -> str:
    """A node as it is written, on one row. Raises Unfit where it takes several."""
    text = written.code(node)
    if "\n" in text:
        raise Unfit
    return text


def tight(node: cst.BaseExpression) -> str:
    """An expression as it is written, in parentheses where an operator beside it would take it apart."""
    text = code(node)
    return text if _is_tight(node) else f"({text})"


def _is_tight(node: cst.BaseExpression) -> bool:
    return isinstance(node, _ATOMS) or bool(written.parentheses(node))


def comments(statement: cst.BaseCompoundStatement) -> list[str]:
    """The comments inside a statement, in the order of the text."""
    return written.comments_in(statement)


# Calls


def remove_argument(call: cst.Call, value: cst.BaseExpression) -> NodeEdit:
    """The edit that takes one argument out of a call."""
    for argument in call.args:
        if argument.value is value:
            return NodeEdit(argument, "", "argument")
    raise Unfit


def add_argument(call: cst.Call, argument: str) -> NodeEdit:
    """The edit that adds an argument behind all others. Raises Unfit where it would come too late."""
    if not call.args:
        return NodeEdit(call, f"{code(call.func)}({argument})")
    if any(arg.star == "**" for arg in call.args) or isinstance(call.args[-1].value, cst.GeneratorExp):
        raise Unfit
    return NodeEdit(call.args[-1].value, f", {argument}", "after")


def without_option(site: sites.Call, name: str, message: str) -> NodeFix:
    """A call without one of its options. Raises Unfit where it is not given by name."""
    option = site.argument(None, name)
    if option is None:
        raise Unfit
    return NodeFix(Applicability.UNSAFE, message, (remove_argument(site.node, option.node),))


def option_off(site: sites.Call, name: str, message: str) -> NodeFix:
    """A call with one of its options set to False."""
    option = site.argument(None, name)
    edit = NodeEdit(option.node, "False") if option is not None else add_argument(site.node, f"{name}=False")
    return NodeFix(Applicability.UNSAFE, message, (edit,))


# Names


def spell(model: Model, qualified: str) -> tuple[str, tuple[str, ...]]:
    """How the file calls what a module has by that name, and the import it lacks. Raises Unfit where all are taken."""
    imported, taken = _module_names(model.module)
    best = ""
    for name, origin in imported.items():
        if name not in taken and (qualified == origin or qualified.startswith(f"{origin}.")):
            spelled = name + qualified[len(origin) :]
            if not best or spelled.count(".") < best.count("."):
                best = spelled
    if best:
        return best, ()
    for module, name, statement in _CUSTOMARY:
        if qualified.startswith(f"{module}.") and name not in taken and name not in imported:
            return name + qualified[len(module) :], (statement,)
    raise Unfit


@functools.lru_cache(maxsize=2)
def _module_names(module: cst.Module) -> tuple[dict[str, str], frozenset[str]]:
    """What the imports at the top of a file bind, and the names that anything else in the file binds."""
    imported: dict[str, str] = {}
    for statement in _imports(module.body):
        prefix = dotted(statement.module) or "" if isinstance(statement, cst.ImportFrom) and statement.module else ""
        if isinstance(statement.names, cst.ImportStar) or (
            isinstance(statement, cst.ImportFrom) and statement.relative
        ):
            continue
        for alias in statement.names:
            origin = dotted(alias.name) or ""
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                name = alias.asname.name.value
            else:
                name = origin if prefix else origin.partition(".")[0]
                origin = name
            imported[identifier(name)] = f"{prefix}.{origin}" if prefix else origin
    top = {node for statement in _imports(module.body) for node in below(statement)}
    return imported, frozenset(bound for node in below(module) if node not in top for bound in _bound_by(node))


def _imports(body: object) -> Iterator[cst.Import | cst.ImportFrom]:
    for statement in body if isinstance(body, (list, tuple)) else ():
        if isinstance(statement, cst.Try):
            yield from _imports(statement.body.body)
        elif isinstance(statement, cst.SimpleStatementLine):
            yield from (small for small in statement.body if isinstance(small, (cst.Import, cst.ImportFrom)))


# Asked of every node of a file: `isinstance` of LibCST's classes takes ten times as long.
_BINDING: Final = frozenset(
    {cst.FunctionDef, cst.ClassDef, cst.Param, cst.ImportAlias, cst.Global, cst.Nonlocal, *WRITING}
)


def _bound_by(node: cst.CSTNode) -> Iterator[str]:
    """The plain names that a node binds."""
    if type(node) not in _BINDING:
        return
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Param)):
        yield node.name.value
    elif isinstance(node, cst.ImportAlias):
        if node.asname is None:
            yield (dotted(node.name) or "").partition(".")[0]
    elif isinstance(node, (cst.Global, cst.Nonlocal)):
        yield from (item.name.value for item in node.names)
    else:
        for target in targets(node):
            if isinstance(target, cst.Name):
                yield identifier(target.value)


# Rewriting


class Rewrite:
    """An expression, written anew out of parts of what it is computed from.

    The parts may stand in earlier statements; statements that nothing needs any more are deleted.
    """

    def __init__(self, model: Model, node: cst.BaseExpression | cst.Arg) -> None:
        self.model = model
        self.node = node
        self.statement = _statement(model, node)
        self._inside = set(below(node))
        self._kept: set[cst.CSTNode] = set()
        self._absorbed: set[cst.CSTNode] = set()
        self._spared: set[cst.CSTNode] = set()

    def part(self, expression: cst.BaseExpression, *, tightly: bool = False) -> str:
        """The text of a part, for the new expression. Raises Unfit where it would mean something else there."""
        if expression not in self._inside:
            self._may_move(expression)
        self._kept.update(below(expression))
        text = written.code(expression)
        if tightly:
            return text if _is_tight(expression) else f"({text})"
        if "\n" not in text and not isinstance(expression, cst.Tuple) and written.parentheses(expression) == 1:
            return written.bare(expression)
        return text

    def absorb(self, node: cst.CSTNode) -> None:
        """Let the new expression do what a node did: it need not stay for its effects."""
        self._absorbed.add(node)

    def spare(self, *nodes: cst.CSTNode) -> None:
        """Let there be no repair unless these go: what is computed for something else as well is not saved."""
        self._spared.update(nodes)

    def unchanged(self, made: cst.CSTNode) -> None:
        """Raise Unfit where what a node made was given a name, and is changed in place before it gets here."""
        statement = self.model.parent(made)
        if not isinstance(statement, cst.Assign):
            return
        names = {name for target in statement.targets if (name := dotted(target.target)) is not None}
        for line in _between(self.model, statement, self.statement):
            for node in below(line):
                if node is not self.statement and _touches(node, names, writes=False):
                    raise Unfit

    def fix(
        self,
        message: str,
        content: str,
        imports: tuple[str, ...] = (),
        applicability: Applicability = Applicability.UNSAFE,
        dropped: tuple[cst.CSTNode, ...] = (),
    ) -> NodeFix:
        """The repair: the expression becomes `content`, and the statements in `dropped` go."""
        edits = [NodeEdit(self.node, content, "unwrap")]
        for statement in dropped:
            self._inside.update(below(statement))
            edits.append(NodeEdit(statement, "", "delete"))
        left_over = self._left_over()
        gone = self._inside.union(*map(below, left_over))
        if not self._spared <= gone:
            raise Unfit
        edits += [NodeEdit(statement, "", "delete") for statement in left_over]
        return NodeFix(applicability, message, tuple(edits), imports)

    def _may_move(self, expression: cst.BaseExpression) -> None:
        start, end = _statement(self.model, expression), self.statement
        if start is end:
            return
        names = _read(expression)
        if any(
            isinstance(node, (cst.Call, cst.Await, cst.Yield, cst.NamedExpr)) and not is_pure(self.model, node)
            for node in below(expression)
        ):
            raise Unfit
        for statement in _between(self.model, start, end):
            own = statement is end
            if any(_touches(node, names, writes=not own) for node in below(statement)):
                raise Unfit

    def _left_over(self) -> list[cst.CSTNode]:
        """The statements whose value was used by what is replaced alone."""
        model, gone, dead = self.model, self._inside - self._kept, list[cst.CSTNode]()
        function = _function(model, self.node)
        if function is None:
            return []
        todo = sorted({node.value for node in gone if isinstance(node, cst.Name)})
        while todo:
            name = todo.pop()
            for statement in _assignments(function, name):
                if (
                    statement not in dead
                    and statement not in gone
                    and _function(model, statement) is function
                    and not self._is_read(function, name, statement.value, gone)
                    and all(is_pure(model, node) for node in set(below(statement.value)) - self._kept - self._absorbed)
                ):
                    dead.append(statement)
                    new = set(below(statement)) - self._kept
                    gone |= new
                    todo += sorted({node.value for node in new if isinstance(node, cst.Name)})
        return dead

    def _is_read(self, function: cst.CSTNode, name: str, value: cst.CSTNode, gone: set[cst.CSTNode]) -> bool:
        """Whether anything that stays may read by that name what was assigned to it."""
        made = self.model.value(value).origins
        if value in made and any(use not in gone for use in self.model.uses.get(value, ())):
            return True
        for node in below(function):
            if isinstance(node, cst.Name) and node.value == name and node not in gone:
                around = self.model.parent(node)
                if (
                    isinstance(around, (cst.AssignTarget, cst.Param, cst.Arg))
                    and getattr(around, "value", None) is not node
                ):
                    continue
                if isinstance(around, cst.Attribute) and around.attr is node:
                    continue
                read = self.model.value(node).origins
                if not read or value not in made or value in read:
                    return True
        return False


@functools.lru_cache(maxsize=4)
def _binding(function: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The assignments and the other nodes of a function that may bind names."""
    return tuple(node for node in below(function) if type(node) in _BINDING)


def _assignments(function: cst.CSTNode, name: str) -> Iterator[cst.Assign]:
    """The statements `name = ...`; none where the name is bound in other ways, or belongs to another scope."""
    found: list[cst.Assign] = []
    bound = 0
    for node in _binding(function):
        if isinstance(node, (cst.AugAssign, cst.Del)) and getattr(node.target, "value", None) == name:
            return
        bound += sum(1 for other in _bound_by(node) if other == name)
        if isinstance(node, cst.Assign) and len(node.targets) == 1:
            target = node.targets[0].target
            if isinstance(target, cst.Name) and target.value == name:
                found.append(node)
    if bound == len(found):
        yield from found


def is_pure(model: Model, node: cst.CSTNode) -> bool:
    """Whether a node does nothing but compute, and computes the same each time."""
    if isinstance(node, (cst.Await, cst.Yield, cst.NamedExpr)):
        return False
    if not isinstance(node, cst.Call):
        return True
    made = operation(model, node)
    if made is not None:
        return made.name.islower() and made.name not in known.RANDOM and not made.in_place
    site = model.call(node)
    callee = (site.callee or "") if site is not None else ""
    return callee in _PURE_CALLS or callee.startswith("math.") or callee in ("torch.finfo", "torch.iinfo")


def _read(expression: cst.BaseExpression) -> set[str]:
    """The names and dotted names that an expression reads."""
    names = set()
    for node in below(expression):
        if isinstance(node, (cst.Name, cst.Attribute)) and (name := dotted(node)) is not None:
            names.add(name)
    return names


def _touches(node: cst.CSTNode, names: set[str], *, writes: bool) -> bool:
    """Whether a node writes to one of the names, or changes in place what it stands for."""
    if isinstance(node, cst.Call):
        function = node.func
        if isinstance(function, cst.Attribute) and function.attr.value.endswith("_") and function.attr.value[:1] != "_":
            return _meets(dotted(function.value), names)
        return False
    for target in targets(node):
        stem = target
        while isinstance(stem, cst.Subscript):
            stem = stem.value
        if (writes or stem is not target or isinstance(node, cst.NamedExpr)) and _meets(dotted(stem), names):
            return True
    return False


def _meets(name: str | None, names: set[str]) -> bool:
    return name is not None and any(name == other or other.startswith(f"{name}.") for other in names)


def _statement(model: Model, node: cst.CSTNode) -> cst.CSTNode:
    """The small or compound statement that a node stands in."""
    current: cst.CSTNode | None = node
    while current is not None and not isinstance(current, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
        current = model.parent(current)
    if current is None:
        raise Unfit
    return current


def _function(model: Model, node: cst.CSTNode) -> cst.FunctionDef | None:
    """The function whose body a node stands in, where that is the nearest scope."""
    current = model.parent(node)
    while current is not None and not isinstance(current, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
        current = model.parent(current)
    return current if isinstance(current, cst.FunctionDef) else None


def _between(model: Model, start: cst.CSTNode, end: cst.CSTNode) -> list[cst.CSTNode]:
    """The statements from one to another, the last one as the small statement that it is.

    Raises Unfit unless the second stands behind the first, in the same block or deeper in `if` and loops.
    """
    path = _places(model, start)
    block, first = path
    current: cst.CSTNode = end
    while True:
        around, index = _places(model, current)
        if around is block:
            break
        holder = around
        while holder is not None and not isinstance(holder, (cst.BaseCompoundStatement, cst.Module)):
            holder = model.parent(holder)  # type: ignore[assignment]
        if not isinstance(holder, (cst.If, cst.For, cst.While, cst.Else)):
            raise Unfit
        current = holder
    if index < first:
        raise Unfit
    body = list(block.body)  # type: ignore[attr-defined]
    found: list[cst.CSTNode] = list(body[first:index])
    last = body[index]
    if isinstance(last, cst.SimpleStatementLine):
        for small in last.body:
            found.append(small)
            if small is end:
                break
    else:
        found.append(last)
    return found


def _places(model: Model, statement: cst.CSTNode) -> tuple[cst.CSTNode, int]:
    """The block that a statement stands in, and its place there."""
    current = statement
    around = model.parent(current)
    if isinstance(current, cst.BaseSmallStatement) and isinstance(around, cst.SimpleStatementLine):
        current, around = around, model.parent(around)
    while isinstance(current, (cst.If, cst.Else)) and isinstance(around, (cst.If, cst.Try, cst.For, cst.While)):
        current, around = around, model.parent(around)  # an `elif`
    if not isinstance(around, (cst.IndentedBlock, cst.Module)):
        raise Unfit
    for index, inner in enumerate(around.body):
        if inner is current:
            return around, index
    raise Unfit


def statement_fix(
    message: str, site: sites.Call, model: Model, applicability: Applicability = Applicability.UNSAFE
) -> NodeFix | None:
    """Delete the statement that is nothing but this call; show it only, where it is all that its block does."""
    statement = site.statement
    if not isinstance(statement, cst.Expr) or statement.value is not site.node:
        return None
    line = model.parent(statement)
    block = model.parent(line) if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else line
    if len(getattr(block, "body", ())) == 1:
        applicability = Applicability.DISPLAY
    return NodeFix(applicability, message, (NodeEdit(statement, "", "delete"),))

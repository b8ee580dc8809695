"""What makers of repaired forms share: the flagged code in its file, and edits of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.findings import Edit, Finding, Position


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits, and what they are, for people; `probe` says that they only measure, and are no repair of the finding's."""

    edits: tuple[Edit, ...]
    what: str
    probe: bool = True


@dataclass(frozen=True, slots=True)
class Flagged:
    """A finding in its file: the tree, its lines, and the nodes that the finding marks, the outermost first."""

    finding: Finding
    tree: ast.Module
    lines: Sequence[str]

    def marked(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        for node in ast.walk(self.tree):
            if isinstance(node, kinds) and self.span(node) == (self.finding.start, self.finding.end):
                yield node

    def span(self, node: ast.AST) -> tuple[Position, Position]:
        """Where a node stands, in code points."""
        first: int = getattr(node, "lineno", 1)
        last: int = getattr(node, "end_lineno", None) or first
        return self.at(first, getattr(node, "col_offset", 0)), self.at(last, getattr(node, "end_col_offset", None) or 0)

    def at(self, row: int, column: int) -> Position:
        return Position(row, len(self.lines[row - 1].encode("utf-8")[:column].decode("utf-8", "replace")) + 1)

    def around(self, node: ast.AST, before: str, after: str) -> tuple[Edit, ...]:
        """Edits that put text before and after an expression, which keeps its own rows."""
        start, end = self.span(node)
        return Edit(start, start, before), Edit(end, end, after)

    def instead(self, node: ast.AST, text: str) -> tuple[Edit, ...]:
        return (Edit(*self.span(node), text),)

    def is_module(self, node: ast.AST) -> bool:
        """Whether an expression is a module's name, or of one: `torch`, `torch.linalg`."""
        while isinstance(node, ast.Attribute):
            node = node.value
        imported = (n for n in ast.walk(self.tree) if isinstance(n, (ast.Import, ast.ImportFrom)))
        names = {alias.asname or alias.name.split(".")[0] for statement in imported for alias in statement.names}
        return isinstance(node, ast.Name) and node.id in names

    def is_only_kept(self, node: ast.AST) -> bool:
        """Whether the value is only added up, stored or handed on, so that left on the device nothing waits for it."""
        holder = self.holder(node) or self.tree
        parents = {child: parent for parent in ast.walk(holder) for child in ast.iter_child_nodes(parent)}
        return _is_only_kept(node, parents, set())

    def around_it(self, *kinds: type[ast.AST]) -> ast.AST | None:
        """The innermost node of these kinds around what the finding marks, or that is it."""
        inner: ast.AST | None = None
        for node in ast.walk(self.tree):
            if isinstance(node, kinds):
                start, end = self.span(node)
                inner = node if start <= self.finding.start and self.finding.end <= end else inner
        return inner

    def holder(self, node: ast.AST) -> ast.AST | None:
        """The innermost function around a node."""
        inner: ast.AST | None = None
        for child in ast.walk(self.tree):
            if isinstance(child, ast.FunctionDef) and any(below is node for below in ast.walk(child)):
                inner = child
        return inner


_STORING = frozenset("append extend update setdefault insert".split())


def _is_only_kept(node: ast.AST, parents: Mapping[ast.AST, ast.AST], seen: set[str]) -> bool:
    round_: ast.AST | None = node  # the innermost loop around it: what is read outside is read once
    while round_ is not None and not isinstance(round_, (ast.For, ast.While)):
        round_ = parents.get(round_)
    while True:
        parent = parents.get(node)
        if isinstance(parent, (ast.Return, ast.Expr)):
            return True
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else ast.unparse(parent.func)
            if node is parent.func or (name not in _STORING and name != "sum"):
                return False
            if name in _STORING:
                return True
        elif isinstance(parent, (ast.Assign, ast.AugAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            plain = [target for target in targets if isinstance(target, (ast.Name, ast.Tuple))]  # others only store it
            names = {name for target in plain for name in names_in(target)}
            within = ast.walk(round_) if round_ is not None else parents
            loads = [
                n for n in within if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names - seen
            ]
            seen |= names
            return all(_is_only_kept(load, parents, seen) for load in loads)
        elif not _hands_on(parent, node):
            return False
        assert parent is not None
        node = parent


def _hands_on(parent: ast.AST | None, node: ast.AST) -> bool:
    """Whether an expression makes of its part something else that may lie on the device as well."""
    if isinstance(parent, ast.IfExp):
        return node is not parent.test
    if isinstance(parent, (ast.BinOp, ast.UnaryOp)):
        return not isinstance(parent.op, (ast.Not, ast.Mod, ast.FloorDiv))
    return isinstance(
        parent, (ast.Tuple, ast.List, ast.Dict, ast.keyword, ast.ListComp, ast.GeneratorExp, ast.DictComp)
    )


def recorded(flagged: Flagged, node: ast.AST) -> tuple[Edit, ...]:
    """Edits by which an expression gives what it gave when it was recorded, and is not computed."""
    return flagged.around(node, "torchlint_replayed(lambda: (", "))")


def can_move(node: ast.AST) -> bool:
    """Whether an expression means the same inside a lambda."""
    return not any(isinstance(below, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)) for below in ast.walk(node))


def names_in(target: ast.AST) -> list[str]:
    """The plain names that stand in it, in the order of its tree."""
    return [below.id for below in ast.walk(target) if isinstance(below, ast.Name)]

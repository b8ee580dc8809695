"""The same program written in other ways: what a repair must come to terms with."""

# LibCST looks for methods by the names of its nodes.
# ruff: noqa: N802

from __future__ import annotations

import io
import keyword
import random
import tokenize
from collections.abc import Callable, Iterable

import libcst as cst

Variation = Callable[[str, random.Random], str]

_OPEN, _CLOSE = "([{", ")]}"


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


def _insert(source: str, places: Iterable[tuple[tuple[int, int], str]]) -> str:
    """The source with texts put at places, given as row from 1 and column from 0."""
    rows = source.splitlines(keepends=True)
    for (row, column), text in sorted(places, reverse=True):
        rows[row - 1] = rows[row - 1][:column] + text + rows[row - 1][column:]
    return "".join(rows)


def spaced(source: str, draw: random.Random) -> str:
    """White space inside of brackets."""
    places = []
    for token in _tokens(source):
        if token.type == tokenize.OP and token.string in ("(", ")") and draw.random() < 0.5:
            places.append((token.end if token.string == "(" else token.start, "  "))
    return _insert(source, places)


def commented(source: str, draw: random.Random) -> str:
    """Comments inside of calls, each of which ends its row."""
    places, depth = [], 0
    for token in _tokens(source):
        if token.type == tokenize.OP and token.string in _OPEN:
            depth += 1
        elif token.type == tokenize.OP and token.string in _CLOSE:
            depth -= 1
        elif token.string == "," and depth and draw.random() < 0.4:
            places.append((token.end, "  # why\n"))
    return _insert(source, places)


def continued(source: str, draw: random.Random) -> str:
    """Backslashes behind the `=` of assignments."""
    places, depth = [], 0
    for token in _tokens(source):
        if token.type == tokenize.OP and token.string in _OPEN:
            depth += 1
        elif token.type == tokenize.OP and token.string in _CLOSE:
            depth -= 1
        elif token.type == tokenize.OP and token.string in ("=", "+=") and not depth and draw.random() < 0.6:
            places.append((token.end, " \\\n       "))
    return _insert(source, places)


class _Renamed(cst.CSTTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:
        return updated.with_changes(value=self.names.get(original.value, original.value))

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        return updated.with_changes(attr=original.attr)

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        return updated.with_changes(keyword=original.keyword)

    def leave_ImportAlias(self, original: cst.ImportAlias, updated: cst.ImportAlias) -> cst.ImportAlias:
        return updated.with_changes(name=original.name)


class _Locals(cst.CSTVisitor):
    """The names that functions assign to; not their parameters, which calls may name."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.other: set[str] = set()
        self.depth = 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.depth += 1

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        self.depth -= 1

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        if isinstance(node.target, cst.Name):
            (self.found if self.depth else self.other).add(node.target.value)

    def visit_Param(self, node: cst.Param) -> None:
        self.other.add(node.name.value)


def renamed(source: str, draw: random.Random) -> str:
    """Other names for local variables, some of them far from ASCII."""
    names = _Locals()
    module = cst.parse_module(source)
    module.visit(names)
    used = {token.string for token in _tokens(source)}
    pool = [
        name for name in "a b2 zz _t größe x1 whole_thing".split() if name not in used and not keyword.iskeyword(name)
    ]
    draw.shuffle(pool)
    return module.visit(_Renamed(dict(zip(sorted(names.found - names.other), pool, strict=False)))).code


class _Aliased(cst.CSTTransformer):
    """`import torch` under another name, and what reads it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:
        return updated.with_changes(value=self.name) if original.value == "torch" else updated

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        return updated.with_changes(attr=original.attr)

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        return original

    def leave_Import(self, original: cst.Import, updated: cst.Import) -> cst.Import:
        if len(original.names) == 1 and isinstance(original.names[0].name, cst.Name):
            if original.names[0].name.value == "torch" and original.names[0].asname is None:
                alias = original.names[0].with_changes(
                    asname=cst.AsName(cst.Name(self.name), cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))
                )
                return original.with_changes(names=[alias])
        return original


def aliased(source: str, draw: random.Random) -> str:
    """`import torch as th`, where that is how it is imported."""
    rows = source.splitlines()
    if "import torch" not in rows or any(row.startswith("import torch.") and " as " not in row for row in rows):
        return source
    return cst.parse_module(source).visit(_Aliased(draw.choice(["th", "pt"]))).code


class _Arguments(cst.CSTTransformer):
    """Keyword arguments in another order, and arguments in parentheses of their own."""

    def __init__(self, draw: random.Random, *, reorder: bool) -> None:
        self.draw = draw
        self.reorder = reorder

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        arguments = list(updated.args)
        first = next((i for i, argument in enumerate(arguments) if argument.keyword is not None), len(arguments))
        tail = arguments[first:]
        if self.reorder and len(tail) > 1 and all(argument.keyword is not None for argument in tail):
            values = [(argument.keyword, argument.value) for argument in tail]
            self.draw.shuffle(values)
            tail = [a.with_changes(keyword=k, value=v) for a, (k, v) in zip(tail, values, strict=True)]
            return updated.with_changes(args=[*arguments[:first], *tail])
        return updated

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        plain = isinstance(original.value, (cst.Name, cst.Attribute, cst.Call, cst.BinaryOperation, cst.Subscript))
        if self.reorder or original.star or not plain or self.draw.random() < 0.5:
            return updated
        value = updated.value.with_changes(
            lpar=[cst.LeftParen(), *updated.value.lpar], rpar=[*updated.value.rpar, cst.RightParen()]
        )
        return updated.with_changes(value=value)


def reordered(source: str, draw: random.Random) -> str:
    """Keyword arguments in another order."""
    return cst.parse_module(source).visit(_Arguments(draw, reorder=True)).code


def parenthesised(source: str, draw: random.Random) -> str:
    """Arguments in parentheses of their own."""
    return cst.parse_module(source).visit(_Arguments(draw, reorder=False)).code


def branched(source: str, draw: random.Random) -> str:
    """All that is not an import, in a block of its own."""
    rows = source.splitlines(keepends=True)
    at = next((i for i, row in enumerate(rows) if row.strip() and not row.startswith(("import ", "from "))), len(rows))
    if at == len(rows):
        return source
    head = draw.choice(["if True:\n", "try:\n"])
    tail = "finally:\n    pass\n" if head.startswith("try") else ""
    body = "".join(f"    {row}" if row.strip() else row for row in rows[at:])
    return "".join(rows[:at]) + head + body + tail


def carriage_returns(source: str, draw: random.Random) -> str:
    """Rows that end as on Windows."""
    return source.replace("\n", "\r\n")


# In an order in which each can follow the others.
VARIATIONS: tuple[Variation, ...] = (
    renamed,
    aliased,
    reordered,
    parenthesised,
    branched,
    spaced,
    commented,
    continued,
    carriage_returns,
)

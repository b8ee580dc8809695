"""Where code stands in the tree of a file: in which rows, under which names, in which blocks."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from functools import lru_cache

DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
BUILTINS = frozenset(dir(builtins))


class Uncut(Exception):
    """Code that cannot be cut out; the text says why."""


def trains(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in ast.walk(function))


@lru_cache(maxsize=8)  # the text as it is written is cut for each finding and each repair
def parse(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Uncut("the file, or its repaired form, does not parse") from error


def path_at(tree: ast.Module, row: int) -> tuple[str, ...]:
    """The names of the function around `row`: ("f",) or ("Class", "method"); empty at module level."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.lineno <= row <= last_row(node):
            return (node.name,)
        if isinstance(node, ast.ClassDef) and node.lineno <= row <= last_row(node):
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and child.lineno <= row <= last_row(child):
                    return (node.name, child.name)
    return ()


def last_row(node: ast.AST) -> int:
    first: int = getattr(node, "lineno", 1)
    last: int = getattr(node, "end_lineno", first)
    return last


def first_row(node: ast.AST) -> int:
    """The first row of a node, its decorators included."""
    rows = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    return int(min([getattr(node, "lineno", 1), *rows]))


def follow(tree: ast.Module, path: tuple[str, ...]) -> ast.FunctionDef | None:
    body: Sequence[ast.stmt] = tree.body
    found: ast.stmt | None = None
    for name in path:
        found = next((node for node in body if isinstance(node, DEFINITIONS) and node.name == name), None)
        body = found.body if isinstance(found, DEFINITIONS) else ()
    return found if isinstance(found, ast.FunctionDef) else None


def blocks_around(top: ast.AST, twin: ast.AST, row: int) -> Iterator[tuple[list[ast.stmt], list[ast.stmt]]]:
    """The statement lists around `row`, the outermost first, each with its counterpart in the repaired tree."""
    for field in ("body", "orelse", "finalbody", "handlers"):
        block, opposite = getattr(top, field, None), getattr(twin, field, None)
        if not isinstance(block, list) or not isinstance(opposite, list) or not block:
            continue
        at = next((i for i, node in enumerate(block) if first_row(node) <= row <= last_row(node)), None)
        if at is None:
            continue
        if isinstance(block[0], ast.stmt):
            yield block, opposite
        # The counterpart of the statement at hand is at the same place, or shifted by what the repair inserted before.
        shifts = [0, len(opposite) - len(block)]
        for shift in dict.fromkeys(shifts):
            if 0 <= at + shift < len(opposite) and type(opposite[at + shift]) is type(block[at]):
                yield from blocks_around(block[at], opposite[at + shift], row)
                break
        return

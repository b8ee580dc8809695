"""What a row of the wait table is, and how the files in `expressions/` become rows.

A file there holds `SETUP`, the names its expressions use, and `ROWS`, made with `row`. Each measured row carries only
the statements of the set-up that its expression needs, so that it can be pasted into an interpreter.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """One expression to measure.

    `subject` is what the row says something about, in the spelling that rules look up: a qualified name
    (`torch.bincount`), a method (`.item`), or a form (`x[...]`, `truth`); empty when the row is evidence only.
    `states` are the states of the arguments that set this row apart from others of its subject.
    """

    expr: str
    subject: str
    setup: str
    states: tuple[tuple[str, str], ...]
    raises: bool
    group: str = ""


def row(expr: str, subject: str = "", *, setup: str = "", raises: bool = False, **states: str) -> Row:
    """A row whose set-up is that of its file, then `setup`; `raises` says that torch refuses the expression."""
    return Row(expr, subject, setup, tuple(sorted(states.items())), raises)


def all_rows() -> list[Row]:
    """Every row of every file in `expressions/`, files in the order of their names."""
    rows: list[Row] = []
    for path in sorted(FOLDER.joinpath("expressions").glob("*.py")):
        module = importlib.import_module(f"benchmarks.waits.expressions.{path.stem}")
        for one in module.ROWS:
            setup = needed("import torch\n" + module.SETUP + one.setup, one.expr)
            rows.append(replace(one, setup=setup, group=path.stem))
    return rows


def needed(setup: str, expr: str) -> str:
    """The statements of `setup` that `expr` depends on, in their order.

    A statement that binds names counts when one of them is needed; any other, when it mentions one.
    """
    wanted = _names(ast.parse(expr))
    kept: list[str] = []
    for text, bound, mentioned in reversed(_statements(setup)):
        if wanted & (bound or mentioned - {"torch"}):
            wanted |= mentioned | bound
            kept.append(text)
    return "\n".join(reversed(kept))


@cache  # rows of one file share their set-up
def _statements(setup: str) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    """The text of each statement, the names it binds, and the names it mentions."""
    lines = setup.splitlines()
    return [
        ("\n".join(lines[one.lineno - 1 : one.end_lineno]), frozenset(_bound(one)), frozenset(_names(one)))
        for one in ast.parse(setup).body
    ]


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _bound(statement: ast.stmt) -> Iterable[str]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.split(".")[0] for alias in statement.names]
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        targets = [node for target in statement.targets for node in ast.walk(target)]
        if not any(isinstance(node, (ast.Subscript, ast.Attribute)) for node in targets):
            return [node.id for node in targets if isinstance(node, ast.Name)]
    return []

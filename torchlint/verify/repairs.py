"""The repaired form of flagged code: the finding's fix, or, for a pure wait, the code without it.

Some repairs need a decision, such as where a loss is read instead; yet what the wait costs can be measured by leaving
it out. Such a form is for measuring alone and is named in the evidence.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchlint.findings import Edit, Finding, Position

__all__ = ["Repair", "find"]


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits, and what they are, for people."""

    edits: tuple[Edit, ...]
    what: str


# How a wait is left out: the value stays on the device, or the statement goes.
_KEPT = "read left out"
_GONE = "statement left out"
_WITHOUT: Mapping[str, str] = {
    "TL101": _KEPT,
    "TL103": _KEPT,
    "TL104": _GONE,
    "TL110": _GONE,
    "TL209": _GONE,
    "TL606": _GONE,
    "TL904": _GONE,
}


def find(finding: Finding, lines: Sequence[str]) -> Repair | None:
    """The repair to measure the finding against, or None where none can be written."""
    if finding.fix is not None and finding.fix.edits:
        return Repair(finding.fix.edits, finding.fix.message)
    how = _WITHOUT.get(finding.code)
    if how is None:
        return None
    try:
        tree = ast.parse("\n".join(line.rstrip("\r\n") for line in lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    return _read_left_out(tree, finding, lines) if how == _KEPT else _statement_left_out(tree, finding, lines)


def _read_left_out(tree: ast.Module, finding: Finding, lines: Sequence[str]) -> Repair | None:
    """`t.item()`, `float(t)`, `t.cpu()` become `t.detach()`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _span(node, lines) != (finding.start, finding.end):
            continue
        kept = node.func.value if isinstance(node.func, ast.Attribute) and not node.args else None
        if kept is None and len(node.args) == 1 and isinstance(node.func, ast.Name):
            kept = node.args[0]
        if kept is None:
            return None
        text = ast.unparse(kept)
        shown = text if isinstance(kept, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"
        return Repair((Edit(finding.start, finding.end, f"{shown}.detach()"),), "the value left on the device")
    return None


def _statement_left_out(tree: ast.Module, finding: Finding, lines: Sequence[str]) -> Repair | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            start, end = _span(node, lines)
            if start <= finding.start and finding.end <= end:
                return Repair((Edit(start, end, "pass"),), "the statement left out")
    return None


def _span(node: ast.expr | ast.stmt, lines: Sequence[str]) -> tuple[Position, Position]:
    """Where a node stands, in code points."""

    def position(row: int, column: int) -> Position:
        return Position(row, len(lines[row - 1].encode("utf-8")[:column].decode("utf-8", "replace")) + 1)

    return position(node.lineno, node.col_offset), position(node.end_lineno or node.lineno, node.end_col_offset or 0)

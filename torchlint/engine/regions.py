"""Which code a figure was measured on, so that evidence can be told from evidence of code that has changed."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Sequence

__all__ = ["code_hash"]


def code_hash(lines: Sequence[str], row: int) -> str:
    """A hash of the outermost definition around `row`, or of the statement there.

    Comments, blank lines, layout and the place in the file do not change it; any other change of the definition does.

    Args:
        lines: of the file, or of the notebook's cell.
        row: from 1.
    """
    try:
        tree = ast.parse("\n".join(line.rstrip("\r\n") for line in lines))
        around = next((node for node in tree.body if _first(node) <= row <= (node.end_lineno or node.lineno)), None)
        text = ast.dump(around) if around is not None else ""  # of a huge number it raises ValueError
    except (SyntaxError, ValueError, RecursionError):
        text = lines[row - 1].strip() if 0 < row <= len(lines) else ""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _first(node: ast.stmt) -> int:
    """The first row of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])

"""The same program written otherwise: white space, comments, continued rows, parentheses, semicolons, line ends.

What is found in a program must not depend on how it is laid out, so `benchmarks/fuzz.py` lays out what it makes.
"""

from __future__ import annotations

import ast
import io
import itertools
import random
import tokenize
import warnings
from typing import Any

__all__ = ["lay_out", "spoil"]

# Between two tokens: inside brackets a row may end anywhere, elsewhere only behind a backslash. What is no ASCII
# tells columns in bytes from columns in characters.
_INSIDE = ("", " ", "  ", "\t", "\n", "\n\n    ", " # é 𝔘 ((\n", "\\\n", " \\\n\t", "\f")
_OUTSIDE = ("", " ", "  ", "\t", "\\\n", " \\\n        ", "\f")
_SPLITS = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)
# Comments of fewer than three words: a sentence beside code is a reason for it, which is more than another layout.
_ABOVE = ("\n", "   # above: é\n", "\f\n", "        # deeper, \t \"it'\n", "#\n", " \t\n")
_LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r")
_SIMPLE = (
    ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert, ast.Delete, ast.Import,
    ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip


def lay_out(text: str, draw: random.Random) -> str:
    """A program that means what `text` does: CPython makes the same tree of both. It may be `text` itself."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tree = ast.dump(ast.parse(text))
    for change in (_joined, _parenthesised, _spaced, _commented, _indented):
        if draw.random() < 0.6:
            try:
                changed = change(text, draw)
            except (SyntaxError, tokenize.TokenError):  # of `tokenize`, which reads less than CPython does
                continue
            if _dumped(changed) == tree:
                text = changed
    return text.replace("\n", draw.choice(_LINE_ENDS))


def spoil(text: str, draw: random.Random) -> str:
    """A program of which some characters are gone, doubled or exchanged: mostly none any more."""
    characters = list(text)
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(len(characters))
        characters[place] = draw.choice(("", characters[place] * 2, *"()[]{}'\"\\\n\t :;,.#=*@\f\0é", '"""', "\ufeff"))
    return "".join(characters)


def _dumped(text: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(text))
        except (SyntaxError, ValueError):
            return None


def _offsets(text: str) -> list[int]:
    """Where each row begins."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _replaced(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, content in sorted(edits, reverse=True):
        text = text[:start] + content + text[end:]
    return text


def _spaced(text: str, draw: random.Random) -> str:
    """Other white space between some tokens."""
    starts, depth = _offsets(text), 0
    edits: list[tuple[int, int, str]] = []
    before: tokenize.TokenInfo | None = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if before is not None and token.type in _SPLITS and before.type in _SPLITS and draw.random() < 0.08:
            start, end = (starts[row - 1] + column for row, column in (before.end, token.start))
            if text[start:end].isspace() or start == end:
                space = draw.choice(_INSIDE if depth else _OUTSIDE)
                touching = (before.string[-1].isalnum() or before.string[-1] == "_") and token.string[0] not in ")]},:;"
                edits.append((start, end, space or (" " if touching else "")))
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        before = token
    return _replaced(text, edits)


def _places(node: Any, starts: list[int], lines: list[str]) -> tuple[int, int]:
    """Where a node stands; CPython counts columns in bytes."""

    def offset(row: int, column: int) -> int:
        return starts[row - 1] + len(lines[row - 1].encode()[:column].decode())

    return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)


def _parenthesised(text: str, draw: random.Random) -> str:
    """One to three expressions in parentheses of their own."""
    for _ in range(draw.randint(1, 3)):
        module = ast.parse(text)
        nodes = [
            node
            for node in ast.walk(module)
            if isinstance(node, ast.expr)
            and not isinstance(node, (ast.Slice, ast.Starred))
            and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        ]
        if not nodes:
            return text
        start, end = _places(draw.choice(nodes), _offsets(text), text.split("\n"))
        changed = f"{text[:start]}({text[start:end]}){text[end:]}"
        if _dumped(changed) == ast.dump(module):
            text = changed
    return text


def _joined(text: str, draw: random.Random) -> str:
    """Some simple statements on the row of the one before."""
    starts, lines = _offsets(text), text.split("\n")
    edits: list[tuple[int, int, str]] = []
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for one, other in itertools.pairwise(body) if isinstance(body, list) else ():
            if isinstance(one, _SIMPLE) and isinstance(other, _SIMPLE) and draw.random() < 0.15:
                gap = (_places(one, starts, lines)[1], _places(other, starts, lines)[0])
                edits.append((*gap, draw.choice((";", " ; ", ";\\\n "))))
    return _replaced(text, edits)


def _commented(text: str, draw: random.Random) -> str:
    """Comments, blank rows and form feeds between logical lines, and behind some."""
    starts = _offsets(text)
    edits: list[tuple[int, int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE and draw.random() < 0.15:
            end = starts[token.start[0] - 1] + token.start[1]
            edits.append((end, end, draw.choice(("  # é behind", " ", "\t#", ";"))))
            edits.append((end + 1, end + 1, draw.choice(_ABOVE)))
    return _replaced(text, edits)


def _indented(text: str, draw: random.Random) -> str:
    """Other indentation, in the whole text."""
    width = draw.choice(("\t", " ", "  ", " \t"))
    rows = []
    for line in text.split("\n"):
        plain = line.lstrip(" ")
        depth, rest = divmod(len(line) - len(plain), 4)
        rows.append(width * depth + " " * rest + plain)
    return "\n".join(rows)

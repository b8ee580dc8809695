"""From a source file to a tree that can be trusted, or to the reason why there is none."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

import libcst as cst

from torchlint.findings import Position
from torchlint.source import positions, shape
from torchlint.source.scan import Scan, scan
from torchlint.source.stack import call_deep
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["Tree", "parse"]


@dataclass
class Tree:
    """A parsed file. `scan` is of the source's text.

    LibCST misreads form feeds before an indentation and backslashes alone on a row: they are left out of what it is
    given, and `shifts` says by how many columns each row moved.
    """

    source: SourceFile
    scan: Scan
    module: cst.Module
    code: str
    shifts: dict[int, int] = field(default_factory=dict)

    def locate(self, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, positions.Span]:
        """Where nodes stand in the file. From a node that is in no tree nothing is known, and it is left out.

        Raises UnreadableError where the tree does not give back the text that it was made from: nothing may be
        reported from it, let alone edited.
        """
        code, spans = call_deep(lambda: positions.locate(self.module, nodes))
        if code != self.code:
            raise UnreadableError("LibCST does not give this file back as it is", _first_difference(code, self.code))
        if not self.shifts:
            return spans
        return {node: (self._moved(start), self._moved(end)) for node, (start, end) in spans.items()}

    def _moved(self, position: Position) -> Position:
        return Position(position.row, position.column + self.shifts.get(position.row, 0))


def parse(source: SourceFile, scanned: Scan | None = None) -> Tree:
    """Parse a file; `scanned` is the scan of its text, where there already is one.

    Raises UnreadableError for what exceeds a limit (`torchlint.source.shape`) or is not Python, with CPython's row.
    """
    scanned = scanned or scan(source.text)
    shape.check(scanned)
    code, shifts = _straightened(scanned)
    try:
        module = call_deep(functools.partial(cst.parse_module, code))
    except cst.ParserSyntaxError as error:
        refused = _refusal(source, error)
        if refused is not None:
            raise refused from error
        # CPython reads it. LibCST refuses some mixtures of tabs and spaces; without tabs it may not.
        code, shifts = _straightened(scanned, expand_tabs=True)
        try:
            module = call_deep(functools.partial(cst.parse_module, code))
        except cst.ParserSyntaxError:
            raise UnreadableError("Python reads this file, but LibCST does not", _row_in(error)) from error
        except RecursionError:
            raise _too_deep() from None
    except RecursionError:
        raise _too_deep() from None
    return Tree(source, scanned, module, code, shifts)


def _too_deep() -> UnreadableError:
    return UnreadableError("too deeply nested for LibCST")


# Where a form feed precedes code, or a row holds nothing but a backslash.
_ODD_START = re.compile(r"^[ \t\f]*(?:\f[ \t\f]*[^\s#]|\\$)", re.MULTILINE)
_BLANK = re.compile(r"[ \t\f]*")


def _straightened(scanned: Scan, expand_tabs: bool = False) -> tuple[str, dict[int, int]]:
    """The text with plain indentation wherever a logical line begins, and by how much rows then stand further left.

    Python's tokenizer starts counting columns anew at a form feed, and takes the indentation of a line that begins with
    continued rows from the first of them that has any.
    """
    text = scanned.text
    if not expand_tabs and not _ODD_START.search(text):
        return text, {}
    pieces: list[str] = []
    shifts: dict[int, int] = {}
    done, row, counted = 0, 1, 0
    for line in scanned.logical_lines:
        start, code = line.start, line.code
        indentation = _columns(text[start:code], expand_tabs)
        while text.startswith("\\\n", code):
            pieces.append(text[done:start])
            pieces.append("\n")
            start = done = code + 2
            code = _BLANK.match(text, start).end()  # type: ignore[union-attr]
            indentation = indentation or _columns(text[start:code], expand_tabs)
        if text[start:code] != indentation and text[code : code + 1] not in ("", "\n", "#"):
            row, counted = row + text.count("\n", counted, start), start
            shifts[row] = code - start - len(indentation)
            pieces += (text[done:start], indentation)
            done = code
    pieces.append(text[done:])
    return "".join(pieces), shifts


def _columns(blank: str, expand_tabs: bool) -> str:
    plain = blank.rpartition("\f")[2]
    return plain.expandtabs(8) if expand_tabs else plain


# LibCST's own message; "Syntax Error @ 1:1" before it says nothing.
_PLACE = re.compile(r"error at (\d+):(\d+)")


def _row_in(error: cst.ParserSyntaxError) -> int:
    place = _PLACE.search(str(error))
    return int(place[1]) if place else 1


def _refusal(source: SourceFile, error: cst.ParserSyntaxError) -> UnreadableError | None:
    """What CPython has against the text; nothing where it has nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call_deep(functools.partial(ast.parse, source.text))
    except SyntaxError as refused:
        rows = len(source.lines)
        row = min(max(refused.lineno or _row_in(error), 1), rows)
        return UnreadableError(f"invalid syntax: {refused.msg}", row)
    except (ValueError, RecursionError, MemoryError):
        return UnreadableError("invalid syntax", _row_in(error))
    return None


def _first_difference(code: str, text: str) -> int:
    same = next((i for i, (a, b) in enumerate(zip(code, text, strict=False)) if a != b), min(len(code), len(text)))
    return text.count("\n", 0, same) + 1

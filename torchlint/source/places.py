"""Where the nodes of a tree stand in the text, by offsets.

A node's extent begins at its first character and ends behind its last one, without white space around it and without
parentheses of its own, as LibCST has it.
"""

from __future__ import annotations

import ast
import dataclasses
import keyword
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import libcst as cst

from torchlint.findings import Position
from torchlint.source import positions
from torchlint.source.scan import Scan
from torchlint.source.stack import call_deep
from torchlint.source.text import SourceFile, UnreadableError
from torchlint.source.translate import LIBCST_ERRORS, Translation, is_in_parentheses

__all__ = ["Extent", "Places", "PlacesOfLibcst", "PlacesOfTranslation"]

Extent = tuple[int, int]


class Places(Protocol):
    """What tells where the nodes of one tree stand."""

    def extent(self, node: cst.CSTNode) -> Extent | None:
        """Where a node stands, told at no cost; None for what is not in the tree, and for what is seldom asked for."""

    def parentheses(self, node: cst.CSTNode) -> int:
        """How many pairs of parentheses of its own a node has, of which `extent` knows the place."""

    def locate(self, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, Extent]:
        """Where nodes stand. What is not in the tree is left out.

        Raises UnreadableError where LibCST does not give back the text that it was given.
        """


class PlacesOfLibcst:
    """The places of a tree that LibCST parsed from `code`: the source with plain indentation.

    `shifts` says by how many columns each row stands further left there.
    """

    def __init__(self, source: SourceFile, module: cst.Module, code: str, shifts: dict[int, int]) -> None:
        self.source = source
        self.module = module
        self.code = code
        self.shifts = shifts
        self._nodes: frozenset[cst.CSTNode] | None = None
        self._all: dict[cst.CSTNode, Extent] | None = None

    def extent(self, node: cst.CSTNode) -> Extent | None:
        if self._nodes is None:
            self._nodes = frozenset(_all_below(self.module))
        if node not in self._nodes:  # another file's, which does not suffer where this one cannot be located
            return None
        if self._all is None:
            self._all = self.locate(self._nodes)
        return self._all.get(node)

    def parentheses(self, node: cst.CSTNode) -> int:
        return len(getattr(node, "lpar", ()))

    def locate(self, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, Extent]:
        code, spans = call_deep(lambda: positions.locate(self.module, nodes))
        if code != self.code:
            raise UnreadableError("LibCST does not give this file back as it is", _first_difference(code, self.code))
        return {node: (self._offset(start), self._offset(end)) for node, (start, end) in spans.items()}

    def _offset(self, position: Position) -> int:
        shift = self.shifts.get(position.row, 0)
        return self.source.offset(dataclasses.replace(position, column=position.column + shift) if shift else position)


class PlacesOfTranslation:
    """The places of a tree that was made from CPython's own, which knows them."""

    def __init__(self, source: SourceFile, scan: Scan, translation: Translation) -> None:
        self.source = source
        self.scan = scan
        self.module = translation.module
        self.origins = translation.origins
        self.literals = translation.literals
        self._is_ascii = source.text.isascii()
        self._mirrored: PlacesOfLibcst | None = None
        self._mirror: dict[cst.CSTNode, cst.CSTNode] | None = None

    def extent(self, node: cst.CSTNode) -> Extent | None:
        origin = self.origins.get(node)
        if origin is None:
            derive = _DERIVED.get(type(node))
            return None if derive is None else derive(self, node)
        if isinstance(origin, tuple):
            first, last = origin
            return self._start(first), (self._end(last) if isinstance(last, ast.stmt) else self._with(last)[1])
        start, end = self._start(origin), self._end(origin)
        kind = type(node)
        if kind is cst.Name and not isinstance(origin, (ast.Name, ast.Constant)):
            # The name of an attribute, at its end; that of a parameter or of an argument, at its start.
            text = self.source.text
            if type(origin) is ast.Attribute:
                return end - len(_NAME_BEHIND.search(text[start:end])[0]), end  # type: ignore[index]
            return start, _NAME.match(text, start).end()  # type: ignore[union-attr]
        if kind is cst.GeneratorExp or (kind is cst.Tuple and self._has_parentheses(node, start, end)):
            return self.scan.code_behind(start + 1), self.scan.code_before(end - 1)
        return start, end

    def parentheses(self, node: cst.CSTNode) -> int:
        if not isinstance(node, cst.BaseExpression):
            return 0
        extent = self.extent(node)
        return len(node.lpar) if extent is None else self._around(*extent)[2]  # LibCST made the parts of a literal

    def locate(self, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, Extent]:
        found: dict[cst.CSTNode, Extent] = {}
        left = []
        for node in nodes:
            extent = self.extent(node)
            if extent is not None:
                found[node] = extent
            else:
                left.append(node)
        if left:
            found |= self._in_literals(left)
            left = [node for node in left if node not in found and not isinstance(node, _ALWAYS_KNOWN)]
        if left:
            found |= self._as_libcst_has_it(left)
        return found

    def outer(self, node: cst.CSTNode) -> Extent | None:
        """Where a node stands with its own parentheses."""
        extent = self.extent(node)
        return None if extent is None else self._around(*extent)[:2]

    def _start(self, origin: Any) -> int:
        return self._offset(origin.lineno, origin.col_offset)

    def _end(self, origin: Any) -> int:
        return self._offset(origin.end_lineno, origin.end_col_offset)

    def _offset(self, row: int, column: int) -> int:
        """CPython counts columns in bytes of UTF-8."""
        if not self._is_ascii:
            line = self.source.lines[row - 1]
            if not line.isascii():
                column = len(line.encode()[:column].decode())
        return self.source.row_starts[row - 1] + column

    def _has_parentheses(self, node: cst.CSTNode, start: int, end: int) -> bool:
        return self.source.text[start] == "(" and is_in_parentheses(self.source.text[start:end])

    def _with(self, origin: Any) -> Extent:
        """Where what was made from a node of CPython stands, with parentheses of its own."""
        return self._around(self._start(origin), self._end(origin))[:2]

    def _around(self, start: int, end: int) -> tuple[int, int, int]:
        """The extent with the parentheses around it but those of a call, and how many pairs there are."""
        text, count = self.source.text, 0
        while True:
            before, behind = self.scan.code_before(start), self.scan.code_behind(end)
            if text[before - 1 : before] != "(" or text[behind : behind + 1] != ")":
                return start, end, count
            row = text.rfind("\n", 0, before) + 1
            function = _CALLED.search(text, max(row, before - _LONGEST_NAME), before - 1)
            if function is not None and not keyword.iskeyword(function[0].strip()):
                return start, end, count
            start, end, count = before - 1, behind + 1, count + 1

    # What CPython has no node for

    def _of_value(self, node: Any) -> Extent | None:
        return self.outer(node.value)

    def _of_slice(self, node: Any) -> Extent | None:
        return self.extent(node.slice)

    def _of_comp_for(self, node: Any) -> Extent | None:
        target = self.outer(node.target)
        last = node.inner_for_in or (node.ifs[-1].test if node.ifs else node.iter)
        end = self.extent(last) if isinstance(last, cst.CompFor) else self.outer(last)
        if target is None or end is None:
            return None
        text = self.source.text
        start = self.scan.code_before(target[0]) - len("for")
        if node.asynchronous is not None:
            start = self.scan.code_before(start) - len("async")
        return (start, end[1]) if text.startswith(("for", "async"), start) else None

    def _in_literals(self, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, Extent]:
        """Where nodes stand that are parts of string literals, such as f-strings."""
        left = set(nodes)
        found: dict[cst.CSTNode, Extent] = {}
        for literal in self.literals:
            inside = left.intersection(_all_below(literal)) if left else ()
            if inside:
                start = self._start(self.origins[literal])
                shell = cst.Module([cst.SimpleStatementLine([cst.Expr(literal)])])
                code, spans = positions.locate(shell, inside)
                own = SourceFile.from_text(code, "")
                found |= {node: (start + own.offset(a), start + own.offset(b)) for node, (a, b) in spans.items()}
                left -= inside
        return found

    def _as_libcst_has_it(self, nodes: list[cst.CSTNode]) -> dict[cst.CSTNode, Extent]:
        """Where nodes stand that nothing above knows: LibCST reads the text after all."""
        if self._mirror is None:
            code, shifts = straightened(self.scan)
            try:
                module = call_deep(lambda: cst.parse_module(code))
            except (*LIBCST_ERRORS, RecursionError):
                return {}
            self._mirrored = PlacesOfLibcst(self.source, module, code, shifts)
            self._mirror = dict(_pairs(self.module, module))
        assert self._mirrored is not None
        theirs = {self._mirror[node]: node for node in nodes if node in self._mirror}
        return {theirs[node]: extent for node, extent in self._mirrored.locate(theirs).items()}


_DERIVED: dict[type[cst.CSTNode], Callable[[PlacesOfTranslation, Any], Extent | None]] = {
    cst.Arg: PlacesOfTranslation._of_value,
    cst.Element: PlacesOfTranslation._of_value,
    cst.Index: PlacesOfTranslation._of_value,
    cst.SubscriptElement: PlacesOfTranslation._of_slice,
    cst.CompFor: PlacesOfTranslation._of_comp_for,
}
# Of these a tree knows each one that it has.
_ALWAYS_KNOWN = (cst.BaseStatement, cst.BaseSmallStatement, cst.Call, cst.Subscript, cst.Lambda)

_NAME = re.compile(r"\w+")
_NAME_BEHIND = re.compile(r"\w+\Z")
# What is called where a parenthesis follows: a name, or something that ends in a bracket or a quote.
_LONGEST_NAME = 200
_CALLED = re.compile(r"(?:\w+|[)\]}\"'])[ \t]*\Z")


def _all_below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += node.children


def _pairs(one: cst.CSTNode, other: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """The nodes of two trees that correspond; white space, punctuation and parentheses may differ."""
    todo = [(one, other)]
    while todo:
        one, other = todo.pop()
        yield one, other
        for spec in dataclasses.fields(one):
            mine, its = getattr(one, spec.name), getattr(other, spec.name)
            if not isinstance(mine, (tuple, list)):
                mine, its = (mine,), (its,)
            if len(mine) == len(its):
                todo += [
                    (a, b) for a, b in zip(mine, its, strict=True) if isinstance(a, cst.CSTNode) and type(a) is type(b)
                ]


# Where a form feed precedes code, or a row holds nothing but a backslash.
_ODD_START = re.compile(r"^[ \t\f]*(?:\f[ \t\f]*[^\s#]|\\$)", re.MULTILINE)
_BLANK = re.compile(r"[ \t\f]*")


def straightened(scanned: Scan, expand_tabs: bool = False) -> tuple[str, dict[int, int]]:
    """The text with plain indentation wherever a logical line begins, and by how much rows then stand further left.

    LibCST misreads form feeds before an indentation and backslashes alone on a row. Python's tokenizer starts counting
    columns anew at a form feed, and takes the indentation of a line that begins with continued rows from the first of
    them that has any.
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


def _first_difference(code: str, text: str) -> int:
    same = next((i for i, (a, b) in enumerate(zip(code, text, strict=False)) if a != b), min(len(code), len(text)))
    return text.count("\n", 0, same) + 1

"""From a source file to a tree that can be trusted, or to the reason why there is none."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from torchlint.source import positions, shape, written
from torchlint.source.places import Places, PlacesOfLibcst, PlacesOfTranslation, straightened
from torchlint.source.scan import Scan, scan
from torchlint.source.stack import call_deep
from torchlint.source.text import SourceFile, UnreadableError
from torchlint.source.translate import LIBCST_ERRORS, NotTranslatedError, translate

__all__ = ["Tree", "parse"]


@dataclass(eq=False)
class Tree:
    """A parsed file. `scan` is of the source's text.

    Most trees are made from CPython's own (`torchlint.source.translate`): their nodes have no white space, punctuation
    and parentheses, and are asked for their text by way of `torchlint.source.written`.
    """

    source: SourceFile
    scan: Scan
    module: cst.Module
    places: Places

    def __post_init__(self) -> None:
        written.register(self)

    def locate(self, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, positions.Span]:
        """Where nodes stand in the file. From a node that is in no tree nothing is known, and it is left out.

        Raises UnreadableError where the tree does not give back the text that it was made from: nothing may be
        reported from it, let alone edited.
        """
        position = self.source.position
        return {node: (position(start), position(end)) for node, (start, end) in self.places.locate(nodes).items()}


def parse(source: SourceFile, scanned: Scan | None = None) -> Tree:
    """Parse a file; `scanned` is the scan of its text, where there already is one.

    Raises UnreadableError for what exceeds a limit (`torchlint.source.shape`) or is not Python, with CPython's row.
    """
    scanned = scanned or scan(source.text)
    shape.check(scanned)
    try:
        translation = call_deep(functools.partial(translate, source.text))
    except SyntaxError as error:
        if _FOR_EVERY_PYTHON.match(error.msg):
            raise _refusal_of(source, error) from error
        return _parsed_by_libcst(source, scanned)  # it knows the syntax of other Pythons than the one that runs
    except (ValueError, RecursionError, MemoryError, NotTranslatedError):
        return _parsed_by_libcst(source, scanned)
    return Tree(source, scanned, translation.module, PlacesOfTranslation(source, scanned, translation))


def _parsed_by_libcst(source: SourceFile, scanned: Scan) -> Tree:
    code, shifts = straightened(scanned)
    try:
        module = call_deep(functools.partial(cst.parse_module, code))
    except LIBCST_ERRORS as error:
        refused = _refusal(source, error)
        if refused is not None:
            raise refused from error
        # CPython reads it. LibCST refuses some mixtures of tabs and spaces; without tabs it may not.
        code, shifts = straightened(scanned, expand_tabs=True)
        try:
            module = call_deep(functools.partial(cst.parse_module, code))
        except LIBCST_ERRORS:
            raise UnreadableError("Python reads this file, but LibCST does not", _row_in(error)) from error
        except RecursionError:
            raise _too_deep() from None
    except RecursionError:
        raise _too_deep() from None
    return Tree(source, scanned, module, PlacesOfLibcst(source, module, code, shifts))


def _too_deep() -> UnreadableError:
    return UnreadableError("too deeply nested for LibCST")


# What CPython has against texts that no version of it reads, while LibCST does.
_FOR_EVERY_PYTHON = re.compile(
    r"unexpected EOF|\((?:unicode|value) error\)|bytes can only contain|Exceeds the limit .* for integer string"
)

# LibCST's own message; "Syntax Error @ 1:1" before it says nothing.
_PLACE = re.compile(r"error at (\d+):(\d+)")


def _row_in(error: Exception) -> int:
    place = _PLACE.search(str(error))
    return int(place[1]) if place else 1


def _refusal(source: SourceFile, error: Exception) -> UnreadableError | None:
    """What CPython has against the text; nothing where it has nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call_deep(functools.partial(ast.parse, source.text))
    except SyntaxError as refused:
        return _refusal_of(source, refused, _row_in(error))
    except (ValueError, RecursionError, MemoryError):
        return UnreadableError("invalid syntax", _row_in(error))
    return None


def _refusal_of(source: SourceFile, refused: SyntaxError, row: int = 1) -> UnreadableError:
    """CPython's refusal, in its row; in `row` where it names none."""
    what = refused.msg if refused.msg.startswith("invalid syntax") else f"invalid syntax: {refused.msg}"
    return UnreadableError(what, min(max(refused.lineno or row, 1), len(source.lines)))

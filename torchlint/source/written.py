"""How nodes are written in the files that they were parsed from.

Most trees have no white space and no parentheses (`torchlint.source.translate`): the text has. What is in no tree, such
as what a repair made, is written as LibCST would.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

if TYPE_CHECKING:
    from torchlint.source.parse import Tree
    from torchlint.source.places import Extent

__all__ = ["bare", "code", "comment_behind", "comments_above", "comments_in", "parentheses", "parsed", "register"]

_EMPTY = cst.Module([])
_trees: weakref.WeakSet[Tree] = weakref.WeakSet()
_Node = TypeVar("_Node", bound=cst.CSTNode)


def register(tree: Tree) -> None:
    """Know where the nodes of a tree are written, as long as somebody holds it."""
    _trees.add(tree)


def _place(node: cst.CSTNode) -> tuple[Tree, Extent] | None:
    for tree in _trees:
        extent = tree.places.extent(node)
        if extent is not None:
            return tree, extent
    return None


def code(node: cst.CSTNode) -> str:
    """A node as it is written, with parentheses of its own."""
    place = _place(node)
    if place is None:
        return _EMPTY.code_for_node(node)
    tree, (start, end) = place
    text = tree.source.text
    for _ in range(tree.places.parentheses(node)):
        start, end = tree.scan.code_before(start) - 1, tree.scan.code_behind(end) + 1
    return text[start:end]


def bare(node: cst.BaseExpression) -> str:
    """An expression as it is written, without parentheses of its own."""
    place = _place(node)
    if place is None:
        return _EMPTY.code_for_node(node.with_changes(lpar=(), rpar=()))
    tree, (start, end) = place
    return tree.source.text[start:end]


def parentheses(node: cst.BaseExpression) -> int:
    """How many pairs of parentheses of its own an expression has."""
    place = _place(node)
    return len(node.lpar) if place is None else place[0].places.parentheses(node)


def parsed(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression as LibCST reads it, with its white space: for what is to be changed and written again."""
    return node if _place(node) is None else cst.parse_expression(code(node))


def comments_in(statement: cst.BaseCompoundStatement) -> list[str]:
    """The comments inside a statement, in the order of the text."""
    place = _place(statement)
    if place is None:
        return []
    tree, (start, end) = place
    text, lines = tree.source.text, tree.scan.logical_lines
    column = start - text.rfind("\n", 0, start)
    last = tree.scan.index_at(max(start, end - 1))
    stop = end if last is None else lines[last].end
    following = lines[last + 1].start if last is not None and last + 1 < len(lines) else len(text)
    found = []
    for comment in tree.scan.comments:
        if comment.start < start or comment.start >= following:
            continue
        # Behind the last line those belong to it that are indented further.
        if comment.start > stop and comment.start - text.rfind("\n", 0, comment.start) <= column:
            break
        found.append(comment.text)
    return found


def comments_above(statement: cst.CSTNode) -> list[str]:
    """The comments between a statement and the code before it, but those that are indented further than it is."""
    place = _place(statement)
    if place is None:
        return []
    tree, (start, _) = place
    text, lines = tree.source.text, tree.scan.logical_lines
    first = tree.scan.index_at(start)
    if first is None:
        return []
    while first > 0 and text[lines[first - 1].code] == "@" != text[start]:
        first -= 1
    before = lines[first - 1].end if first else -1
    column = lines[first].code - lines[first].start
    return [
        comment.text
        for comment in tree.scan.comments
        if before < comment.start < lines[first].start
        and comment.start - text.rfind("\n", 0, comment.start) - 1 <= column
    ]


def comment_behind(statement: cst.SimpleStatementLine) -> str | None:
    """The comment at the end of a simple statement."""
    place = _place(statement)
    if place is None:
        return None
    tree, (start, end) = place
    last = tree.scan.index_at(max(start, end - 1))
    if last is None:
        return None
    stop = tree.scan.logical_lines[last].end
    return next((c.text for c in tree.scan.comments if c.start + len(c.text) == stop and end <= c.start), None)

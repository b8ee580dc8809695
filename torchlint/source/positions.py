"""Where nodes stand, and whether a tree gives back its text: both from one walk.

LibCST's PositionProvider costs twice the parse. Here the walk that generates the code notes, for the nodes that are
asked for, how many tokens had come before; offsets follow from the lengths of the tokens.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from types import TracebackType
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from torchlint.findings import Position

__all__ = ["Span", "locate"]

Span = tuple[Position, Position]


class _Mark:
    """Notes where a node that is asked for begins and ends; LibCST enters and leaves it around the node's own code."""

    __slots__ = ("end_node", "node", "start", "start_node", "state")

    def __init__(
        self, state: _MarkingState, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.state = state
        self.node = node
        self.start_node = start_node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = len(self.state.tokens)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        spans = self.state.spans
        start, end = self.start, len(self.state.tokens)
        if self.start_node is not None:
            start = spans[self.start_node][0]
        if self.end_node is not None:
            end = spans[self.end_node][1]
        spans[self.node] = (start, end)


class _NoMark:
    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


_NO_MARK = _NoMark()


class _MarkingState(CodegenState):
    """Code generation that notes the span of the nodes in `wanted`, as numbers of tokens."""

    __slots__ = ("open", "spans", "wanted")

    def __init__(self, module: cst.Module, wanted: Iterable[cst.CSTNode]) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.wanted = set(wanted)
        self.spans: dict[cst.CSTNode, tuple[int, int]] = {}
        self.open: list[int] = []

    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Any:
        if node not in self.wanted:
            return _NO_MARK
        # The node begins or ends where these do, which are still to come.
        self.wanted.update(other for other in (start_node, end_node) if other is not None)
        return _Mark(self, node, start_node, end_node)

    def before_codegen(self, node: cst.CSTNode) -> None:
        if node in self.wanted:
            self.open.append(len(self.tokens))

    def after_codegen(self, node: cst.CSTNode) -> None:
        # Some nodes have no syntax of their own to mark; they are all that is generated for them.
        if node in self.wanted and self.open:
            start = self.open.pop()
            self.spans.setdefault(node, (start, len(self.tokens)))


def locate(module: cst.Module, nodes: Iterable[cst.CSTNode]) -> tuple[str, dict[cst.CSTNode, Span]]:
    """The code of `module`, and where in it each of `nodes` stands.

    A node's span begins at its first character and ends behind its last one, without white space around it and without
    parentheses of its own. Nodes that are not in the tree are left out.
    """
    state = _MarkingState(module, nodes)
    wanted = frozenset(state.wanted)
    module._codegen(state)
    offsets = [0, *accumulate(map(len, state.tokens))]
    code = "".join(state.tokens)
    row_starts = _row_starts(code)

    def position(token: int) -> Position:
        offset = offsets[min(token, len(offsets) - 1)]
        row = bisect_right(row_starts, offset)
        return Position(row, offset - row_starts[row - 1] + 1)

    return code, {
        node: (position(start), position(end)) for node, (start, end) in state.spans.items() if node in wanted
    }


def _row_starts(code: str) -> list[int]:
    lengths = (len(line) + 1 for line in code.split("\n"))
    return [0, *accumulate(lengths)][:-1]

"""What to write so that replicas wait for each other less often."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._repairs import Unfit, code, repair, spell
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import below
from torchlint.source.written import comment_behind


@repair
def held_back(model: Model, forward: cst.CSTNode, backward: cst.CSTNode) -> NodeFix:
    """Forward and backward under `no_sync()` but on the rounds on which the `if` behind them steps the optimizer.

    It is shown only: what is held back needs memory, and the last rounds of a loop may never step.
    """
    wrapper = dotted(forward.func) if isinstance(forward, cst.Call) else None
    first, last = _line(model, forward), _line(model, backward)
    block = model.parent(first)
    if wrapper is None or block is None or model.parent(last) is not block:
        raise Unfit
    body = list(block.body)  # type: ignore[attr-defined]
    start, end = body.index(first), body.index(last)
    gate = next((line for line in body[end + 1 :] if isinstance(line, cst.If) and _steps(line)), None)
    if start > end or gate is None or gate.orelse is not None or "updates" in _names(model):
        raise Unfit
    null, imports = spell(model, "contextlib.nullcontext")
    head = [f"updates = {code(gate.test)}", f"with {null}() if updates else {wrapper}.no_sync():"]
    edits = []
    for number, line in enumerate(body[start : end + 1]):
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            raise Unfit
        comment = comment_behind(line)
        text = f"    {code(line.body[0])}" + (f"  {comment}" if comment is not None else "")
        edits.append(NodeEdit(line.body[0], "\n".join([*head, text] if not number else [text]), "lines"))
    edits.append(NodeEdit(gate.test, "updates"))
    message = "Hold the reduction back until the optimizer steps"
    return NodeFix(Applicability.DISPLAY, message, tuple(edits), imports)


def _line(model: Model, node: cst.CSTNode) -> cst.CSTNode:
    current: cst.CSTNode | None = node
    while current is not None and not isinstance(current, cst.SimpleStatementLine):
        if isinstance(current, cst.BaseCompoundStatement):
            raise Unfit
        current = model.parent(current)
    if current is None:
        raise Unfit
    return current


def _steps(branch: cst.If) -> bool:
    """Whether a branch calls `step` on something."""
    return any(
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "step"
        for node in below(branch.body)
    )


def _names(model: Model) -> Iterator[str]:
    return (node.value for node in below(model.module) if isinstance(node, cst.Name))

"""What to write instead of copies that are made too often, or read too early."""

from __future__ import annotations

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._bodies import names_written
from torchlint.rules._repairs import Unfit, code, repair, without_option
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.rules.launch._repairs import hoisted
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import names_read
from torchlint.semantics.nodes import below


def moved_once(model: Model, site: sites.Call, loop: cst.CSTNode) -> NodeFix | None:
    """The copy made in front of the loop that repeats it."""
    if isinstance(model.parent(site.node), cst.Assign):
        return hoisted(model, site.node, loop)
    return _moved_once(model, site, loop)


@repair
def _moved_once(model: Model, site: sites.Call, loop: cst.CSTNode) -> NodeFix:
    if not isinstance(loop, (cst.For, cst.While)):
        raise Unfit
    if names_read(site.node) & names_written(model, [loop]):
        raise Unfit
    message = "Move it once, before the loop"
    statement = model.parent(site.node)
    if isinstance(statement, cst.Expr):
        edits = (NodeEdit(statement, "", "delete"), NodeEdit(loop, code(site.node), "line-before"))
        return NodeFix(Applicability.UNSAFE, message, edits)
    name = site.receiver_node
    if not isinstance(name, cst.Name) or any(isinstance(argument.node, cst.Call) for argument in site.arguments):
        raise Unfit
    block = model.parent(loop)
    lines = block.body if isinstance(block, cst.IndentedBlock) else ()
    from_here = [line for index, line in enumerate(lines) if loop in lines[: index + 1]]
    readings = [
        node for line in from_here for node in below(line) if isinstance(node, cst.Name) and node.value == name.value
    ]
    if readings != [name]:
        raise Unfit
    return NodeFix(
        Applicability.UNSAFE,
        message,
        (NodeEdit(site.node, name.value), NodeEdit(loop, f"{name.value} = {code(site.node)}", "line-before")),
    )


@repair
def blocking(copy: sites.Call) -> NodeFix:
    """The copy without `non_blocking`, after which the host may read."""
    return without_option(copy, "non_blocking", "Let the copy block")

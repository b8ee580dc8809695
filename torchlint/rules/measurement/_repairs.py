"""What to write so that a figure tells what the device did."""

from __future__ import annotations

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._devices import runtime
from torchlint.rules._repairs import Unfit, repair, spell
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted


@repair
def waited(model: Model, reading: cst.CSTNode | None) -> NodeFix:
    """A wait for the device in front of the statement that reads the clock."""
    statement: cst.CSTNode | None = reading
    while statement is not None and not isinstance(statement, cst.BaseSmallStatement):
        statement = model.parent(statement)
        if isinstance(statement, (cst.BaseCompoundStatement, cst.Lambda)):
            raise Unfit
    if statement is None:
        raise Unfit
    ready, imports = spell(model, f"{runtime(model)}.is_available")
    wait, _ = spell(model, f"{runtime(model)}.synchronize")
    lines = f"if {ready}():\n    {wait}()"
    return NodeFix(
        Applicability.UNSAFE, "Wait for the device first", (NodeEdit(statement, lines, "line-before"),), imports
    )


@repair
def event_waited(site: sites.Call) -> NodeFix:
    """`end.synchronize()` in front of `start.elapsed_time(end)`."""
    end = dotted(site.arguments[0].node) if len(site.arguments) == 1 else None
    if end is None or site.statement is None or isinstance(site.statement, cst.BaseCompoundStatement):
        raise Unfit
    line = f"{end}.synchronize()"
    return NodeFix(Applicability.UNSAFE, f"Call `{line}` first", (NodeEdit(site.statement, line, "line-before"),))

"""Which argument a call passes for which parameter."""

from __future__ import annotations

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.functions import FunctionInfo


def argument_for(call: sites.Call, target: FunctionInfo, name: str) -> cst.BaseExpression | None:
    """The argument that a call passes for a parameter of the function that it runs; None where it passes none."""
    by_name = call.argument(None, name)
    if by_name is not None:
        return by_name.node
    parameters = [parameter.name for parameter in target.parameters if not parameter.star]
    if name not in parameters:
        return None
    index = parameters.index(name)
    if target.method in ("instance", "class"):
        index -= 1
    given = call.argument(index) if index >= 0 else None
    return given.node if given is not None else None

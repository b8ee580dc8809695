"""Which argument a call passes for which parameter."""

from __future__ import annotations

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.functions import FunctionInfo


def argument_for(call: sites.Call, target: FunctionInfo, name: str) -> cst.BaseExpression | None:
    """The argument that a call passes for a parameter of the function that it runs; None where it passes none."""
    given = call.argument_for(target, name)
    return given.node if given is not None else None

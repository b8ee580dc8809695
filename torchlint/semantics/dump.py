"""What the model takes a file for, as text: for tests of the model and for people who disagree with it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.semantics import contexts
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import describe


def describe_hotness(model: Model, context: contexts.Context) -> str:
    """`hot per steps: this loop runs backward on every step`, or `not hot`."""
    hot = model.hot(context)
    if hot is None:
        return "not hot"
    return f"hot per {hot.rate.value}: " + "; ".join(reason for reason, _ in hot.reasons)


def dump(model: Model) -> str:
    """Every assignment with its value, and every call with its result and hotness, one a line, in order."""
    return "\n".join(_lines(model))


def _lines(model: Model) -> Iterator[str]:
    code = model.module.code_for_node

    def brief(node: cst.CSTNode) -> str:
        return " ".join(code(node).split())[:60]

    for assign in model.sites.assigns:
        owner = model.function_of(assign.context).qualname
        yield f"{owner}: {dotted(assign.target) or brief(assign.target)} = {describe(assign.value)}"
    for call in model.sites.calls:
        owner = model.function_of(call.context).qualname
        name = call.callee or "?"
        hot = describe_hotness(model, call.context)
        yield f"{owner}: {brief(call.node)} -> {name} gives {describe(call.result)} [{hot}]"

"""TL206: gradients are filled with zeros instead of being released."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import within
from torchlint.semantics.values import Kind

_CAPTURES: Final = frozenset("CUDAGraph CudaGraphModule make_graphed_callables".split())


class ZeroGradKeepsTensors(Rule):
    code = "TL206"
    name = "zero-grad-keeps-tensors"
    bottleneck = "launch"
    summary = "Gradients are filled with zeros instead of being released"
    fix_availability = FixAvailability.SOMETIMES
    torch = "1.7"
    calls = (".zero_grad", ".zero_", ".fill_")
    words = ("zero_grad", "zero_", "fill_")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if surroundings.in_test(site.context) or _captured(site.context, model) or _needs_zeros(site.context):
            return
        if site.method == "zero_grad":
            yield from self._zero_grad(site)
        elif _is_gradient(site.receiver_node, model) and site.context.enclosing_loops() and _writes_zero(site):
            yield Report(
                site.node,
                f"{quote(site.node)} launches a kernel for every parameter to write zeros, and the next "
                "backward reads them to add to them",
                "set the gradient to `None`, or call `zero_grad()`: the next backward then writes without reading",
                Confidence.LIKELY,
            )

    def _zero_grad(self, site: sites.Call) -> Iterator[Report]:
        option = site.argument(0, "set_to_none")
        if option is None or option.value.const is not False:
            return
        known = site.receiver is not None and site.receiver.kind in (Kind.OPTIMIZER, Kind.MODULE)
        fix = None
        if len(site.arguments) == 1:
            fix = NodeFix(Applicability.UNSAFE, "Release the gradients", (NodeEdit(site.node.args[0], ""),))
        yield Report(
            site.node,
            f"{quote(site.node)} writes zeros into every gradient, and the next backward reads them to add to them",
            "leave `set_to_none` at its default: the next backward then writes without reading",
            Confidence.SURE if known else Confidence.LIKELY,
            fix=fix,
        )


def _needs_zeros(context: Context) -> bool:
    """Whether gradients that come from elsewhere are added up by hand, which needs something to add to."""
    owner = context.owner
    if owner is None:
        return False
    functions = [owner] if owner.cls is None else owner.cls.methods.values()
    by_hand = False
    for node in within([node for function in functions for node in function.body_nodes]):
        if type(node) is cst.AugAssign and type(node.operator) is cst.AddAssign:
            by_hand |= type(node.target) is cst.Attribute and node.target.attr.value == "grad"
        elif type(node) is cst.Attribute and node.attr.value == "backward":
            return False
    return by_hand


def _is_gradient(node: cst.BaseExpression | None, model: Model) -> bool:
    """Whether an expression is `p.grad`, or `p.grad.data`, of a parameter."""
    if type(node) is cst.Attribute and node.attr.value == "data":
        node = node.value
    if type(node) is not cst.Attribute or node.attr.value != "grad":
        return False
    return model.value(node.value).qual == "torch.nn.Parameter"


def _writes_zero(site: sites.Call) -> bool:
    return site.method == "zero_" or (bool(site.arguments) and site.arguments[0].value.const in (0, 0.0))


def _captured(context: Context, model: Model) -> bool:
    """Whether it is recorded into a CUDA graph, whose gradients must stay where they are."""
    for link in context.chain():
        if link.scope is Scope.WITH and type(link.node) is cst.With:
            calls = (model.call(item.item) for item in link.node.items)
            if any(call is not None and call.callee == "torch.cuda.graph" for call in calls):
                return True
    cls = context.owner.cls if context.owner is not None else None
    return cls is not None and any(  # a class that hands its steps to what captures them
        (call.callee or "").rsplit(".", 1)[-1] in _CAPTURES
        and call.context.owner is not None
        and call.context.owner.cls is cls
        for call in model.sites.calls
    )

"""TL708: attributes of profiler events that newer releases dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence, Impact
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule, RuleSet
from torchlint.semantics.model import Model
from torchlint.semantics.names import identifier
from torchlint.semantics.nodes import below
from torchlint.semantics.targets import bound_names
from torchlint.semantics.values import Kind

# The attributes, and what took their place. Source: torch.autograd.profiler_util, torch 2.1 and 2.13.
_RENAMED: Final[dict[str, str]] = {
    "cuda_time": "device_time",
    "cuda_time_total": "device_time_total",
    "self_cuda_time_total": "self_device_time_total",
    "cuda_memory_usage": "device_memory_usage",
    "self_cuda_memory_usage": "self_device_memory_usage",
}
_MAKERS: Final = frozenset("events key_averages total_average function_events".split())
_SIMILAR: Final = ("sorted", "list", "reversed", "filter", "enumerate", "max", "min")


class StaleProfilerField(Rule):
    code = "TL708"
    name = "stale-profiler-field"
    bottleneck = "measurement"
    impact = Impact.LOW
    summary = "A profiler event is read by an attribute that newer releases dropped"
    ruleset = RuleSet.EXTENDED
    fix_availability = FixAvailability.SOMETIMES
    torch = "2.4"
    words = tuple(_RENAMED)

    def on_module(self, model: Model) -> Iterator[Report]:
        reads = list(_reads(model.module))
        if not reads or any(new in _names_asked(model) for new in _RENAMED.values()):
            return  # serves both releases
        events = _event_names(model)
        for node, holder, old in reads:
            value = model.value(holder)
            if value.cls is not None or value.kind not in (Kind.UNKNOWN, Kind.OBJECT):
                continue
            known = isinstance(holder, cst.Name) and identifier(holder.value) in events or _is_event(holder, events)
            yield self._report(node, old, Confidence.LIKELY if known else Confidence.POSSIBLE)

    def _report(self, node: cst.Attribute | cst.Call, old: str, confidence: Confidence) -> Report:
        new = _RENAMED[old]
        fix = None
        if isinstance(node, cst.Attribute):
            fix = NodeFix(Applicability.UNSAFE, f"Read `{new}`", (NodeEdit(node.attr, new),))
        happens = "gives its default" if isinstance(node, cst.Call) else "fails"
        if old == "cuda_time":
            happens = "warns"
        return Report(
            node,
            f"{quote(node)} {happens} with newer releases, whose profiler events have `{new}` in its place",
            f"read `{new}`",
            confidence,
            fix=fix,
        )


def _reads(module: cst.Module) -> Iterator[tuple[cst.Attribute | cst.Call, cst.BaseExpression, str]]:
    """The reads of such an attribute, with what it is read of."""
    for node in below(module):
        if isinstance(node, cst.Attribute) and node.attr.value in _RENAMED:
            yield node, node.value, node.attr.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "getattr":
            name = node.args[1].value if len(node.args) > 1 else None
            if isinstance(name, cst.SimpleString) and name.evaluated_value in _RENAMED:
                yield node, node.args[0].value, str(name.evaluated_value)


def _names_asked(model: Model) -> set[object]:
    """The attributes that the file asks for with `hasattr` or `getattr`."""
    asked = (call.argument(1) for call in model.sites.calls if call.callee in ("hasattr", "getattr"))
    return {argument.value.const for argument in asked if argument is not None}


def _event_names(model: Model) -> set[str]:
    """The names that hold events or containers of them: what a profiler gives, what loops and lambdas take of it."""
    names: set[str] = set()
    while True:
        found = {
            identifier(assign.target.value)
            for assign in model.sites.assigns
            if isinstance(assign.target, cst.Name) and _is_event(assign.value_node, names)
        }
        for loop in model.sites.loops:
            if _is_event(loop.iterable_node, names):
                found |= bound_names(loop.target)
        for call in model.sites.calls:
            if call.arguments and _is_event(call.arguments[0].node, names):
                for argument in call.arguments:
                    if isinstance(argument.node, cst.Lambda):
                        found |= {parameter.name.value for parameter in argument.node.params.params}
        if found <= names:
            return names
        names |= found


def _is_event(node: cst.BaseExpression | None, names: set[str]) -> bool:
    """Whether an expression gives events of a profiler."""
    while node is not None:
        if isinstance(node, cst.Name):
            return identifier(node.value) in names
        if isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Attribute):
            return node.attr.value in _MAKERS
        elif isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute):
                return node.func.attr.value in _MAKERS
            if not (isinstance(node.func, cst.Name) and node.func.value in _SIMILAR and node.args):
                return False
            node = node.args[0].value
        else:
            return False
    return False

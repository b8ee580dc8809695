"""Copies between host and device, as a call asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.knowledge.devices import MOVES, PLACING
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.rules.sync._waits import Wait, at_rate
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.values import ANYWHERE, DEVICE, HOST, MAYBE_TENSORS, Kind, Value
from torchlint.source import written

WORDS: Final = (*PLACING, "copy_")
CALLS: Final = tuple(f".{name}" for name in WORDS)


@dataclass(frozen=True, slots=True)
class Transfer:
    """One copy. `goes_to` is a set of places as bits, `non_blocking` None where the call does not tell."""

    site: sites.Call
    source: Value
    node: cst.BaseExpression  # of the source
    goes_to: int
    non_blocking: bool | None


def transfer_of(site: sites.Call) -> Transfer | None:
    """The copy that a call of `.to`, `.cuda` or `.copy_` makes; None where it moves no tensor."""
    receiver, node = site.receiver, site.receiver_node
    if receiver is None or node is None or site.target is not None:
        return None
    if receiver.kind not in MAYBE_TENSORS:
        return None
    if site.method == "copy_":
        source = site.argument(0, "src")
        if source is None or receiver.kind is Kind.UNKNOWN:
            return None
        return Transfer(site, source.value, source.node, receiver.device, _non_blocking(site))
    if site.method in MOVES:
        return Transfer(site, receiver, node, DEVICE, _non_blocking(site))
    if site.method == "type_as":
        return Transfer(site, receiver, node, site.result.device, non_blocking=False)
    if site.method == "to" and _names_a_place(site):
        return Transfer(site, receiver, node, site.result.device, _non_blocking(site))
    return None


def moved_by(call: sites.Call, model: Model) -> Iterator[sites.Argument]:
    """The arguments that a function of the program, which is called there, moves to a place that it is told."""
    target = call.target
    if target is None:
        return
    names = {parameter.index: parameter.name for parameter in target.parameters}
    for inner in model.home.get(target.node, model).sites.calls:
        if inner.context.owner is target and inner.receiver is not None and inner.receiver.ident in names:
            if inner.method in PLACING and transfer_of(inner) is not None:
                argument = call.argument_for(target, names[inner.receiver.ident])
                if argument is not None:
                    yield argument


def _names_a_place(site: sites.Call) -> bool:
    """Whether `.to(...)` is told a device; with a dtype alone it is a conversion."""
    named = site.argument(0, "device")
    if named is None:
        return site.argument(None, "other") is not None
    if named.value.kind in (Kind.DTYPE, Kind.NONE):
        return False
    return not (isinstance(named.node, cst.Attribute) and named.node.attr.value == "dtype")


def _non_blocking(site: sites.Call) -> bool | None:
    named = site.argument(None, "non_blocking")
    if named is not None:
        return named.value.const if isinstance(named.value.const, bool) else None
    positional = [a for a in site.arguments if a.name is None and not a.star]
    for argument in positional[1:]:
        if argument.value.const is True:
            return True
    return None if site.opaque_arguments else False


def reaches_device(transfer: Transfer) -> Confidence | None:
    """How sure it is that the copy goes from the host to a device; None where it does not.

    Where the place is a parameter or an attribute, it is `likely` a device: a batch is not moved to stay where it is.
    """
    if transfer.goes_to == HOST or not transfer.source.device & (HOST | ANYWHERE):
        return None
    known = transfer.goes_to == DEVICE and transfer.source.on_host
    return transfer.source.conf if known else min(transfer.source.conf, Confidence.LIKELY)


def copied_at_rate(model: Model, context: Context, confidence: Confidence) -> Wait | None:
    """How often a copy is made; None where that is rarely, in a loader's worker, or what a benchmark measures."""
    if surroundings.in_worker(context) or surroundings.on_host_alone(context):
        return None
    if model.hot(context) is not None and model.in_measurement(context):
        return None
    return at_rate(model, context, confidence)


def with_flag(site: sites.Call) -> NodeFix | None:
    """The repair that adds `non_blocking=True` to a copy."""
    flag = "non_blocking=True"
    named = site.argument(None, "non_blocking")
    message = f"Add `{flag}`"
    if named is not None:
        return NodeFix(Applicability.UNSAFE, message, (NodeEdit(named.node, "True"),))
    if site.node.args:
        return NodeFix(Applicability.UNSAFE, message, (NodeEdit(site.node.args[-1].value, f", {flag}", "after"),))
    text = written.code(site.node.func)
    if "\n" in text:
        return None
    return NodeFix(Applicability.UNSAFE, message, (NodeEdit(site.node, f"{text}({flag})"),))


def loaders_of(value: Value) -> tuple[tuple[str, cst.CSTNode], ...]:
    """The loaders that a batch may come from, as a report relates them."""
    return tuple(("the batch comes from this loader", node) for node in value.loaders)

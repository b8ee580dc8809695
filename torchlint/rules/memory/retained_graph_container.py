"""TL602: a container that outlives the step and keeps graphs."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.memory._retention import (
    PRIMARIES,
    Retention,
    given_to_caller,
    graph_confidence,
    kept_past_step,
    needed_by_backward,
    seen_whole,
)
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import Role
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import MISSING, Kind, Value

_GROWS = frozenset("append extend insert appendleft add update setitem put push".split())


class RetainedGraphContainer(Rule):
    code = "TL602"
    name = "retained-graph-container"
    bottleneck = "memory"
    summary = "A container that outlives the step keeps graphs"
    fix_availability = FixAvailability.SOMETIMES
    words = ("append", "extend", "insert", "add", "update", "[", "+=")

    def on_store(self, site: sites.Store, model: Model) -> Iterator[Report]:
        if site.how not in _GROWS or site.owner_name is None:
            return
        if site.entry is not None and not _key_varies(site.entry, model):
            return  # the entry is overwritten: one graph stays, not one per step
        if site.entry is not None and _is_part_of(site.stored, site.entry):
            return  # what was there stays as a part of itself
        if site.owner is not None and site.owner.kind in (Kind.MODULE, Kind.OPTIMIZER, Kind.TENSOR, Kind.NDARRAY):
            return
        if (
            site.owner is not None
            and site.owner.kind is not Kind.CONTAINER
            and site.how in ("update", "add", "put", "push")
        ):
            return  # a meter, a queue, a logger: what it keeps is not known
        yield from self._report(site.node, site.owner_name, site.stored, site.value, site.context, model)

    def on_accumulate(self, site: sites.Accumulate, model: Model) -> Iterator[Report]:
        if site.before.kind is Kind.CONTAINER and site.added.kind is Kind.CONTAINER and site.added.elem is not None:
            yield from self._report(site.node, site.target, site.addend, site.added.elem, site.context, model)

    def _report(
        self, node: cst.CSTNode, owner: str, stored: cst.BaseExpression, value: Value, context: Context, model: Model
    ) -> Iterator[Report]:
        if value.kind is Kind.CONTAINER:
            value = _attached_member(value)
        graph = graph_confidence(value, context, model)
        if graph is None or model.is_role(context, Role.HOOK):
            return
        kept = kept_past_step(owner, context, model)
        if kept is None or needed_by_backward(owner, context, model):
            return
        confidence = min(graph, kept.confidence)
        if given_to_caller(owner, context, kept.loop, model) or ("." not in owner and _goes_over_parts(kept)):
            confidence = Confidence.POSSIBLE
        if value.kind is Kind.BATCH and _is_further_part(stored, context, model):
            confidence = Confidence.POSSIBLE
        fix = None
        if confidence > Confidence.POSSIBLE and isinstance(stored, PRIMARIES):
            if value.kind is Kind.TENSOR:
                # Without a backward in sight, what is kept may be what the caller trains through.
                unseen = Applicability.UNSAFE if kept.hot.trains else Applicability.DISPLAY
                safety = Applicability.SAFE if seen_whole(owner, context, model) else unseen
                fix = NodeFix(safety, "Detach what is kept", (NodeEdit(stored, ".detach()", "after"),))
        yield Report(
            node,
            f"`{owner}` outlives the step and keeps {quote(stored)} with its graph, on every step",
            f"keep {quote(stored)[:-1]}.detach()`, or run this part under `torch.no_grad()`",
            confidence,
            because(kept.hot),
            fix,
        )


def _is_part_of(stored: cst.BaseExpression, entry: cst.Subscript) -> bool:
    """Whether an entry is given a part of what it holds: `rows[i] = rows[i][:, :n]`."""
    while isinstance(stored, cst.Subscript):
        stored = stored.value
        if stored.deep_equals(entry):
            return True
    return False


def _is_further_part(stored: cst.BaseExpression, context: Context, model: Model) -> bool:
    """Whether it is what something unknown gave beside its first result: statistics, perhaps, that are numbers."""
    name = dotted(stored)
    for assign in model.sites.assigned(name) if name is not None else ():
        if assign.context.owner is not context.owner or not isinstance(assign.node, cst.Assign):
            continue
        made, target = model.call(assign.node.value), assign.node.targets[0].target
        if made is not None and made.target is None and isinstance(target, cst.Tuple):
            return dotted(target.elements[0].value) != name
    return False


def _goes_over_parts(kept: Retention) -> bool:
    """Whether the rounds may be parts of one step: they go over what is at hand, such as levels, without a backward."""
    facts = kept.loop.loop if kept.loop is not None else None
    iterable = facts.iterable if facts is not None else None
    return not kept.hot.trains and iterable is not None and iterable.kind is Kind.CONTAINER


def _attached_member(value: Value) -> Value:
    """The member of a tuple or dictionary on which a graph hangs, or the container's element."""
    for item in (value.items or {}).values():
        if item.kind in (Kind.TENSOR, Kind.BATCH) and item.attached:
            return item
    return value.elem if value.elem is not None else value


def _key_varies(entry: cst.Subscript, model: Model) -> bool:
    """Whether `container[key] = value` may write to another key on each step."""
    index = entry.slice[0].slice
    return not isinstance(index, cst.Index) or model.value(index.value).const is MISSING

"""TL706: a profiler around the whole training loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._conditions import unconditional
from torchlint.rules._growth import counters
from torchlint.rules.base import Report, Rule
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.model import Model
from torchlint.semantics.names import names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.rounds import iterates

_PROFILERS = ("torch.profiler.profile", "torch.autograd.profiler.profile")
_WORK = frozenset({EffectKind.BACKWARD, EffectKind.OPTIMIZER_STEP, EffectKind.FORWARD})


class ProfilerLeftOn(Rule):
    code = "TL706"
    name = "profiler-left-on"
    bottleneck = "measurement"
    summary = "A profiler without a schedule records the whole training loop"
    calls = _PROFILERS
    words = ("profile",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if site.argument(None, "schedule") is not None or site.opaque_arguments:
            return
        enabled = site.argument(None, "enabled")
        if enabled is not None and enabled.value.const is not True:
            return
        if not unconditional(site.context, model) or not self._covers_training(site, model):
            return
        yield Report(
            site.node,
            "this profiler has no schedule and records every step of the loop in it: each launch is logged, and the "
            "log grows to the end",
            "give it a `schedule(...)` and call `step()`, or profile a few steps on request",
            Confidence.LIKELY,
        )

    def _covers_training(self, site: sites.Call, model: Model) -> bool:
        for entered in model.sites.withs:
            if entered.item is site.node or site.node in entered.manager.origins:
                return any(
                    _unbounded(loop, entered.context, model) for loop in model.sites.loops
                ) or self._calls_training(entered.context)
        # Kept in a name or an attribute, and started by hand.
        for call in model.sites.calls:
            if call.method == "start" and call.receiver is not None and site.node in call.receiver.origins:
                owner = call.context.owner
                return any(loop.context.owner is owner and _unbounded(loop, None, model) for loop in model.sites.loops)
        return False

    def _calls_training(self, inside: Context) -> bool:
        owner = inside.owner
        effects = owner.effects if owner is not None else []
        return any(
            effect.callee is not None
            and effect.context.inside(inside)
            and any(
                iterates(loop) in (Iterates.STEPS, Iterates.EPOCHS)
                and loop.loop is not None
                and loop.loop.count is None
                for inner in effect.callee.effects
                for loop in inner.context.enclosing_loops()
            )
            and effect.callee.does(_WORK)
            for effect in effects
        )


def _stops_at_a_count(loop: sites.Loop, model: Model) -> bool:
    """Whether the loop is left after some rounds: `if i > 5: break`."""
    node = loop.context.node
    body = node.body if isinstance(node, (cst.For, cst.While)) else None
    return isinstance(body, cst.IndentedBlock) and any(
        isinstance(part, cst.If)
        and any(isinstance(inner, cst.Break) for inner in within([part.body]))
        and isinstance(part.test, cst.Comparison)
        and bool(names_read(part.test) & counters(loop.context, model))
        for part in body.body
    )


def _unbounded(loop: sites.Loop, inside: Context | None, model: Model) -> bool:
    """Whether a loop makes steps without a small literal bound, inside the context asked for."""
    if inside is not None and not loop.outer.inside(inside):
        return False
    if iterates(loop.context) not in (Iterates.STEPS, Iterates.EPOCHS):
        return False
    facts = loop.context.loop
    assert facts is not None
    if facts.count is not None or any(link.scope is Scope.FUNCTION and link is inside for link in loop.outer.chain()):
        return facts.count is not None and facts.count > 100
    if _stops_at_a_count(loop, model):
        return False
    node = loop.iterable_node
    while isinstance(node, cst.Call):
        name = node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", "")
        if name == "islice":
            return False
        node = node.args[0].value if node.args else None
    return True

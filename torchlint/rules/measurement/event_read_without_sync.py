"""TL703: the time between two events read before they happened."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.rules._devices import runtime
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.measurement import _repairs
from torchlint.rules.measurement._intervals import Happening, functions_with, happenings
from torchlint.semantics import sites
from torchlint.semantics.functions import Effect, EffectKind
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Kind


class EventReadWithoutSync(Rule):
    code = "TL703"
    name = "event-read-without-sync"
    bottleneck = "measurement"
    summary = "`elapsed_time` is read before the events were waited for"
    fix_availability = FixAvailability.SOMETIMES
    calls = (".elapsed_time",)
    words = ("elapsed_time",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if site.receiver is None or site.receiver.kind not in (Kind.EVENT, Kind.UNKNOWN):
            return
        home = model.function_of(site.context)
        for function in functions_with(home, depth=2):
            recorded = False
            waits: list[Happening] = []
            for happening in happenings(function):
                kind = happening.effect.kind
                if kind is EffectKind.RECORD:
                    recorded, waits = True, []
                elif kind is EffectKind.WAIT and not _waits_for_the_first(happening.effect, site, model):
                    waits.append(happening)
                elif kind is EffectKind.ELAPSED and happening.effect.node is site.node and recorded:
                    if any(wait.gates <= happening.gates for wait in waits):
                        return
                    confidence = Confidence.SURE if site.receiver.kind is Kind.EVENT else Confidence.LIKELY
                    yield Report(
                        site.node,
                        f"{quote(site.node)} is read while the events may not have happened: nothing waited for them "
                        "since they were recorded",
                        f"call `synchronize()` on the end event, or `{runtime(model)}.synchronize()`, before reading",
                        confidence,
                        fix=_repairs.event_waited(site),
                    )
                    return


def _waits_for_the_first(effect: Effect, site: sites.Call, model: Model) -> bool:
    """Whether it waits for the event that begins the interval alone."""
    wait = model.call(effect.node)
    if wait is None or wait.receiver_node is None or site.receiver_node is None or wait.receiver is None:
        return False
    return wait.receiver.kind is Kind.EVENT and dotted(wait.receiver_node) == dotted(site.receiver_node) is not None

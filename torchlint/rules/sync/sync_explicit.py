"""TL110: a call waits for the device on purpose, on every step and outside a measurement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.knowledge.names import FULL_WAIT
from torchlint.rules._metering import reads_figures
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.sync._waits import measures, only_meters
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import DEVICE, HOST, Kind

_KINDS: Final = {Kind.STREAM: Confidence.SURE, Kind.EVENT: Confidence.SURE, Kind.UNKNOWN: Confidence.POSSIBLE}

_REACHED: Final[dict[Kind | None, str]] = {Kind.STREAM: "the stream is empty", Kind.EVENT: "the event is reached"}


class SyncExplicit(Rule):
    code = "TL110"
    name = "sync-explicit"
    bottleneck = "sync"
    summary = "A call waits for the device on purpose on every step, outside a measurement"
    fix_availability = FixAvailability.SOMETIMES
    calls = (FULL_WAIT, ".synchronize")
    words = ("synchronize", "sync")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if site.callee == FULL_WAIT:
            confidence = Confidence.SURE
        elif site.receiver is not None and site.receiver.kind in _KINDS:
            confidence = _KINDS[site.receiver.kind]
        else:
            return
        kind = site.receiver.kind if site.receiver is not None else None
        hot = model.hot(site.context)
        if hot is None or hot.phases or surroundings.on_host_alone(site.context) or _awaits_copy(model, site):
            return
        if reads_figures(model, site.context):
            return
        if measures(model, site.context):
            if not hot.trains or not only_meters(model, site.context):
                return
            confidence = Confidence.POSSIBLE  # the mean over many rounds is right without it, that of one is not
        fix = None
        if isinstance(site.statement, cst.Expr) and site.statement.value is site.node:
            safety = Applicability.DISPLAY if _hands_on(model, site) else Applicability.UNSAFE
            fix = NodeFix(safety, "Remove the wait", (NodeEdit(site.statement, "", "delete"),))
        yield Report(
            site.node,
            f"{quote(site.node)} makes the host wait until {_REACHED.get(kind, 'the device is idle')} {often(hot)}",
            "remove it: kernels of one stream run in order, and a read waits by itself",
            confidence,
            because(hot),
            fix,
        )


def _hands_on(model: Model, site: sites.Call) -> bool:
    """Whether the function gives tensors to code that is not seen, which may read them without a stream's order."""
    return any(
        call.context.owner is site.context.owner
        and call.target is None
        and call.callee is None
        and call.function.kind is Kind.UNKNOWN
        and any(argument.value.is_tensor for argument in call.arguments)
        for call in model.sites.calls
    )


def _awaits_copy(model: Model, site: sites.Call) -> bool:
    """Whether the wait makes a copy to the host safe to read that was started without waiting.

    A wait for the whole device or a stream does so in the function that copies, one for an event wherever it is made;
    that one may also tell when memory that was copied from can be filled again, and that it waits for a copy is likely
    where nothing says that what is copied into lies on the device.
    """
    owner = site.context.owner
    by_event = site.receiver is not None and site.receiver.kind is Kind.EVENT
    return any(
        call.method in ("to", "copy_", "cpu")
        and call.argument(None, "non_blocking") is not None
        and (
            call.result.device == HOST
            or (call.receiver is not None and call.receiver.on_host and (by_event or call.method == "copy_"))
            or (call.receiver is not None and by_event and call.method == "copy_" and call.receiver.device != DEVICE)
        )
        and (by_event or call.context.owner is owner)
        for call in model.sites.calls
    )

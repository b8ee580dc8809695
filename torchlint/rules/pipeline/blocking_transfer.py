"""TL503: a pinned batch is copied to the device while the host waits."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind


class BlockingTransfer(Rule):
    code = "TL503"
    name = "blocking-transfer"
    bottleneck = "pipeline"
    summary = "A pinned batch is copied to the device while the host waits"
    fix_availability = FixAvailability.SOMETIMES
    calls = transfers.CALLS
    words = transfers.WORDS

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        transfer = transfers.transfer_of(site)
        if transfer is None or transfer.non_blocking is not False:
            return
        source = transfer.source
        confidence = transfers.reaches_device(transfer)
        if confidence is None or source.pinned is False:
            return
        if source.pinned is None:
            if source.kind is not Kind.BATCH or not source.on_host:
                return
            confidence = Confidence.POSSIBLE  # a loader that may pin
        copied = transfers.copied_at_rate(model, site.context, confidence)
        if copied is None:
            return
        memory = "pinned memory" if source.pinned else "memory that may be pinned"
        yield Report(
            site.node,
            f"{quote(site.node)} copies from {memory} and makes the host wait for the copy {copied.often}",
            "pass `non_blocking=True`: kernels that use the copy are queued behind it",
            copied.confidence,
            (*copied.related, *transfers.loaders_of(source)),
            transfers.with_flag(site),
        )

"""TL504: a copy from ordinary memory is asked not to block, which it cannot hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Final

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Value

_SMALL: Final = 2 << 20  # bytes: up to here a copy was measured not to wait (`torchlint.knowledge.waits`)
_WIDEST: Final = 8  # bytes of an element, where its dtype is not known


class NonBlockingUnpinned(Rule):
    code = "TL504"
    name = "non-blocking-unpinned"
    bottleneck = "pipeline"
    summary = "A copy from memory that is not pinned is asked not to block"
    calls = transfers.CALLS
    words = ("non_blocking",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        transfer = transfers.transfer_of(site)
        if transfer is None or not transfer.non_blocking or transfer.source.pinned is not False:
            return
        confidence = transfers.reaches_device(transfer)
        source = transfer.source
        if confidence is None:
            return
        copied = transfers.copied_at_rate(model, site.context, confidence)
        if copied is None:
            return
        yield Report(
            site.node,
            f"{quote(site.node)} copies from memory that is not pinned, so the driver stages it first and the host is "
            f"held for that {copied.often} if it is more than 2 MiB, whatever `non_blocking` says",
            "pin the memory once, outside the loop" if not source.loaders else "give the loader `pin_memory=True`",
            min(copied.confidence, Confidence.POSSIBLE) if _is_small(source) else copied.confidence,
            (*copied.related, *transfers.loaders_of(source)),
        )


def _is_small(value: Value) -> bool:
    """Whether the driver takes it into its staging buffer at once: there the flag holds."""
    sizes = () if value.rank == 0 else value.shape
    if sizes is None or None in sizes:
        return False
    width = re.search(r"\d+$", value.dtype or "")
    return prod(n or 0 for n in sizes) * (int(width[0]) // 8 if width else _WIDEST) <= _SMALL

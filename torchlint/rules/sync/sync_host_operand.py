"""TL109: an index or a number on the host is copied to the device, with a wait, each time the line runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value

_INTEGERS: Final = frozenset("int8 int16 int32 int64 uint8".split())


class SyncHostOperand(Rule):
    code = "TL109"
    name = "sync-host-operand"
    bottleneck = "sync"
    summary = "An index or a number on the host is copied to the device each time the line runs"
    fix_availability = FixAvailability.SOMETIMES

    def on_subscript(self, site: sites.Subscript, model: Model) -> Iterator[Report]:
        if not site.base.is_tensor and not site.base.may_be_device:
            return
        wait = waits(model, site.base, site.context, by_method=True)
        if wait is None:
            return
        indices = [value for _, value in site.indices if value is not None]
        copied = next(
            (node for node, value in site.indices if node is not None and value is not None and _is_host_index(value)),
            None,
        )
        confidence = wait.confidence
        if copied is not None:
            what = f"the index {quote(copied)} is on the host and is copied to the device"
            advice = "write a slice or `flip` where it is one, or keep the index on the device, in a buffer"
        elif site.mode == "write" and site.written is not None and site.written.kind in (Kind.NUMBER, Kind.CLOCK):
            through = [value for value in indices if _is_device_index(value)]
            if through:
                confidence = min([confidence, *(_index_confidence(value) for value in through)])
            elif not _is_one_element(site.base, site.indices):
                return
            what = f"the number written to {quote(site.node)} is copied to the device"
            advice = "fill on the device: `index_fill_` through an index, `x[i].fill_(number)` for one element"
        else:
            return
        yield Report(
            site.node,
            f"{what} {wait.often}, and the host waits for the copy",
            advice,
            confidence,
            wait.related,
            _repairs.filled_element(model, site) if copied is None else _repairs.sliced(model, copied),
        )


def _is_host_index(value: Value) -> bool:
    """Whether an index must be copied: a list of numbers, an array, a tensor on the host."""
    if value.kind is Kind.CONTAINER:
        return value.qual == "list" and value.elem is not None and value.elem.kind is Kind.NUMBER
    if value.kind is Kind.NDARRAY:
        return value.rank != 0
    return value.kind is Kind.TENSOR and value.on_host and value.rank != 0


def _is_device_index(value: Value) -> bool:
    if value.kind is Kind.TENSOR:
        return not value.on_host and value.dtype in (*_INTEGERS, None) and value.rank != 0
    return value.kind is Kind.UNKNOWN and value.may_be_device


def _index_confidence(value: Value) -> Confidence:
    """What of unknown dtype may be a mask, through which a number is a fill."""
    return Confidence.LIKELY if value.kind is Kind.TENSOR and value.dtype in _INTEGERS else Confidence.POSSIBLE


def _is_one_element(base: Value, indices: Sequence[tuple[object, Value | None]]) -> bool:
    return base.rank == len(indices) and all(value is not None and value.kind is Kind.NUMBER for _, value in indices)

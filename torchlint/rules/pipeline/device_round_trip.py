"""TL511: a value leaves the device, is worked on by the host, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge.devices import PLACING
from torchlint.knowledge.names import FACTORIES
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.rules.pipeline._provenance import Provenance
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import ANYWHERE, DEVICE, HOST, MAYBE_TENSORS, Kind, Value

_FROM_DATA: Final = frozenset("torch.tensor torch.as_tensor torch.asarray".split())
_OF_A_SIZE: Final = FACTORIES - frozenset(
    "as_tensor asarray complex normal scalar_tensor sparse_coo_tensor sparse_csr_tensor tensor".split()
)
_NO_WORK: Final = frozenset("numpy from_numpy as_tensor asarray detach contiguous pin_memory to cpu clone".split())
_JOINS: Final = frozenset("cat concat stack".split())
_LONGEST: Final = 60  # steps that are followed back
# NumPy's functions that only the host has.
_HOST_WORK: Final = ("numpy.load", "numpy.save", "numpy.fromfile", "numpy.vectorize", "numpy.apply_along_axis")


class DeviceRoundTrip(Rule):
    code = "TL511"
    name = "device-round-trip"
    bottleneck = "pipeline"
    summary = "A value leaves the device, is worked on by the host, and comes back"
    words = ("device", *PLACING)

    def on_module(self, model: Model) -> Iterator[Report]:
        provenance: Provenance | None = None
        for site in model.sites.calls:
            source = _copied_to_device(site)
            if source is None:
                continue
            provenance = provenance or Provenance(model)
            trip = _Trip(provenance)
            if not trip.follow(source) or trip.left is None or trip.left is site:
                continue
            left = trip.left
            assert left.receiver is not None
            confidence = model.device_confidence(left.receiver, left.context, by_method=True)
            if confidence is None:
                continue
            worked = trip.worked or (trip.joined and not _is_parked(left, model))
            if trip.other_data or not worked:
                # The work needs what only the host has as well; or there is none, and the host's memory is what counts.
                confidence = Confidence.POSSIBLE
            back = transfers.copied_at_rate(model, site.context, min(confidence, Confidence.LIKELY))
            if back is None:
                continue
            yield Report(
                site.node,
                f"{quote(site.node)} brings back {back.often} what {quote(left.node)} took from the device",
                "do the work between the two on the device, which saves both copies and the wait",
                back.confidence,
                (("it leaves the device here", left.node), *back.related),
            )


def _copied_to_device(site: sites.Call) -> Value | None:
    """What a call copies from the host to a device."""
    if site.callee in _FROM_DATA:
        place = site.argument(None, "device")
        data = site.argument(0, "data")
        moved = place is not None and place.value.kind is not Kind.NONE and site.result.device & (DEVICE | ANYWHERE)
        return data.value if moved and data is not None and data.value.kind in (Kind.NDARRAY, Kind.TENSOR) else None
    if site.method not in PLACING:
        return None
    transfer = transfers.transfer_of(site)
    if transfer is None or not transfer.source.on_host or transfers.reaches_device(transfer) is None:
        return None
    return transfer.source


class _Trip:
    """The way back from a host value through work that the device could do, to where it left the device."""

    def __init__(self, provenance: Provenance) -> None:
        self.provenance = provenance
        self.left: sites.Call | None = None
        self.other_data = False
        self.worked = False  # the host computed something
        self.joined = False  # the host took pieces, or joined them
        self.seen: set[cst.CSTNode] = set()

    def follow(self, value: Value) -> bool:
        """Whether all steps are known; notes where the value left the device and whether other data went in."""
        origin = value.origin
        if origin is None or len(self.seen) > _LONGEST:
            return False
        if origin in self.seen:
            return True
        self.seen.add(origin)
        call = self.provenance.call(value)
        if call is not None:
            if _leaves_device(call):
                self.left = call
                return True
            callee = call.callee or ""
            if not callee.startswith(("torch.", "numpy.")) or callee.startswith(_HOST_WORK):
                return False
            if callee.rpartition(".")[2] in _OF_A_SIZE:
                return False  # of a size that was read, perhaps: none of its numbers were there before
        name = "" if call is None else (call.callee or "").rpartition(".")[2]
        if name in _JOINS or isinstance(origin, cst.Subscript):
            self.joined = True
        else:
            self.worked |= name not in _NO_WORK
        operands = self.provenance.operands(value)
        if not operands:
            return False
        found = False
        for _, operand in operands:
            if operand.kind in (Kind.TENSOR, Kind.BATCH, Kind.NDARRAY):
                if self.follow(operand):
                    found = True
                else:
                    self.other_data = True
        return found


def _is_parked(left: sites.Call, model: Model) -> bool:
    """Whether what left the device is kept in a list until it is wanted again: it makes room, and is no work."""
    around = model.parent(left.node)
    call = model.parent(around) if isinstance(around, cst.Arg) else None
    return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "append"


def _leaves_device(call: sites.Call) -> bool:
    receiver = call.receiver
    if receiver is None or receiver.on_host or receiver.kind not in MAYBE_TENSORS:
        return False
    return call.method == "cpu" or (call.method == "to" and call.result.device == HOST)

"""TL109: an index or a number on the host is copied to the device, with a wait, each time the line runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import waits as table
from torchlint.knowledge.devices import PLACING
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.sync import _measured as measured
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import HOST, Kind, Value

_SEQUENCES: Final = ("list", "range", "range of tensor size")
_INTEGERS: Final = frozenset("int8 int16 int32 int64 uint8".split())


class SyncHostOperand(Rule):
    code = "TL109"
    name = "sync-host-operand"
    bottleneck = "sync"
    summary = "An index or a number on the host is copied to the device each time the line runs"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("torch.where", "torch.Tensor.where")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        name = measured.name_of(site)
        chosen = [argument for argument in site.arguments if argument.name in (None, "input", "other", "self")]
        copied = next((argument for argument in reversed(chosen) if _is_host_scalar(argument.value)), None)
        if copied is None or name is None or not measured.waits_as_called(site, name):
            return
        others = [a.value for a in chosen if a is not copied] + ([site.receiver] if site.receiver is not None else [])
        wait = next(
            filter(None, (waits(model, other, site.context, by_method=True) for other in others if other.is_tensor)),
            None,
        )
        if wait is not None:
            yield Report(
                site.node,
                f"{quote(copied.node)} is on the host and is copied to the device {wait.often}, and the host waits for "
                "the copy",
                "give the number itself: `torch.where(mask, x, 0.0)`",
                wait.confidence,
                wait.related,
            )

    def on_subscript(self, site: sites.Subscript, model: Model) -> Iterator[Report]:
        if not site.base.is_tensor and not site.base.may_be_device:
            return
        wait = waits(model, site.base, site.context, by_method=True)
        if wait is None:
            return
        indices = [value for _, value in site.indices if value is not None]
        copied, index = next(
            (
                (node, value)
                for node, value in site.indices
                if node is not None and value is not None and _is_copied(value, site)
            ),
            (None, None),
        )
        confidence = wait.confidence
        if copied is not None and index is not None:
            unsure = _may_be_element(index) or not _holds_numbers(index) or _is_placed(site, model)
            if unsure or _of_arrays(site.base, index) or _copies_argument(index, model):
                confidence = Confidence.POSSIBLE
            what = f"the index {quote(copied)} is on the host and is copied to the device"
            advice = "write a slice or `flip` where it is one, or keep the index on the device, in a buffer"
        elif site.mode == "write" and _may_be_number(site.written):
            through = [value for value in indices if _is_device_index(value)]
            if through:
                confidence = min([confidence, *(_index_confidence(value) for value in through)])
            elif not _is_one_element(site.base, site.indices):
                return
            if site.written is not None and site.written.kind is Kind.UNKNOWN:
                confidence = Confidence.POSSIBLE
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


def _is_copied(index: Value, site: sites.Subscript) -> bool:
    """Whether an index must be copied, and the host waits for it: a list of numbers, an array, a tensor on the host."""
    state = _state(index)
    if state is None:
        return False
    if site.mode != "read" and site.written is not None:
        value = "number" if site.written.kind in (Kind.NUMBER, Kind.CLOCK) else "device"
        waiting = table.waits("x[...] =", {"index": state, "value": value})
        if waiting is not None:
            return waiting
    return bool(table.waits("x[...]", {"index": state}))


def _state(index: Value) -> str | None:
    """What an index on the host is, in the words of what was measured."""
    if index.kind is Kind.CONTAINER:
        of_numbers = index.elem is None or index.elem.kind in (Kind.NUMBER, Kind.UNKNOWN)
        return "list" if index.qual in _SEQUENCES and of_numbers else None
    if index.rank == 0:
        return None
    if index.kind is Kind.NDARRAY:
        return "ndarray"
    if index.is_tensor and index.on_host:  # a batch that is an index is a tensor, or a list of numbers
        return "host mask" if index.dtype == "bool" else "host integers"
    return None


def _of_arrays(base: Value, index: Value) -> bool:
    """Whether a mask of NumPy picks from what may be on the host: then that is an array as well, most likely.

    Not so where a graph hangs on it.
    """
    is_mask = index.kind is Kind.NDARRAY and index.dtype == "bool"
    return is_mask and bool(base.device & HOST) and not base.attached


def _is_placed(site: sites.Subscript, model: Model) -> bool:
    """Whether what is picked is moved to a device at once: then what it is picked from was on the host, most likely."""
    around = None if site.base.may_be_device else model.parent(site.node)
    if not isinstance(around, cst.Attribute) or around.attr.value not in PLACING:
        return False
    moved = model.call(model.parent(around) or around)
    return moved is not None and moved.result.may_be_device  # not where `to` is given a dtype


def _copies_argument(index: Value, model: Model) -> bool:
    """Whether it is `torch.tensor(given)` of an argument that may be a tensor: its copy lies beside it."""
    made = model.call(index.origin) if index.origin is not None else None
    given = made.arguments[0].value if made is not None and made.arguments else None
    if made is None or given is None or made.callee != "torch.tensor" or made.argument(None, "device") is not None:
        return False
    return given.kind is Kind.UNKNOWN and given.ident is not None


def _holds_numbers(index: Value) -> bool:
    return index.kind is not Kind.CONTAINER or (index.elem is not None and index.elem.kind is Kind.NUMBER)


def _may_be_number(written: Value | None) -> bool:
    return written is not None and written.kind in (Kind.NUMBER, Kind.CLOCK, Kind.UNKNOWN)


def _may_be_element(index: Value) -> bool:
    """Whether an index is an entry of what may be a vector: then it is one number, which is read where it is."""
    origin = index.origin
    return (
        index.kind is Kind.TENSOR
        and index.rank is None
        and isinstance(origin, cst.Subscript)
        and all(isinstance(at.slice, cst.Index) for at in origin.slice)
    )


def _is_host_scalar(value: Value) -> bool:
    return value.kind is Kind.TENSOR and value.on_host and value.rank == 0


def _is_device_index(value: Value) -> bool:
    if value.kind is Kind.TENSOR:
        return not value.on_host and value.dtype in (*_INTEGERS, None) and value.rank != 0
    return value.kind is Kind.UNKNOWN and value.may_be_device


def _index_confidence(value: Value) -> Confidence:
    """What of unknown dtype may be a mask, through which a number is a fill."""
    return Confidence.LIKELY if value.kind is Kind.TENSOR and value.dtype in _INTEGERS else Confidence.POSSIBLE


def _is_one_element(base: Value, indices: Sequence[tuple[object, Value | None]]) -> bool:
    return base.rank == len(indices) and all(
        value is not None and value.kind is Kind.NUMBER and value.const is not Ellipsis for _, value in indices
    )

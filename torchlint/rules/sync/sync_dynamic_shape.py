"""TL105: the shape of a result depends on the data, so the host must see the data first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.sync import _measured as measured
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._uses import used_as_tensor
from torchlint.rules.sync._waits import as_operand, waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.reading.evidence import BITS
from torchlint.semantics.values import Kind, Value

_ADVICE: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("nonzero", "argwhere", "where", "masked_select"),
        "keep the mask and let it act on values: `torch.where(mask, a, b)`, a product, a weighted sum",
    ),
    **dict.fromkeys(
        ("unique", "unique_consecutive"),
        "work on all rows with an index of known size, or find the distinct values where the batch is made",
    ),
    "bincount": "count into a tensor of known size: `zeros(n).index_add_(0, index, ones)`",
    "one_hot": "pass `num_classes`",
    "repeat_interleave": "pass `output_size`",
}
_MASKED: Final = (
    "keep the shape and let the mask act on values: `torch.where(mask, a, b)`, `masked_fill`, `ignore_index`"
)
_AS_MASKS: Final = frozenset(("any", "all", "nonzero", BITS))
_FUNCTIONS: Final = {
    **{f"torch.{name}": name for name in _ADVICE if name != "one_hot"},
    "torch.nn.functional.one_hot": "one_hot",
}


class SyncDynamicShape(Rule):
    code = "TL105"
    name = "sync-dynamic-shape"
    bottleneck = "sync"
    summary = "The shape of a result depends on data, so the host waits to see it"
    fix_availability = FixAvailability.SOMETIMES
    calls = (*_FUNCTIONS, *(f".{name}" for name in _ADVICE if name not in ("where", "one_hot")))

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        name = _FUNCTIONS.get(site.callee or "")
        is_function = name is not None
        if name is None:
            name = site.method or ""
        read = site.receiver
        if is_function:
            argument = site.argument(0, "input") or site.argument(None, "condition") or site.argument(None, "tensor")
            read = as_operand(argument.value) if argument is not None else None
        sure = True
        if read is None or site.opaque_arguments or (name == "where" and len(site.arguments) > 1):
            return
        waiting = measured.waits_as_called(site, (site.callee or "") if is_function else f".{name}")
        if name == "repeat_interleave":
            repeats = _repeats(site, first=1 if is_function else 0)
            if repeats is None or waiting is False:
                return
            sure = repeats.is_tensor and (repeats.conf is not Confidence.POSSIBLE or bool(repeats.origins))
            read = repeats
        elif not waiting:
            return
        wait = waits(model, read, site.context, by_method=True)
        if wait is None:
            return
        confidence = wait.confidence
        if not sure or (read.kind is Kind.UNKNOWN and not read.may_be_device):
            confidence = Confidence.POSSIBLE  # arrays and data frames have methods of these names as well
        yield Report(
            site.node,
            f"the host waits for the device {wait.often} to learn the shape of {quote(site.node)}",
            _ADVICE[name],
            confidence,
            wait.related,
        )

    def on_subscript(self, site: sites.Subscript, model: Model) -> Iterator[Report]:
        mask = next((value for _, value in site.indices if value is not None and _is_mask(value)), None)
        told = mask is not None  # not only by how it is used elsewhere
        if mask is None:
            mask = next((value for node, value in site.indices if value and _acts_as_mask(node, value, site)), None)
        if mask is None or site.mode == "delete" or site.base.kind in (Kind.CONTAINER, Kind.STRING, Kind.SHAPE):
            return
        written = site.written
        if site.mode == "write" and (written is None or _is_number(written)):
            return  # a fill
        sure = site.base.is_tensor or mask.kind is Kind.TENSOR or used_as_tensor(model, site.node)
        wait = waits(model, as_operand(mask) if sure else mask, site.context, by_method=True)
        if wait is None:
            return
        confidence = wait.confidence
        if not (sure and told) or (site.mode == "write" and written is not None and not written.is_tensor):
            confidence = Confidence.POSSIBLE
        verb = "writes a tensor through a mask" if site.mode == "write" else "selects by a mask"
        yield Report(
            site.node,
            f"{quote(site.node)} {verb}: the host waits for the device {wait.often} to count what is selected",
            _MASKED,
            confidence,
            wait.related,
            _repairs.chosen_elements(model, site),
        )


def _repeats(site: sites.Call, first: int) -> Value | None:
    """The repeats of `repeat_interleave`, where they are a tensor, or may be one that the function was given."""
    argument = site.argument(first, "repeats")
    if argument is None and first == 1 and len(site.arguments) == 1:
        argument = site.arguments[0]  # torch.repeat_interleave(repeats)
    if argument is None:
        return None
    value = argument.value
    return value if value.is_tensor or (value.kind is Kind.UNKNOWN and value.deps) else None


def _is_mask(value: Value) -> bool:
    if value.kind is Kind.TENSOR or value.kind is Kind.BATCH:
        return value.dtype == "bool" and value.rank != 0
    # Something unknown that was compared selects by a mask: a Python truth value selects nothing.
    return value.kind is Kind.UNKNOWN and isinstance(value.origin, cst.Comparison)


def _acts_as_mask(index: cst.BaseExpression | None, value: Value, site: sites.Subscript) -> bool:
    """Whether an index of unknown type, or what it is a row of, is elsewhere asked for and combined as masks are."""
    owner = site.context.owner
    whole = value.origin.value if isinstance(value.origin, cst.Subscript) else index
    names = [dotted(node) for node in (index, whole) if node is not None]
    return owner is not None and any(owner.duck.get(name, set()) & _AS_MASKS for name in names if name is not None)


def _is_number(value: Value) -> bool:
    """Whether writing it through a mask is a fill: a number, or a tensor of one number on the host."""
    return value.kind in (Kind.NUMBER, Kind.CLOCK, Kind.NONE) or (value.kind is Kind.TENSOR and value.on_host)

"""TL106: a device tensor is used as a Python number for a position or a size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.sync import _measured as measured
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import DEVICE, Kind, Value

# Parameters that are a size, a number of things, or a position.
_SIZES: Final = frozenset(
    """bins chunks diagonal dims end index k length n num_classes pad repeats shape shifts size sizes split_size
    split_size_or_sections start steps stop""".split()
)
# Here the ends are values, and TL108's.
_RANGES: Final = ("linspace", "logspace")
_VALUES: Final = frozenset(("start", "end"))


_SEQUENCES: Final = ("list", "tuple", "torch.nn.ModuleList", "torch.nn.Sequential")
_PLAIN: Final = (Kind.NUMBER, Kind.STRING, Kind.NONE)


class SyncIndexOrSize(Rule):
    code = "TL106"
    name = "sync-index-or-size"
    bottleneck = "sync"
    summary = "A device tensor is used as a Python number for a position or a size"
    calls = tuple(name for name in measured.names(_SIZES) if not name.endswith("repeat_interleave"))

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        wanted = _SIZES - _VALUES if (site.callee or site.method or "").endswith(_RANGES) else _SIZES
        for argument in measured.numbers(site, wanted):
            size = _number_in(argument.value)
            if size is not None:
                yield from _report(site.node, argument.node, size, site, model)
                return

    def on_subscript(self, site: sites.Subscript, model: Model) -> Iterator[Report]:
        for node, value in site.bounds:
            if value.kind is Kind.TENSOR:
                yield from _report(site.node, node, value, site, model)
                return
        if site.base.kind is Kind.CONTAINER and site.base.qual == "dict":
            return  # found by identity
        for index_node, index in site.indices:
            if index is None or index_node is None or index.kind is not Kind.TENSOR:
                continue
            # A tensor on the host takes of the device only what becomes a number, as all do that are no tensors.
            number = index.rank == 0 or (index.rank is None and site.base.on_host and index.device == DEVICE)
            number |= site.base.qual in _SEQUENCES and (index.rank is not None or index.may_be_device)
            if number and index.dtype != "bool":
                yield from _report(site.node, index_node, index, site, model)
                return

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        if site.operator not in ("==", "!=", "*"):
            return
        for shape, other, node in ((site.left, site.right, site.right_node), (site.right, site.left, site.left_node)):
            repeats = site.operator == "*" and other.kind is Kind.TENSOR and _is_repeated(shape, other)
            if repeats or (site.operator != "*" and _is_shape(shape) and other.kind is Kind.CONTAINER):
                size = _number_in(other)
                if size is not None:
                    yield from _report(site.node, node, size, site, model)
                    return


def _report(
    node: cst.BaseExpression | cst.AugAssign,
    read: cst.BaseExpression,
    value: Value,
    site: sites.Call | sites.Subscript | sites.Binary,
    model: Model,
) -> Iterator[Report]:
    wait = waits(model, value, site.context)
    if wait is not None:
        yield Report(
            node,
            f"{quote(node)} needs {quote(read)} as a Python number and waits for the device {wait.often}",
            "take the number from a shape or from the host, or select on the device: `index_select`, a mask",
            wait.confidence,
            wait.related,
        )


def _number_in(value: Value) -> Value | None:
    """A tensor that must become a number: the value itself or, in a list or tuple of sizes, one of them."""
    if value.kind is Kind.TENSOR:
        return value if value.rank in (0, None) else None
    if value.kind is Kind.CONTAINER and value.qual in ("list", "tuple") and value.items:
        return next(
            (item for item in value.items.values() if item.kind is Kind.TENSOR and item.rank in (0, None)), None
        )
    return None


def _is_repeated(several: Value, tensor: Value) -> bool:
    """Whether a list or tuple is repeated: plain things are, others where the tensor is a number."""
    if several.kind is not Kind.CONTAINER or several.qual not in ("list", "tuple"):
        return False
    return tensor.rank == 0 or (several.elem is not None and several.elem.kind in _PLAIN)


def _is_shape(value: Value) -> bool:
    return value.kind is Kind.SHAPE or (
        value.kind is Kind.CONTAINER and value.elem is not None and value.elem.qual == "tensor size"
    )

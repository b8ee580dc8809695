"""TL106: a device tensor is used as a Python number for a position or a size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value

# Calls whose positional arguments from an index on are sizes or positions; `None`: up to which one.
_SIZED: Final[dict[str, tuple[int, int | None]]] = {
    "range": (0, None),
    **{f"torch.{name}": (0, None) for name in "arange empty eye ones rand randn randperm zeros".split()},
    "torch.full": (0, 1),
    "torch.linspace": (2, 3),
    "torch.logspace": (2, 3),
    "torch.narrow": (2, None),
    "torch.select": (2, 3),
    "torch.split": (1, 2),
    "torch.chunk": (1, 2),
    "torch.roll": (1, 2),
    "torch.reshape": (1, 2),
    **{f".{name}": (0, None) for name in "expand new_empty new_ones new_zeros repeat reshape tile view".split()},
    ".new_full": (0, 1),
    ".narrow": (1, None),
    ".select": (1, 2),
    ".split": (0, 1),
    ".chunk": (0, 1),
    ".roll": (0, 1),
    ".unflatten": (1, 2),
    ".resize_": (0, None),
}
_NAMES: Final = frozenset(
    "size length steps start end step index shape sizes n m split_size split_size_or_sections chunks shifts".split()
)


class SyncIndexOrSize(Rule):
    code = "TL106"
    name = "sync-index-or-size"
    bottleneck = "sync"
    summary = "A device tensor is used as a Python number for a position or a size"
    calls = tuple(_SIZED)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        span = _SIZED.get(site.callee or "")
        if span is None and site.receiver is not None and site.receiver.kind in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN):
            span = _SIZED.get(f".{site.method}")
        if span is None:
            return
        first, end = span
        position = 0
        for argument in site.arguments:
            if argument.star:
                return
            wanted = argument.name in _NAMES
            if argument.name is None:
                wanted = first <= position and (end is None or position < end)
                position += 1
            if wanted:
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
            if index.rank == 0 and index.dtype != "bool":
                yield from _report(site.node, index_node, index, site, model)
                return

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        if site.operator not in ("==", "!="):
            return
        for shape, other, node in ((site.left, site.right, site.right_node), (site.right, site.left, site.left_node)):
            if _is_shape(shape) and other.kind is Kind.CONTAINER:
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


def _is_shape(value: Value) -> bool:
    return value.kind is Kind.SHAPE or (
        value.kind is Kind.CONTAINER and value.elem is not None and value.elem.qual == "tensor size"
    )

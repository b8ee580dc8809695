"""TL107: a builtin of Python walks over a device tensor or over device scalars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value

_TENSORS_OWN: Final = {
    "max": "`t.max()`, or `torch.maximum` of two",
    "min": "`t.min()`, or `torch.minimum` of two",
    "sorted": "`t.sort().values`",
    "any": "`t.any()`, kept on the device",
    "all": "`t.all()`, kept on the device",
    "sum": "`t.sum()`",
}


class SyncPythonBuiltin(Rule):
    code = "TL107"
    name = "sync-python-builtin"
    bottleneck = "sync"
    summary = "A builtin of Python walks over a device tensor or over device scalars"
    fix_availability = FixAvailability.SOMETIMES
    calls = tuple(_TENSORS_OWN)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        name = site.callee or ""
        if site.opaque_arguments:
            return
        values = [argument.value for argument in site.arguments if argument.name is None]
        key = site.argument(None, "key")
        walked = _walked(name, values) if key is None else _compared_by(key.value)
        unknown = model.uses_numpy and bool(values) and values[0].kind is Kind.UNKNOWN
        if walked is None or walked.conf is Confidence.POSSIBLE or unknown:
            return  # Python's builtins walk over anything, NumPy's arrays among it
        wait = waits(model, walked, site.context)
        if wait is None:
            return
        cost = (
            f"launches one kernel per element {wait.often}"
            if name == "sum"
            else f"asks the device after every comparison and waits for it {wait.often}"
        )
        yield Report(
            site.node,
            f"Python's `{name}` in {quote(site.node)} {cost}",
            f"write {_TENSORS_OWN[name]}; of a list of scalars, `torch.stack` them first",
            wait.confidence,
            wait.related,
            _repairs.tensors_own(model, site),
        )


def _compared_by(key: Value) -> Value | None:
    """What a function of this file gives to be compared: a tensor, where it waits."""
    given = key.fn.returns if key.fn is not None else None
    return given if given is not None and given.kind is Kind.TENSOR else None


def _walked(name: str, values: list[Value]) -> Value | None:
    """The tensor whose elements are walked, or one of the tensors that are compared."""
    if not values:
        return None
    first = values[0]
    if len(values) > 1 and name in ("max", "min"):
        return next((value for value in values if value.kind is Kind.TENSOR), None)
    if first.kind in (Kind.TENSOR, Kind.UNKNOWN) and isinstance(first.origin, cst.Comparison):
        return first.but(kind=Kind.TENSOR, conf=max(first.conf, Confidence.LIKELY))  # only elements can be walked
    if first.kind is Kind.TENSOR:
        return first
    if name == "sum" or first.kind is not Kind.CONTAINER or first.elem is None:
        return None  # a few loss terms are added for one backward
    return first.elem if first.elem.kind is Kind.TENSOR else None

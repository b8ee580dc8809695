"""TL402: float64 tensors reach the device by a default, or without a reason."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.compute import _repairs
from torchlint.rules.compute._reasons import states_reason
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.rules.pipeline._provenance import Provenance
from torchlint.semantics import hotness, sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import ANYWHERE, DEVICE, HOST, Kind, Value

_DOUBLES: Final = frozenset(
    f"numpy.{name}"
    for name in """empty eye identity linspace logspace ones random.exponential random.normal random.rand random.randn
    random.random random.random_sample random.standard_normal random.uniform zeros""".split()
)
_KEEP: Final = frozenset(
    f"numpy.{name}"
    for name in """abs ascontiguousarray clip concatenate cos cumsum exp expand_dims flip log maximum minimum moveaxis
    pad reshape roll sin sort sqrt squeeze stack tile transpose vstack hstack""".split()
)
_NEEDS: Final = (
    "torch.autograd.gradcheck",
    "torch.autograd.gradgradcheck",
    "torch.cholesky",
    "torch.linalg.",
    "torch.special.",
)
_FROM_DATA: Final = frozenset("torch.as_tensor torch.tensor torch.asarray".split())
_FACTORIES: Final = frozenset(
    f"torch.{name}" for name in "arange empty eye full linspace ones rand randn zeros zeros_like ones_like".split()
)
_FEW: Final = 256  # elements that cost nothing in any precision


class Float64OnDevice(Rule):
    code = "TL402"
    name = "float64-on-device"
    bottleneck = "compute"
    summary = "Float64 tensors reach the device by NumPy's default, or without a stated reason"
    fix_availability = FixAvailability.SOMETIMES
    words = ("double", "float64", "numpy")

    def on_module(self, model: Model) -> Iterator[Report]:
        provenance: Provenance | None = None
        needing = _functions_that_need_it(model)
        for site in model.sites.calls:
            if hotness.in_test(site.context) or model.is_test_file or site.context.owner in needing:
                continue
            asked = _asks_for_doubles(site, model)
            array = _array_that_moves(site) if asked is None else None
            if asked is None and array is None:
                continue
            if array is not None:
                provenance = provenance or Provenance(model)
                if not _is_double(array, provenance, 0):
                    continue
                asked = Confidence.LIKELY
            assert asked is not None
            if hotness.in_worker(site.context) or states_reason(model, site.node):
                continue
            hot = model.hot(site.context)
            yield Report(
                site.node,
                f"{quote(site.node)} puts float64 on the device"
                + (", NumPy's default" if array is not None else ", and nothing says why")
                + ": twice the bytes of float32 in every kernel that touches it",
                "make the array float32 on the host"
                if array is not None
                else "use float32, or write the reason beside it",
                asked,
                because(hot),
                _repairs.in_float32(model, _made_double(array, provenance)) if array is not None else None,
            )


def _functions_that_need_it(model: Model) -> set[object]:
    """Functions whose work is known to need float64: gradient checks, factorisations, solvers."""
    return {
        site.context.owner
        for site in model.sites.calls
        if (site.callee or "").startswith(_NEEDS) and site.context.owner
    }


def _asks_for_doubles(site: sites.Call, model: Model) -> Confidence | None:
    """Whether a call asks for float64 on a device in so many words."""
    if site.result.dtype != "float64" and not (
        site.method == "double" and site.receiver is not None and site.receiver.kind is Kind.MODULE
    ):
        return None
    if site.callee in _FACTORIES:
        place = site.argument(None, "device")
        if place is None and _is_kept(site, model) and not _is_few(site.result):
            return Confidence.POSSIBLE
        if place is None or not site.result.device & (DEVICE | ANYWHERE) or _is_few(site.result):
            return None
        # What starts at zero is a sum, and sums of long runs have reason to be exact.
        return Confidence.POSSIBLE if site.callee == "torch.zeros" else Confidence.LIKELY
    if site.callee in _FROM_DATA:
        known = site.argument(None, "device") is not None and site.result.rank != 0
        return Confidence.LIKELY if known and site.result.device & (DEVICE | ANYWHERE) else None
    receiver = site.receiver
    if receiver is None or receiver.dtype == "float64" or receiver.rank == 0 or site.method not in ("double", "to"):
        return None
    if receiver.device == DEVICE or (site.method == "to" and site.result.device == DEVICE):
        return Confidence.LIKELY
    moved = site.receiver_node
    if (
        isinstance(moved, cst.Call)
        and isinstance(moved.func, cst.Attribute)
        and moved.func.attr.value in ("to", "cuda")
    ):
        return Confidence.LIKELY
    return None if receiver.device == HOST and site.result.device == HOST else Confidence.POSSIBLE


def _is_kept(site: sites.Call, model: Model) -> bool:
    """Whether a module keeps it, as a parameter or a buffer, and takes it along to the device."""
    around = model.parent(site.node)
    call = model.call(model.parent(around) or around) if isinstance(around, cst.Arg) else None
    return call is not None and (call.callee == "torch.nn.Parameter" or call.method == "register_buffer")


def _is_few(value: Value) -> bool:
    sizes = () if value.rank == 0 else value.shape
    return sizes is not None and None not in sizes and prod(n or 0 for n in sizes) <= _FEW


def _array_that_moves(site: sites.Call) -> Value | None:
    """The array that a call copies to the device as it is."""
    if site.callee in _FROM_DATA:
        place, data = site.argument(None, "device"), site.argument(0, "data")
        if (
            place is None
            or data is None
            or data.value.kind is not Kind.NDARRAY
            or site.argument(1, "dtype") is not None
        ):
            return None
        return data.value if site.result.device & (DEVICE | ANYWHERE) else None
    if site.method not in ("to", "cuda") or site.receiver is None or site.receiver.kind is not Kind.TENSOR:
        return None
    if any(argument.value.kind in (Kind.DTYPE, Kind.TENSOR) for argument in site.arguments):
        return None
    transfer = transfers.transfer_of(site)
    if transfer is None or not transfer.source.on_host or transfers.reaches_device(transfer) is None:
        return None
    return transfer.source


def _is_double(value: Value, provenance: Provenance, depth: int) -> bool:
    """Whether an array, or a tensor over it, is float64 because nobody said otherwise."""
    if depth > 20 or value.dtype not in (None, "float64"):
        return False
    operands = provenance.operands(value)
    call = provenance.call(value)
    if call is None:
        # Arithmetic of arrays: float64 wins; indexing keeps the dtype.
        return any(
            _is_double(operand, provenance, depth + 1) for _, operand in operands or () if operand.kind is Kind.NDARRAY
        )
    callee = call.callee or ""
    if call.argument(None, "dtype") is not None:
        return False
    if callee in _DOUBLES:
        return True
    if call.method == "astype":
        wanted = call.argument(0, "dtype")
        return wanted is not None and (
            wanted.value.qual in ("numpy.float64", "numpy.double", "float") or wanted.value.const == "float64"
        )
    if (
        callee in ("torch.from_numpy", "torch.as_tensor")
        or callee in _KEEP
        or callee.startswith(("numpy.ndarray.", "torch.Tensor."))
    ):
        kinds = (Kind.NDARRAY, Kind.TENSOR, Kind.UNKNOWN)
        first = next((operand for _, operand in operands or () if operand.kind in kinds), None)
        return first is not None and _is_double(first, provenance, depth + 1)
    return False


def _made_double(value: Value, provenance: Provenance | None) -> sites.Call | None:
    """The call that made an array float64, where nothing but casts and arrangements stand between."""
    for _ in range(20):
        call = provenance.call(value) if provenance is not None else None
        if call is None or (call.callee or "") in _DOUBLES:
            return call
        operands = provenance.operands(value) if provenance is not None else None
        arrays = [operand for _, operand in operands or () if operand.kind in (Kind.NDARRAY, Kind.TENSOR)]
        if len(arrays) != 1:
            return None
        value = arrays[0]
    return None

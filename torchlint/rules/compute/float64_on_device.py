"""TL402: float64 tensors reach the device by a default, or without a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import arrays
from torchlint.knowledge.devices import PLACING
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, Report, Rule, RuleSet
from torchlint.rules.compute import _repairs
from torchlint.rules.compute._reasons import speaks_of, states_reason
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.rules.pipeline._provenance import Provenance
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import ANYWHERE, DEVICE, HOST, Kind, Value

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
_FOLLOWED: Final = 20  # calls from an array back to the one that made it
_DEFAULTS: Final = ("torch.set_default_dtype", "torch.set_default_tensor_type")
_NAMES: Final = ("torch.float64", "torch.double")
_SPEAKS: Final = re.compile(r"float64|fp64|\bdoubles?\b|precision", re.IGNORECASE)


class Float64OnDevice(Rule):
    code = "TL402"
    name = "float64-on-device"
    bottleneck = "compute"
    ruleset = RuleSet.EXTENDED  # whether doubles are wanted is often told elsewhere: SciPy, Gaussian processes
    summary = "Float64 tensors reach the device by NumPy's default, or without a stated reason"
    fix_availability = FixAvailability.SOMETIMES
    words = ("double", "Double", "float64", "numpy")
    words_travel = True

    def on_module(self, model: Model) -> Iterator[Report]:
        provenance: Provenance | None = None
        needing = _functions_that_need_it(model)
        for site in model.sites.calls:
            if surroundings.in_test(site.context) or model.is_test_file or site.context.owner in needing:
                continue
            asked, array = _asks_for_doubles(site, model), None
            moved = _doubles_that_move(site) if asked is None else None
            if moved is not None:
                provenance = provenance or Provenance(model)
                array = moved if _is_of_array(moved, provenance) else None
                if array is None and _kept_tensor(site) is not None:
                    continue  # reported where it is made
                asked = Confidence.LIKELY if array is not None else Confidence.POSSIBLE
            if asked is None:
                continue
            if (
                surroundings.in_worker(site.context)
                or states_reason(model, site.node)
                or speaks_of(site.context, _SPEAKS)
            ):
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
    if site.callee in _DEFAULTS:
        wanted = site.arguments[0].value if site.arguments else None
        if wanted is None or not (wanted.qual in _NAMES or "DoubleTensor" in (wanted.qual or str(wanted.const))):
            return None
        return Confidence.LIKELY if model.accelerated else Confidence.POSSIBLE
    if site.result.dtype != "float64" and not (
        site.method == "double" and site.receiver is not None and site.receiver.kind is Kind.MODULE
    ):
        return None
    if site.method != "double" and not any(argument.value.qual in _NAMES for argument in site.arguments):
        return None  # it follows another tensor's
    if site.callee in _FACTORIES:
        place = site.argument(None, "device")
        if place is None and _is_kept(site, model) and not _is_few(site.result):
            return Confidence.POSSIBLE
        if place is None or not site.result.device & (DEVICE | ANYWHERE) or _is_few(site.result):
            return None
        # What starts at zero is a sum, and sums of long runs have reason to be exact.
        return Confidence.POSSIBLE if site.callee == "torch.zeros" else Confidence.LIKELY
    if site.callee in _FROM_DATA:
        known = site.argument(None, "device") is not None and not _is_few(site.result) and not _is_short(site)
        return Confidence.LIKELY if known and site.result.device & (DEVICE | ANYWHERE) else None
    receiver = site.receiver
    if receiver is None or receiver.dtype == "float64" or receiver.rank == 0 or site.method not in ("double", "to"):
        return None
    if receiver.device == DEVICE or (site.method == "to" and site.result.device == DEVICE):
        return Confidence.LIKELY
    around = model.parent(site.node)
    then = model.parent(around) if isinstance(around, cst.Attribute) else None
    if any(_is_move(step) for step in (site.receiver_node, then)):
        return Confidence.LIKELY
    return None if receiver.device == HOST and site.result.device == HOST else Confidence.POSSIBLE


def _is_move(node: cst.CSTNode | None) -> bool:
    """Whether it is a call of `.cuda()` or `.to(...)`."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in PLACING


def _kept_tensor(site: sites.Call) -> Value | None:
    """What a module is given to keep, and takes along to the device."""
    kept = None
    if site.method == "register_buffer":
        kept = site.argument(1, "tensor")
    elif site.callee == "torch.nn.Parameter":
        kept = site.argument(0, "data")
    return kept.value if kept is not None and kept.value.kind is Kind.TENSOR else None


def _is_kept(site: sites.Call, model: Model) -> bool:
    """Whether a module keeps it, as a parameter or a buffer, and takes it along to the device."""
    around = model.parent(site.node)
    call = model.call(model.parent(around) or around) if isinstance(around, cst.Arg) else None
    return call is not None and (call.callee == "torch.nn.Parameter" or call.method == "register_buffer")


def _is_few(value: Value) -> bool:
    sizes = () if value.rank == 0 else value.shape
    return sizes is not None and None not in sizes and prod(n or 0 for n in sizes) <= _FEW


def _is_short(site: sites.Call) -> bool:
    """Whether the data is a list of a few numbers, as it is written."""
    data = site.argument(0, "data")
    return (
        data is not None
        and isinstance(data.node, (cst.List, cst.Tuple))
        and len(data.node.elements) <= _FEW
        and not any(member.kind in (Kind.CONTAINER, Kind.NDARRAY) for member in (data.value.items or {}).values())
    )


def _doubles_that_move(site: sites.Call) -> Value | None:
    """The float64 array or tensor that a call copies to the device as it is, or that a module takes along."""
    if site.callee in _FROM_DATA:
        place, data = site.argument(None, "device"), site.argument(0, "data")
        if (
            place is None
            or data is None
            or data.value.kind is not Kind.NDARRAY
            or data.value.dtype != "float64"
            or data.value.rank == 0
            or site.argument(1, "dtype") is not None
        ):
            return None
        return data.value if site.result.device & (DEVICE | ANYWHERE) else None
    kept = _kept_tensor(site)
    if kept is not None:
        return kept if kept.dtype == "float64" and kept.rank != 0 else None
    if site.method not in PLACING or site.receiver is None or site.receiver.kind is not Kind.TENSOR:
        return None
    if any(argument.value.kind in (Kind.DTYPE, Kind.TENSOR) for argument in site.arguments):
        return None
    transfer = transfers.transfer_of(site)
    if transfer is None or transfer.source.dtype != "float64" or _is_few(transfer.source):
        return None
    if not transfer.source.on_host or transfers.reaches_device(transfer) is None:
        return None
    return transfer.source


def _is_of_array(value: Value, provenance: Provenance) -> bool:
    """Whether it is an array, or a tensor over one."""
    for _ in range(_FOLLOWED):
        if value.kind is Kind.NDARRAY:
            return True
        operands = provenance.operands(value) or ()
        first = next((operand for _, operand in operands if operand.kind in (Kind.NDARRAY, Kind.TENSOR)), None)
        if first is None:
            return False
        value = first
    return False


def _made_double(value: Value, provenance: Provenance | None) -> sites.Call | None:
    """The call that made an array float64, where nothing but casts and arrangements stand between."""
    for _ in range(_FOLLOWED):
        call = provenance.call(value) if provenance is not None else None
        if call is None or (call.callee or "") in arrays.DOUBLES:
            return call
        operands = provenance.operands(value) if provenance is not None else None
        held = [operand for _, operand in operands or () if operand.kind in (Kind.NDARRAY, Kind.TENSOR)]
        if len(held) != 1:
            return None
        value = held[0]
    return None

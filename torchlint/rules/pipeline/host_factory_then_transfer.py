"""TL508: a tensor is filled on the host and copied, where the factory could make it on the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.rules.pipeline._provenance import Provenance
from torchlint.semantics import hotness, sites
from torchlint.semantics.functions import FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.values import ATTACHED, Kind, Value
from torchlint.source import written

# Factories that need nothing of the host, and those whose numbers are the same on every device.
_FILLS: Final = frozenset(
    f"torch.{name}"
    for name in """arange bartlett_window blackman_window empty eye full hamming_window hann_window kaiser_window
    linspace logspace ones rand randint randn randperm tril_indices triu_indices zeros""".split()
)
_EXACT: Final = frozenset(f"torch.{name}" for name in "empty eye full ones zeros".split())
# Operations whose arguments of unknown kind are sizes and numbers.
_TAKES_NUMBERS: Final = frozenset(
    """add add_ clamp clamp_ div div_ expand fill_ flip mul mul_ permute pow repeat repeat_interleave reshape roll
    squeeze sub sub_ tile transpose tril tril_ triu triu_ unsqueeze view""".split()
)
_HOST_ONLY: Final = ("generator", "pin_memory", "out")


class HostFactoryThenTransfer(Rule):
    code = "TL508"
    name = "host-factory-then-transfer"
    bottleneck = "pipeline"
    summary = "A tensor is filled on the host and copied to the device, where the factory could make it there"
    fix_availability = FixAvailability.SOMETIMES
    words = ("to", "cuda", "type_as")

    def on_module(self, model: Model) -> Iterator[Report]:
        provenance: Provenance | None = None
        for site in model.sites.calls:
            if (
                site.method not in ("to", "cuda", "xpu", "npu", "type_as")
                or site.receiver is None
                or site.receiver.kind is not Kind.TENSOR
            ):
                continue
            transfer = transfers.transfer_of(site)
            if transfer is None or not transfer.source.on_host or transfer.source.graph & ATTACHED:
                continue
            confidence = transfers.reaches_device(transfer)
            if confidence is None or hotness.in_worker(site.context):
                continue
            provenance = provenance or Provenance(model)
            made = _Making(provenance, site.context.owner)
            if not made.reads(site.receiver) or not made.is_all(model, site):
                continue
            hot = model.hot(site.context)
            if hot is None and _is_setup(site, model):
                confidence = Confidence.POSSIBLE
            yield Report(
                site.node,
                f"{quote(site.node)} fills a tensor on the host and copies it to the device",
                "make it there: pass `device=` to the factory",
                confidence,
                hot.reasons if hot is not None else (),
                _fix(site, made),
            )


def _is_setup(site: sites.Call, model: Model) -> bool:
    """Whether the code is known to run once, or to be a test or a benchmark."""
    owner = site.context.owner
    if owner is None or owner.role in (Role.SETUP, Role.TEST):
        return True
    return model.is_test_file or hotness.in_test(site.context) or model.in_measurement(site.context)


class _Making:
    """The steps that make a tensor out of nothing but sizes and numbers, on the host."""

    def __init__(self, provenance: Provenance, function: FunctionInfo | None) -> None:
        self.provenance = provenance
        self.function = function  # that makes it and moves it: what it holds from elsewhere was made once
        self.factories: list[sites.Call] = []
        self.steps: list[cst.CSTNode] = []
        self.consumed: set[cst.CSTNode] = set()

    def reads(self, value: Value) -> bool:
        """Whether the value is made by factories and arithmetic on their results alone."""
        origin = value.origin
        if (
            value.kind is not Kind.TENSOR
            or not value.on_host
            or origin is None
            or origin in self.steps
            or len(self.steps) > 40
        ):
            return value.kind is Kind.TENSOR and origin in self.steps
        call = self.provenance.call(value)
        self.steps.append(origin)
        if call is not None and call.context.owner is not self.function:
            return False
        if call is not None and call.callee in _FILLS:
            self.factories.append(call)
            return not any(call.argument(None, name) is not None for name in (*_HOST_ONLY, "device")) and not any(
                argument.value.is_tensor for argument in call.arguments
            )
        if call is not None and not (call.callee or "").startswith("torch."):
            return False
        operands = self.provenance.operands(value)
        if not operands:
            return False
        tensors = 0
        for node, operand in operands:
            if operand.is_tensor:
                if not self.reads(operand):
                    return False
                tensors += 1
                self.consumed.add(node)
            elif operand.kind is Kind.UNKNOWN and call is not None and call.method not in _TAKES_NUMBERS:
                return False
        return tensors > 0

    def is_all(self, model: Model, site: sites.Call) -> bool:
        """Whether nothing else reads what was made: then the host did not need it."""
        self.consumed.add(site.receiver_node)  # type: ignore[arg-type]
        return all(use in self.consumed for step in self.steps for use in model.uses.get(step, ()))


def _fix(site: sites.Call, made: _Making) -> NodeFix | None:
    """`torch.zeros(n).to(device)` as `torch.zeros(n, device=device)`."""
    factory = made.factories[0] if len(made.steps) == 1 else None
    if factory is None or factory.node is not site.receiver_node:
        return None
    place: cst.BaseExpression | None = None
    known = True  # that it is a device, and no dtype or tensor
    if site.method == "to" and len(site.arguments) == 1 and site.arguments[0].name in (None, "device"):
        given = site.arguments[0]
        place = given.node
        if given.value.kind is Kind.TENSOR or given.star or isinstance(place, cst.NamedExpr):
            return None
        known = given.name is not None or given.value.kind in (Kind.DEVICE, Kind.STRING)
    elif site.method != "cuda" or site.arguments:
        return None
    text = f"device={written.code(place)}" if place is not None else 'device="cuda"'
    whole = written.bare(factory.node)
    if "\n" in whole or not factory.node.args or any(argument.star == "**" for argument in factory.node.args):
        return None
    exact = factory.callee in _EXACT or (
        factory.callee == "torch.arange" and site.receiver is not None and site.receiver.dtype == "int64"
    )
    inside = whole[:-1].rstrip().rstrip(",")
    return NodeFix(
        Applicability.SAFE if exact and known else Applicability.UNSAFE,
        "Make it on the device",
        (NodeEdit(site.node, f"{inside}, {text})"),),
    )

"""TL508: a tensor is filled on the host and copied, where the factory could make it on the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.knowledge.devices import MOVES, PLACING
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.rules.pipeline._arrays import is_formula
from torchlint.rules.pipeline._provenance import Provenance
from torchlint.semantics import sites, surroundings
from torchlint.semantics.functions import FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import within
from torchlint.semantics.values import ATTACHED, MISSING, Kind, Value
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
_CASTS: Final = frozenset("bfloat16 bool double float half int long to type".split())
# What the host knows of a tensor wherever it is.
_KNOWN_OF_IT: Final = frozenset("device dim dtype ndim numel shape size".split())
_FROM_DATA: Final = ("torch.tensor", "torch.Tensor", "torch.FloatTensor")
_FROM_ARRAYS: Final = (*_FROM_DATA, "torch.as_tensor", "torch.from_numpy", "torch.LongTensor")
_HOST_ONLY: Final = ("generator", "pin_memory", "out")
_FAR: Final = 4  # operations from a factory to another copy
_MOST: Final = 40  # operations that are followed from a transfer back to the factories


class HostFactoryThenTransfer(Rule):
    code = "TL508"
    name = "host-factory-then-transfer"
    bottleneck = "pipeline"
    summary = "A tensor is filled on the host and copied to the device, where the factory could make it there"
    fix_availability = FixAvailability.SOMETIMES
    words = (*PLACING, "type_as")

    def on_module(self, model: Model) -> Iterator[Report]:
        provenance: Provenance | None = None
        for site in model.sites.calls:
            for transfer in _transfers_of(site, model):
                if not transfer.source.on_host or transfer.source.graph & ATTACHED or transfer.source.pinned:
                    continue  # pinned: meant to be copied beside other work
                confidence = transfers.reaches_device(transfer)
                if confidence is None or surroundings.in_worker(site.context):
                    continue
                provenance = provenance or Provenance(model)
                made = _Making(provenance, site.context.owner)
                if not made.reads(transfer.source) or not made.is_all(model, transfer):
                    continue
                hot = model.hot(site.context)
                if made.of_arrays or (hot is None and (_is_setup(site, model) or site.context.rare)):
                    confidence = Confidence.POSSIBLE
                yield Report(
                    site.node,
                    f"{quote(site.node)} fills a tensor on the host and copies it to the device",
                    "make it there: pass `device=` to the factory",
                    confidence,
                    hot.reasons if hot is not None else (),
                    _fix(site, made) if site.target is None else None,
                )


def _transfers_of(site: sites.Call, model: Model) -> Iterator[transfers.Transfer]:
    """The copies of a tensor to a device that a call makes: itself, or in the function of the program that it calls."""
    if site.target is not None:
        if any(argument.value.kind is Kind.TENSOR and argument.value.on_host for argument in site.arguments):
            for argument in transfers.moved_by(site, model):
                if argument.value.kind is Kind.TENSOR:
                    yield transfers.Transfer(site, argument.value, argument.node, site.result.device, None)
    elif site.method in (*PLACING, "type_as"):
        transfer = transfers.transfer_of(site)
        if transfer is not None and transfer.source.kind is Kind.TENSOR:
            yield transfer


def _is_setup(site: sites.Call, model: Model) -> bool:
    """Whether the code is known to run once, or to be a test or a benchmark."""
    owner = site.context.owner
    if owner is None or owner.role in (Role.SETUP, Role.TEST):
        return True
    return model.is_test_file or surroundings.in_test(site.context) or model.in_measurement(site.context)


class _Making:
    """The steps that make a tensor out of nothing but sizes and numbers, on the host."""

    def __init__(self, provenance: Provenance, function: FunctionInfo | None) -> None:
        self.provenance = provenance
        # That makes it and moves it, and what it calls to make it: what it holds from elsewhere was made once.
        self.functions = [function]
        self.factories: list[sites.Call] = []
        self.steps: list[cst.CSTNode] = []
        self.consumed: set[cst.CSTNode] = set()
        self.of_arrays = False  # the device may not have the same function

    def reads(self, value: Value) -> bool:
        """Whether the value is made by factories and arithmetic on their results alone, on each way to it."""
        if value.kind is not Kind.TENSOR or not value.on_host or not value.origins:
            return False
        return all(origin in self.steps or self._makes(origin) for origin in value.origins)

    def _makes(self, origin: cst.CSTNode) -> bool:
        if len(self.steps) > _MOST:
            return False
        call = self.provenance.call_at(origin)
        self.steps.append(origin)
        if call is not None and call.context.owner not in self.functions and not self._calls(call.context.owner):
            return False
        if call is not None and call.callee in _FILLS:
            self.factories.append(call)
            return not any(call.argument(None, name) is not None for name in (*_HOST_ONLY, "device")) and all(
                self._takes(argument.node, argument.value)
                for argument in call.arguments
                if argument.value.is_tensor and argument.value.conf > Confidence.POSSIBLE  # else a size, more likely
            )
        if call is not None and call.callee == "torch.tensor" and not isinstance(call.arguments[0].node, cst.ListComp):
            data = call.argument(0, "data")
            return data is not None and data.value.kind is Kind.NUMBER and call.argument(None, "device") is None
        if call is not None and call.callee in _FROM_ARRAYS and call.arguments[:1]:
            data = call.arguments[0]
            if data.value.kind is Kind.NDARRAY:
                self.factories.append(call)
                self.of_arrays = True
                return is_formula(self.provenance, data.node)
        if call is not None and call.callee in _FROM_DATA:
            self.factories.append(call)
            return len(self.steps) > 1 and bool(call.arguments) and _is_formula(call.arguments[0].node)
        if call is not None and not (call.callee or "").startswith("torch."):
            return False
        operands = self.provenance.operands_at(origin)
        if not operands:
            return False
        tensors = 0
        for node, operand in operands:
            if operand.kind is Kind.NDARRAY and operand.rank != 0:
                return False  # data of the host
            if operand.is_tensor:
                is_number = call is not None and call.method in _TAKES_NUMBERS and node is not call.receiver_node
                if is_number and operand.conf is Confidence.POSSIBLE:
                    continue
                if not self._takes(node, operand):
                    return False
                tensors += 1
            elif operand.kind is Kind.UNKNOWN and call is not None and call.method not in _TAKES_NUMBERS:
                return False
        return tensors > 0

    def _takes(self, node: cst.CSTNode, operand: Value) -> bool:
        self.consumed.add(node)
        return self.reads(operand)

    def _calls(self, maker: FunctionInfo | None) -> bool:
        """Whether one of the functions calls the one that made it."""
        given = maker is not None and any(
            outer.target is maker and outer.context.owner in self.functions
            for outer in self.provenance.model.sites.calls
        )
        if given:
            self.functions.append(maker)
        return given

    def is_all(self, model: Model, transfer: transfers.Transfer) -> bool:
        """Whether nothing else reads what was made, but its sizes: then the host did not need it."""
        self.consumed.add(transfer.node)
        uses = (use for step in self.steps for use in model.uses.get(step, ()))
        return bool(self.factories) and all(
            self._is_consumed(use, model)
            or self._asks_of(use, model)
            or self._fills(use, model)
            or self._is_passed(use, model)
            or self._goes_along(use, model)
            or _is_moved(use, transfer, model)
            or _is_either(use, transfer, model)
            for use in uses
        )

    def _is_consumed(self, use: cst.BaseExpression, model: Model) -> bool:
        """Whether one of the steps took it, alone or in a list."""
        node: cst.CSTNode | None = use
        while node is not None and node not in self.consumed:
            around = model.parent(node)
            if isinstance(around, cst.Subscript) and around.value is node:
                node = around
            else:
                node = model.parent(around) if isinstance(around, (cst.Element, cst.StarredElement)) else None
        return node is not None

    def _is_passed(self, use: cst.BaseExpression, model: Model) -> bool:
        """Whether a use hands it to a function that helps to make it, or back from one: what is done there counts."""
        around = model.parent(use)
        if isinstance(around, cst.Return):
            return any(maker is not None and _lies_in(use, maker, model) for maker in self.functions[1:])
        outer = self.provenance.call_at(model.parent(around) or around) if isinstance(around, cst.Arg) else None
        return outer is not None and outer.target is not None and outer.target in self.functions

    def _fills(self, use: cst.BaseExpression, model: Model) -> bool:
        """Whether a use writes what was made as well into a part of it: `table[:, 0::2] = torch.sin(angles)`."""
        place = model.parent(use)
        target = model.parent(place) if isinstance(place, cst.Subscript) and place.value is use else None
        written_by = model.parent(target) if isinstance(target, cst.AssignTarget) else None
        if not isinstance(written_by, cst.Assign):
            return False
        value = model.value(written_by.value)
        if value.kind is Kind.NUMBER:
            return value.const is not MISSING or not _in_loop(written_by, model)  # data of the host, row by row
        return self._takes(written_by.value, value)

    def _asks_of(self, use: cst.BaseExpression, model: Model) -> bool:
        """Whether a use asks for what the host knows of a tensor, copies it as well, or changes it by what was made."""
        attribute = model.parent(use)
        if not isinstance(attribute, cst.Attribute) or attribute.value is not use:
            return False
        if attribute.attr.value in _KNOWN_OF_IT:
            return True
        call = self.provenance.call_at(model.parent(attribute) or attribute)
        if call is None or call.receiver_node is not use:
            return False
        if self._is_copied(call, model):
            return True  # the other half of `torch.meshgrid`, say
        return (call.method or "").endswith("_") and all(
            self._takes(a.node, a.value) for a in call.arguments if a.value.is_tensor
        )

    def _goes_along(self, use: cst.CSTNode, model: Model, depth: int = 0) -> bool:
        """Whether all that a use computes is copied as well: the sine beside the cosine of a table's angles."""
        around = model.parent(use)
        if isinstance(around, (cst.Attribute, cst.Arg)):
            around = model.parent(around)
        made = around if isinstance(around, (cst.Call, cst.BinaryOperation, cst.UnaryOperation)) else None
        if made is None or depth > _FAR or not (model.value(made).is_tensor and model.value(made).on_host):
            return False
        attribute = model.parent(made)
        call = (
            self.provenance.call_at(model.parent(attribute) or made) if isinstance(attribute, cst.Attribute) else None
        )
        if call is not None and call.receiver_node is made and self._is_copied(call, model):
            return True
        uses = model.uses.get(made, ())
        return (
            all(
                self._asks_of(one, model) or self._is_passed(one, model) or self._goes_along(one, model, depth + 1)
                for one in uses
            )
            if uses
            else self._goes_along(made, model, depth + 1)
        )

    def _is_copied(self, call: sites.Call, model: Model) -> bool:
        """Whether a method copies a tensor to a device, perhaps in another type: `x.float().to(place)`."""
        if call.method in PLACING:
            return not call.result.on_host
        attribute = model.parent(call.node) if call.method in _CASTS else None
        if not isinstance(attribute, cst.Attribute):
            return False
        outer = self.provenance.call_at(model.parent(attribute) or attribute)
        return outer is not None and outer.receiver_node is call.node and self._is_copied(outer, model)


def _in_loop(node: cst.CSTNode, model: Model) -> bool:
    """Whether a statement stands in a loop of its function."""
    around = model.parent(node)
    while around is not None and not isinstance(around, (cst.FunctionDef, cst.For, cst.While)):
        around = model.parent(around)
    return isinstance(around, (cst.For, cst.While))


def _is_formula(node: cst.BaseExpression) -> bool:
    """Whether a list is computed from the numbers of a range: no data that is looked up, or counted, goes into it."""
    if not isinstance(node, cst.ListComp) or node.for_in.inner_for_in is not None:
        return False
    walked = node.for_in.iter
    return (
        isinstance(walked, cst.Call)
        and isinstance(walked.func, cst.Name)
        and walked.func.value == "range"
        and not any(
            isinstance(part, cst.Subscript) or (isinstance(part, cst.Name) and part.value == "len")
            for part in within([node])
        )
    )


def _is_moved(use: cst.BaseExpression, transfer: transfers.Transfer, model: Model) -> bool:
    """Whether a use stands in the function that makes the copy: it moves whatever it is given."""
    target = transfer.site.target
    return target is not None and _lies_in(use, target, model)


def _is_either(use: cst.BaseExpression, transfer: transfers.Transfer, model: Model) -> bool:
    """Whether a use is of what was made or moved, whichever it is: `x = x.cuda() if cuda else x`, and behind that."""
    around = model.parent(use)
    left = isinstance(around, cst.IfExp) and transfer.site.node in (around.body, around.orelse)
    return left or model.value(use).may_be_device


def _lies_in(use: cst.BaseExpression, function: FunctionInfo, model: Model) -> bool:
    node: cst.CSTNode | None = use
    while node is not None and node is not function.node:
        node = model.parent(node)
    return node is not None


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
    elif site.method not in MOVES or site.arguments:
        return None
    text = f"device={written.code(place)}" if place is not None else f'device="{site.method}"'
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

"""TL505: a copy to the host is read before anything waited for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.knowledge import names as known
from torchlint.knowledge.devices import MOVES
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.pipeline import _repairs
from torchlint.rules.pipeline._order import Order, Orders
from torchlint.rules.pipeline._transfers import transfer_of
from torchlint.semantics import sites
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.values import DEVICE, HOST, Kind, Value
from torchlint.source import written

# Methods that look at the tensor's description, or move it on in the order of the stream, not at its data.
_NOT_READING: Final = frozenset(
    """size dim stride numel nelement element_size data_ptr is_pinned is_contiguous storage_offset untyped_storage
    to copy_ record_stream share_memory_""".split()
) | frozenset(MOVES)
_READING_METHODS: Final = known.TENSOR_ONLY_METHODS | known.REDUCTIONS | {"numpy", "tolist", "item"}
# Functions that read what they are given; `list` and `tuple` only put it together.
_READING_CALLS: Final = frozenset(
    "abs all any bool complex float int math.isnan math.sqrt max min print repr round sorted str sum".split()
)


_Read = tuple[cst.BaseExpression | cst.AugAssign, cst.Call, FunctionInfo, Confidence]


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy under way: `start` is the call that began it, `confidence` how sure it is that it crosses."""

    start: cst.Call
    confidence: Confidence


class DeviceToHostRace(Rule):
    code = "TL505"
    name = "device-to-host-race"
    bottleneck = "pipeline"
    summary = "A non-blocking copy to the host is read before anything waited for it"
    fix_availability = FixAvailability.SOMETIMES
    words = ("non_blocking",)

    def on_module(self, model: Model) -> Iterator[Report]:
        copies = {copy.start: copy for site in model.sites.calls if (copy := _copy_of(site)) is not None}
        if not copies:
            return
        reads = _Reads(model, copies)
        reported: set[tuple[cst.CSTNode, cst.CSTNode]] = set()
        for reader, start, function, confidence in sorted(reads.find(), key=reads.when):
            copy = copies[start]
            if (start, function.node) in reported or not reads.races(start, reader, function):
                continue
            reported.add((start, function.node))
            yield Report(
                reader,
                f"{quote(reader)} reads what {quote(start)} may still be copying: nothing waits for the copy first",
                "drop `non_blocking=True`, or record an event after the copy and synchronize it before reading",
                min(confidence, copy.confidence),
                (("the copy starts here", start),),
                _repairs.blocking(started) if (started := model.call(start)) is not None else None,
                Impact.HIGH,  # wrong results, whatever the time
            )


def _copy_of(site: sites.Call) -> _Copy | None:
    transfer = transfer_of(site)
    if transfer is None or not transfer.non_blocking or transfer.goes_to != HOST or transfer.source.on_host:
        return None
    if site.method == "copy_" and not (site.receiver is not None and site.receiver.pinned):
        return None
    source = transfer.source
    certain = source.kind is Kind.TENSOR and source.device == DEVICE and source.conf is Confidence.SURE
    return _Copy(site.node, Confidence.SURE if certain else Confidence.LIKELY)


def _is_host_module(called: Value) -> bool:
    """Whether what is called was moved to the host, as modules are: it computes there with what it is given."""
    return called.device == HOST and (
        called.kind is Kind.MODULE
        or any(
            isinstance(origin, cst.Call)
            and isinstance(origin.func, cst.Attribute)
            and origin.func.attr.value in ("to", "cpu")
            for origin in called.origins
        )
    )


def _place(origin: cst.CSTNode) -> cst.CSTNode | str:
    """What stands for the memory behind an origin: for a part of a tensor its text, as `host[:n]` is written again."""
    return written.code(origin) if isinstance(origin, cst.Subscript) else origin


class _Reads:
    """Where host tensors that a copy writes are read, and whether something waits before that."""

    def __init__(self, model: Model, copies: dict[cst.Call, _Copy]) -> None:
        self.model = model
        # What stands for the tensor of a copy: the call that made it, or the view or name of it.
        self.aliases: dict[cst.CSTNode, cst.Call] = {}
        self.buffers: dict[cst.CSTNode | str, list[cst.Call]] = {}  # by what made them, or how a part is written
        self.orders = Orders(model)
        for site in model.sites.calls:
            if site.node in copies:
                if site.method == "copy_" and site.receiver is not None:
                    for origin in site.receiver.origins:
                        self.buffers.setdefault(_place(origin), []).append(site.node)
                self.aliases[site.node] = site.node

    def find(self) -> Iterator[_Read]:
        """Each read, the copy it may see, the function it stands in, and how sure that is."""
        model = self.model
        for site in model.sites.calls:
            function = model.function_of(site.context)
            receiver = site.receiver
            if receiver is not None and site.method is not None:
                for start in self.copies_in(receiver, site.node, function):
                    if site.method in known.VIEWS or site.method in known.PERHAPS_VIEWS or site.method == "pin_memory":
                        self.aliases.setdefault(site.node, start)
                    elif site.method == "numpy" and self.is_handed_on(site):
                        continue
                    elif self.reads_receiver(receiver, site.method):
                        yield site.node, start, function, self.sureness(receiver)
            if self.reads_arguments(site):
                for argument in site.arguments:
                    for start in self.copies_in(argument.value, site.node, function):
                        yield site.node, start, function, self.sureness(argument.value)
        for text in model.sites.formats:
            function = model.function_of(text.context)
            for start in self.copies_in(text.value, text.node, function):
                yield text.node, start, function, self.sureness(text.value)
        for truth in model.sites.truths:
            function = model.function_of(truth.context)
            for start in self.copies_in(truth.value, truth.node, function):
                yield truth.node, start, function, self.sureness(truth.value)
        for binary in model.sites.binaries:
            function = model.function_of(binary.context)
            if Kind.CONTAINER in (binary.left.kind, binary.right.kind):
                continue  # lists that are joined, not what they hold
            for operand in (binary.left, binary.right):
                for start in self.copies_in(operand, binary.node, function):
                    yield binary.node, start, function, self.sureness(operand)
        for subscript in model.sites.subscripts:
            function = model.function_of(subscript.context)
            if subscript.mode == "read" and subscript.base.kind is not Kind.CONTAINER and subscript.indices:
                for start in self.copies_in(subscript.base, subscript.node, function):
                    yield subscript.node, start, function, self.sureness(subscript.base)

    def when(self, read: _Read) -> int:
        """When the function that reads comes to it."""
        return self.orders.of(read[2]).at(read[0])

    def sureness(self, value: Value) -> Confidence:
        """One copy made the value, or it is one of several things."""
        return Confidence.LIKELY if len(value.origins) <= 1 else Confidence.POSSIBLE

    def copies_in(self, value: Value, reader: cst.CSTNode, function: FunctionInfo) -> list[cst.Call]:
        """The copies that write a value, or an element of it."""
        found: list[cst.Call] = []
        if value.kind is Kind.CONTAINER:
            if value.elem is not None and value.elem.kind is not Kind.CONTAINER:
                found += self.copies_in(value.elem, reader, function)
            return found
        if value.device and not value.device & HOST:
            return found
        for origin in value.origins:
            start = self.aliases.get(origin)
            if start is not None and start is not reader:
                found.append(start)
            for start in self.buffers.get(_place(origin), ()):
                if start is not reader and not self.is_before(reader, start, function):
                    found.append(start)
        return found

    def reads_receiver(self, receiver: Value, method: str) -> bool:
        """Whether a method looks at the data of the tensor; what is not known to be one may be a module."""
        if receiver.kind is Kind.CONTAINER or method in _NOT_READING:
            return False
        return receiver.kind is not Kind.UNKNOWN or method in _READING_METHODS

    def is_handed_on(self, site: sites.Call) -> bool:
        """Whether the array, which shares the copy's memory, is returned or kept in a file that waits for events."""
        around = self.model.parent(site.node)
        kept = isinstance(around, cst.Return) or (
            isinstance(around, cst.Assign) and any(isinstance(t.target, cst.Attribute) for t in around.targets)
        )
        return kept and any(
            call.method == "synchronize" and call.receiver is not None and call.receiver.kind is Kind.EVENT
            for call in self.model.sites.calls
        )

    def reads_arguments(self, site: sites.Call) -> bool:
        callee = site.callee or ""
        if _is_host_module(site.function):
            return True
        if site.target is not None:
            return False
        if callee in _READING_CALLS or callee.startswith("numpy."):
            return True
        if not callee.startswith("torch.") or site.method == "copy_":
            return False
        last = callee.rsplit(".", 1)[-1]
        describes = last in known.VIEWS or last in known.LIKE_FACTORIES or last.startswith(("is_", "save_for_"))
        return not describes and callee != "torch.Tensor.to"

    # Order

    def is_before(self, first: cst.CSTNode, second: cst.CSTNode, function: FunctionInfo) -> bool:
        order = self.orders.of(function)
        return first in order and second in order and order.at(first) < order.at(second)

    def races(self, start: cst.Call, reader: cst.CSTNode, function: FunctionInfo) -> bool:
        """Whether the host comes from the copy to the read without a wait, in one way that the file shows."""
        order = self.orders.of(function)
        read = order.at(reader)
        if start in order:
            return order.at(start) < read and not order.waits(order.at(start), read)
        begun = [at for at in self.calls_reaching(order, start) if at < read]
        if begun:
            within = self.orders.holding(start)
            return (
                not order.waits(max(begun), read)
                and within is not None
                and not within.waits(within.at(start), within.end)
            )
        if order.waits(-1, read):
            return False
        for caller in function.callers:
            above = self.orders.of(self.model.function_of(caller.context))
            if caller.node in above and start in above:
                begin, call = above.at(start), above.at(caller.node)
                if begin < call and not above.waits(begin, call):
                    return True
        return False

    def calls_reaching(self, order: Order, start: cst.Call) -> Iterator[int]:
        """When a function calls a function of this file that begins the copy."""
        for effect in order.function.effects:
            if effect.callee is not None and effect.node in order and start in self.orders.of(effect.callee):
                yield order.at(effect.node)

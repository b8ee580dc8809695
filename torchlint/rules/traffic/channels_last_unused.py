"""TL310: a convolutional network runs in half precision with its channels first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.knowledge.devices import MOVES, PLACING
from torchlint.rules._repairs import Unfit, add_argument, repair, spell
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeFix, Report, Rule, RuleSet
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import below
from torchlint.semantics.values import DEVICE, HOST, Kind, Value

_HALF: Final = frozenset({"float16", "bfloat16"})
_CONVOLUTIONS: Final = frozenset({"torch.nn.Conv2d", "torch.nn.ConvTranspose2d"})
_LAYOUT: Final = "channels_last"
_DEPTH: Final = 6  # modules within modules


class ChannelsLastUnused(Rule):
    code = "TL310"
    name = "channels-last-unused"
    bottleneck = "traffic"
    summary = "A convolutional network runs in half precision with its channels first"
    ruleset = RuleSet.EXTENDED
    fix_availability = FixAvailability.SOMETIMES
    torch = "1.5"
    calls = (*(f".{name}" for name in PLACING), ".half", ".bfloat16")
    words = ("Conv2d", "ConvTranspose2d")
    words_travel = True

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        network = site.receiver
        if network is None or network.kind is not Kind.MODULE or surroundings.in_test(site.context) or not _moves(site):
            return
        if (
            not _convolves(network, 0, set())
            or not (_is_half(site) or _was_halved(network, model) or _runs_in_half(network, model))
            or any(map(_knows_channels_last, model.everywhere(_LAYOUT)))
        ):
            return
        yield Report(
            site.node,
            "the convolutions of "
            f"{quote(site.receiver_node) if site.receiver_node is not None else 'the network'} run in half "
            "precision with their channels first: the tensor cores' kernels transpose every input and output",
            "move the network and its inputs with `memory_format=torch.channels_last`",
            Confidence.LIKELY,
            fix=_repaired(model, site),
        )


def _moves(site: sites.Call) -> bool:
    """Whether the call may bring the network to a device: `.to(dtype)` alone does not."""
    if site.method == "to":
        return any(
            a.value.kind in (Kind.DEVICE, Kind.STRING, Kind.UNKNOWN) and a.value.device & ~HOST for a in site.arguments
        )
    return site.method in MOVES or (site.receiver is not None and bool(site.receiver.device & DEVICE))


def _is_half(site: sites.Call) -> bool:
    if site.method in ("half", "bfloat16"):
        return True
    return any(argument.value.kind is Kind.DTYPE and argument.value.dtype in _HALF for argument in site.arguments)


def _was_halved(network: Value, model: Model) -> bool:
    """Whether another call brings the same network to half precision."""
    return any(
        site.receiver is not None
        and site.receiver.kind is Kind.MODULE
        and bool(set(site.receiver.origins) & set(network.origins))
        and _is_half(site)
        for other in model.together
        for site in other.sites.calls
    )


def _runs_in_half(network: Value, model: Model) -> bool:
    """Whether its own file casts on the way, or another in which the network is run."""
    return any(
        flag.startswith("autocast")
        for other in model.together
        if other is model or any(set(network.origins) & set(call.function.origins) for call in other.sites.calls)
        for block in other.sites.withs
        for flag in block.context.flags
    )


def _convolves(value: Value | None, depth: int, seen: set[Value]) -> bool:
    """Whether a module is, or holds, a two-dimensional convolution."""
    if value is None or depth > _DEPTH or value in seen:
        return False
    seen.add(value)
    if value.qual in _CONVOLUTIONS:
        return True
    held = [value.elem, *(value.items or {}).values()]
    if value.cls is not None:
        held += [stored for stores in value.cls.stores.values() for stored in stores.values()]
    return any(
        _convolves(item, depth + 1, seen)
        for item in held
        if item is not None and item.kind in (Kind.MODULE, Kind.CONTAINER)
    )


def _knows_channels_last(model: Model) -> bool:
    """Whether the file speaks of `channels_last` anywhere."""
    return any(
        (isinstance(node, cst.Name) and node.value.startswith(_LAYOUT))
        or (isinstance(node, cst.SimpleString) and _LAYOUT in node.value)
        for node in below(model.module)
    )


@repair
def _repaired(model: Model, moved: sites.Call) -> NodeFix:
    """`memory_format=torch.channels_last` where a network is moved; its inputs need the same, which a person adds."""
    if moved.method != "to" or moved.opaque_arguments:
        raise Unfit
    written, imports = spell(model, "torch.channels_last")
    edit = add_argument(moved.node, f"memory_format={written}")
    return NodeFix(Applicability.DISPLAY, "Move the network and its inputs as channels last", (edit,), imports)

"""Which calls wait for the device, looked up in what was measured (`torchlint.knowledge.waits`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from torchlint.knowledge import waits
from torchlint.semantics import sites
from torchlint.semantics.values import MISSING, Kind, Value

_ON_DEVICE: Final = frozenset(("device", "device scalar"))


def name_of(site: sites.Call) -> str | None:
    """What is called, as the table names it: `torch.f`, or `.f` for a method of a tensor or of something unknown."""
    callee = site.callee or ""
    if callee.startswith("torch.Tensor."):
        return callee.removeprefix("torch.Tensor")
    receiver = site.receiver
    if (
        receiver is not None
        and receiver.kind in (Kind.MODULE, Kind.OPTIMIZER)
        and receiver.cls is None
        and receiver.qual
        and site.method
        and site.function.kind is not Kind.MODULE
    ):
        return f"{receiver.qual}.{site.method}"
    if callee:
        return callee
    return f".{site.method}" if receiver is not None and receiver.kind is Kind.UNKNOWN and site.method else None


def waits_as_called(site: sites.Call, name: str) -> bool | None:
    """Whether the call, as it is written, was measured to wait; None where that was not measured."""
    for subject in waits.kin(name):
        answer = waits.waits(subject, _states(site, subject, name))
        if answer is not None:
            return answer
    return None


def names(wanted: Collection[str]) -> tuple[str, ...]:
    """The functions and methods that were measured to wait for a tensor in one of these parameters, and their kin."""
    measured = [
        subject
        for subject in waits.waiting()
        if "[" not in subject
        and any(name in wanted and _ON_DEVICE & found for name, found in waits.states(subject).items())
    ]
    found: dict[str, None] = {}
    for subject in measured:
        found[subject] = None
        found |= dict.fromkeys(relative for relative, of in waits.RELATIVES.items() if of == subject)
        if subject.startswith("."):
            found[f"torch{subject}"] = None
        elif subject.count(".") == 1 and waits.PARAMETERS.get(subject, ())[:1] in (("input",), ("tensor",)):
            found[subject.removeprefix("torch")] = None
    return tuple(found)


def numbers(site: sites.Call, wanted: Collection[str]) -> Iterator[sites.Argument]:
    """The arguments for these parameters that must be Python numbers, so that a tensor on the device is waited for."""
    name = name_of(site)
    if name is None:
        return
    for subject in waits.kin(name):
        for parameter, measured in waits.states(subject).items():
            on_device = _ON_DEVICE & measured
            if parameter not in wanted or not on_device:
                continue
            for argument in _given(site, subject, name, parameter):
                state = {parameter: min(on_device)}
                answer = waits.waits(subject, _states(site, subject, name) | state)
                if answer if answer is not None else waits.waits(subject, state):
                    yield argument


def _given(site: sites.Call, subject: str, name: str, parameter: str) -> list[sites.Argument]:
    """The arguments for a parameter: several where it takes all positional ones."""
    named = site.argument(None, parameter)
    if named is not None:
        return [named]
    order = waits.parameters(subject, name)
    if f"*{parameter}" in order:
        first = order.index(f"*{parameter}")
        return [argument for argument in site.arguments if argument.name is None and not argument.star][first:]
    given = site.argument(order.index(parameter)) if parameter in order else None
    return [given] if given is not None else []


def _states(site: sites.Call, subject: str, name: str) -> dict[str, str]:
    """What is known of the arguments on which it depends whether a subject waits."""
    known: dict[str, str] = {}
    for parameter, measured in waits.states(subject).items():
        given = _given(site, subject, name, parameter)
        if given:
            state = _state(given[0].value, measured)
        else:
            state = None if site.opaque_arguments else "absent"
        if state is not None and state in measured:
            known[parameter] = state
    return known


def _state(value: Value, measured: frozenset[str]) -> str | None:
    if value.const is not MISSING and str(value.const) in measured:
        return str(value.const)
    if isinstance(value.const, bool):
        return str(value.const).lower()
    if value.kind is Kind.NONE:
        return "absent"
    if "given" in measured and value.const is not MISSING:
        return "absent" if value.const == -1 else "given"
    if value.kind in (Kind.NUMBER, Kind.CLOCK, Kind.SHAPE):
        return "given" if "given" in measured else "number"
    if value.kind is Kind.TENSOR:
        place = "host" if value.on_host else "device"
        for state in (place, f"{place} scalar"):
            if state in measured:
                return state
    if value.kind is Kind.CONTAINER and value.elem is not None and value.elem.kind is Kind.NUMBER:
        return "number"
    return "given" if "given" in measured else None

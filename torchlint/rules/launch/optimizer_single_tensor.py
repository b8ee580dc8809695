"""TL205: an optimizer updates its parameters one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _repairs
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import DEVICE, MISSING, Kind, Value

_FOREACH: Final = frozenset("Adadelta Adagrad Adam AdamW Adamax ASGD NAdam RAdam RMSprop Rprop SGD Adafactor".split())
_FUSED: Final = frozenset("Adam AdamW SGD Adagrad".split())


class OptimizerSingleTensor(Rule):
    code = "TL205"
    name = "optimizer-single-tensor"
    bottleneck = "launch"
    summary = "An optimizer updates its parameters one by one: `foreach=False`"
    fix_availability = FixAvailability.SOMETIMES
    torch = "2.0"
    calls = (*(f"torch.optim.{name}" for name in sorted(_FOREACH)), "functools.partial")
    words = ("foreach", *sorted(_FUSED))

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        name = _optimizer(site)
        if name not in _FOREACH or surroundings.in_test(site.context):
            return
        foreach, fused = _option(site, "foreach"), _option(site, "fused")
        if foreach is not None and foreach.const is False:
            differentiable = _option(site, "differentiable")
            if any(option is not None and option.const in (True, MISSING) for option in (fused, differentiable)):
                return
            faster = "`fused=True`" if name in _FUSED else "the default"
            yield Report(
                site.node,
                f"`foreach=False` makes `{name}` launch its kernels anew for every parameter on every step",
                f"leave `foreach` out, or take {faster}",
                Confidence.SURE,
                fix=_repairs.drop_foreach(site),
            )
        elif name in _FUSED and foreach is None and fused is None and _on_device(site):
            yield Report(
                site.node,
                f"{quote(site.node)} works on parameters of a CUDA device and leaves `fused` unset",
                "pass `fused=True`, which updates all parameters in one or a few launches",
                Confidence.POSSIBLE,
            )


def _optimizer(site: sites.Call) -> str | None:
    """The optimizer's class that is constructed, or prepared by `functools.partial`."""
    qual = site.function.qual
    if site.callee == "functools.partial":
        qual = site.arguments[0].value.qual if site.arguments else None
    namespace, _, last = (qual or "").rpartition(".")
    return last if namespace == "torch.optim" else None


def _option(site: sites.Call, name: str) -> Value | None:
    """A keyword's value, also out of `**options` whose entries are written in the file; unknown options hide it."""
    argument = site.argument(None, name)
    if argument is not None:
        return argument.value
    for argument in site.arguments:
        if argument.star == "**":
            items = argument.value.items
            if items is None:
                return argument.value.but(const=MISSING)
            if name in items:
                return items[name]
    return None


def _on_device(site: sites.Call) -> bool:
    parameters = site.argument(0, "params")
    return parameters is not None and parameters.value.kind is Kind.PARAMETERS and parameters.value.device == DEVICE

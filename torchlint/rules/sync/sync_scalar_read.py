"""TL101: a device tensor is read as a Python number on the hot path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._uses import inherent
from torchlint.rules.sync._waits import Wait, as_number, waits
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Iterates
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value

_METHODS: Final = (".item", ".__float__", ".__int__", ".__complex__")
_BUILTINS: Final = ("float", "int", "complex", "operator.index")
_MATH: Final = tuple(
    f"math.{name}"
    for name in """acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp
    exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot isclose isfinite isinf isnan isqrt lcm ldexp lgamma
    log log10 log1p log2 modf nextafter perm pow prod radians remainder sin sinh sqrt sumprod tan tanh trunc
    ulp""".split()
)
# Loggers that turn a tensor they are given into a number at once, and the argument that holds it.
_LOGGERS: Final[dict[str, int]] = {
    ".add_scalar": 1,
    ".add_scalars": 1,
    "wandb.log": 0,
    "mlflow.log_metric": 1,
    "mlflow.log_metrics": 0,
}


_MAKERS: Final = ("torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.LongTensor", "torch.Tensor")


class SyncScalarRead(Rule):
    code = "TL101"
    name = "sync-scalar-read"
    bottleneck = "sync"
    summary = "A device tensor is read as a Python number on the hot path"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("map", *_METHODS, *_BUILTINS, *_MATH, *_LOGGERS, *_MAKERS)
    words = (
        "item",
        "float",
        "int",
        "complex",
        "math",
        "__float__",
        "__int__",
        "index",
        "add_scalar",
        "tensor",
        "as_tensor",
        "FloatTensor",
        "LongTensor",
        "wandb",
        "mlflow",
    )

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if f".{site.method}" in _METHODS:
            if site.receiver is not None and site.receiver_node is not None and not site.arguments:
                yield from _report(site, model, site.receiver, site.receiver_node, by_method=True)
            return
        name = site.callee if site.callee in _LOGGERS else f".{site.method}"
        if name in _LOGGERS:
            logged = site.argument(_LOGGERS[name])
            if logged is not None:
                value = _scalar_in(logged.value)
                if value.kind is Kind.TENSOR:
                    yield from _report(site, model, value, logged.node, logs=True)
            return
        if site.callee == "map":
            read = _mapped_number(site)
            if read is not None:
                yield from _report(site, model, read, site.arguments[1].node)
            return
        if site.callee in _MAKERS:
            data = site.argument(0, "data")
            read = next(_numbers_in(data.value), None) if data is not None else None
            if data is not None and read is not None:
                yield from _report(site, model, read, data.node)
            return
        for argument in site.arguments[:2]:
            value = argument.value if model.uses_numpy else as_number(argument.value, argument.node)
            if value.is_tensor:
                yield from _report(site, model, value, argument.node)
                return


def _mapped_number(site: sites.Call) -> Value | None:
    """The tensor that `map(float, losses)` or `map(torch.Tensor.item, losses)` reads on each round."""
    if len(site.arguments) < 2 or site.arguments[0].value.qual not in (*_BUILTINS, "torch.Tensor.item"):
        return None
    walked = site.arguments[1].value
    read = walked.elem if walked.kind is Kind.CONTAINER else walked if walked.kind is Kind.TENSOR else None
    return read if read is not None and read.is_tensor else None


def _numbers_in(value: Value) -> Iterator[Value]:
    """The tensors in a list, or in lists of it, of which a new tensor is made: each is read as the number it holds."""
    if value.kind is Kind.CONTAINER and value.qual in ("list", "tuple"):
        for inner in (value.items or {}).values() or ([value.elem] if value.elem is not None else []):
            if inner.kind is Kind.TENSOR and inner.may_be_device:
                yield inner
            else:
                yield from _numbers_in(inner)


def _scalar_in(value: Value) -> Value:
    """The value, or where it is a container, a tensor it holds."""
    if value.kind is not Kind.CONTAINER:
        return value
    held = [*(value.items or {}).values(), *([value.elem] if value.elem is not None else [])]
    return next((inner for inner in held if inner.kind is Kind.TENSOR and not inner.on_host), value)


def _one_by_one(wait: Wait, context: Context) -> bool:
    """Whether it reads element after element, where one copy would bring all that the host needs."""
    if wait.hot is not None and wait.hot.rate is Iterates.ELEMENTS:
        return True
    loop = next((loop.loop for loop in context.enclosing_loops()), None)
    return loop is not None and loop.iterable is not None and loop.iterable.is_tensor


def _report(
    site: sites.Call,
    model: Model,
    value: Value,
    read: cst.BaseExpression,
    *,
    by_method: bool = False,
    logs: bool = False,
) -> Iterator[Report]:
    wait = waits(model, value, site.context, by_method=by_method)
    if wait is None or (inherent(model, site.node, site.context) and not _one_by_one(wait, site.context)):
        return
    confidence = wait.confidence
    if value.kind is Kind.UNKNOWN and model.uses_numpy and not value.may_be_device:
        confidence = Confidence.POSSIBLE  # NumPy's scalars have `.item()` as well
    what = quote(site.node.func if logs else site.node)
    number = "a Python number" if site.callee not in _MAKERS else "Python numbers, one after the other,"
    yield Report(
        site.node,
        f"{what} reads {quote(read)} as {number} and waits for the device {wait.often}",
        f"keep {quote(read)} on the device as a tensor and read it after the loop, or every so many steps",
        confidence,
        wait.related,
        _repairs.summed_on_device(model, site, value) if by_method else None,
    )

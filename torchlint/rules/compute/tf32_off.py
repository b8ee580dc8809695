"""TL401: float32 matrix products do not use the tensor cores' TF32 mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._devices import named_kinds
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule, RuleSet
from torchlint.rules.compute import _repairs
from torchlint.rules.compute._reasons import states_reason
from torchlint.semantics import contexts, sites, surroundings
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.model import Model
from torchlint.semantics.values import ANYWHERE, DEVICE, Kind, Value

_SETTER: Final = "torch.set_float32_matmul_precision"
_SWITCHES: Final = {
    "torch.backends.cuda.matmul.allow_tf32": False,
    "torch.backends.cuda.matmul.fp32_precision": "ieee",
    "torch.backends.fp32_precision": "ieee",
}
_OTHERS: Final = frozenset(("torch.backends.cudnn.allow_tf32", "torch.backends.cudnn.conv.fp32_precision"))
_WORDS: Final = ("allow_tf32", "fp32_precision", "set_float32_matmul_precision")
_LOW: Final = frozenset(("float16", "bfloat16", "float8_e4m3fn", "float64"))
_PRODUCTS: Final = frozenset(
    """Bilinear GRU GRUCell LSTM LSTMCell Linear MultiheadAttention RNN Transformer TransformerDecoder
    TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer""".split()
)
_ADVICE: Final = 'call `torch.set_float32_matmul_precision("high")` once, at the start of the program'


class Tf32Off(Rule):
    code = "TL401"
    name = "tf32-off"
    bottleneck = "compute"
    summary = "Float32 matrix products on CUDA never get the TF32 mode"
    fix_availability = FixAvailability.SOMETIMES
    ruleset = RuleSet.EXTENDED
    torch = "1.12"

    def on_module(self, model: Model) -> Iterator[Report]:
        for assign in model.sites.assigns:
            if assign.qualified in _SWITCHES:
                if assign.value.const == _SWITCHES[assign.qualified] and assign.value.const is not None:
                    yield from _off(assign.node, assign.context, model)
        for site in model.sites.calls:
            if site.callee == _SETTER and site.arguments and site.arguments[0].value.const == "highest":
                yield from _off(site.node, site.context, model)
        # The mode holds for the whole program, and is often set in a file of its own.
        if _trains(model) and not _low_precision(model) and not any(map(_sets_precision, model.everywhere(*_WORDS))):
            yield from _never_set(model)


def _sets_precision(model: Model) -> bool:
    """Whether a file says what float32 matrix products may be, this or that."""
    return any(assign.qualified in _OTHERS or assign.qualified in _SWITCHES for assign in model.sites.assigns) or any(
        site.callee == _SETTER for site in model.sites.calls
    )


def _off(node: cst.CSTNode, context: contexts.Context, model: Model) -> Iterator[Report]:
    if surroundings.in_test(context) or model.is_test_file or states_reason(model, node) or _compares(context, model):
        return
    yield Report(
        node,
        f"{quote(node)} keeps float32 matrix products off the tensor cores, and does not say why",
        _ADVICE + ", or write the reason beside it",
        Confidence.LIKELY,
        fix=_repairs.allowed_tf32(node),
    )


def _compares(context: contexts.Context, model: Model) -> bool:
    """Whether the function is a reference's: it compares results to a tolerance."""
    owner = context.owner
    return owner is not None and any(
        site.context.owner is owner and (site.callee or "").startswith("torch.testing.") for site in model.sites.calls
    )


def _never_set(model: Model) -> Iterator[Report]:
    for site in model.sites.calls:
        receiver = site.receiver
        if receiver is None or site.method not in ("to", "cuda") or not _is_module(site, receiver):
            continue
        if named_kinds(site) - {"cuda"}:
            continue  # TF32 is CUDA's
        if site.method == "to" and not _names_place(site):
            continue
        if (
            not site.result.device & (DEVICE | ANYWHERE)
            or surroundings.in_test(site.context)
            or not _has_products(receiver)
        ):
            continue
        yield Report(
            site.node,
            f"{quote(site.node)} brings a float32 network to the device, and nothing lets its matrix products use TF32",
            _ADVICE,
            Confidence.LIKELY,
        )
        return


def _names_place(site: sites.Call) -> bool:
    """Whether `.to(...)` is told more than a dtype."""
    return any(argument.value.kind is not Kind.DTYPE and argument.name != "dtype" for argument in site.arguments)


def _is_module(site: sites.Call, receiver: Value) -> bool:
    """Whether a module is moved: a tensor that is moved and then dropped would be an error."""
    dropped = isinstance(site.statement, cst.Expr) and site.statement.value is site.node
    return receiver.kind is Kind.MODULE or (receiver.kind is Kind.UNKNOWN and dropped)


def _low_precision(model: Model) -> bool:
    """Whether the file computes in another precision than float32, or lets a library choose."""
    if any("autocast" in entered.context.flags for entered in model.sites.withs):
        return True
    return any(
        site.method in ("half", "bfloat16", "double", "autocast")
        or (site.callee or "").rsplit(".", 1)[-1] in ("autocast", "Accelerator", "Fabric", "Trainer")
        or any(argument.value.kind is Kind.DTYPE and argument.value.dtype in _LOW for argument in site.arguments)
        for site in model.sites.calls
    )


def _trains(model: Model) -> bool:
    functions = [model.root, *model.functions.values()]
    return any(effect.kind is EffectKind.BACKWARD for function in functions for effect in function.effects)


def _has_products(module: Value) -> bool:
    """Whether a module may hold matrix products; a network of this file that has none is known not to."""
    if module.cls is None:
        return True
    held = [value for stored in module.cls.stores.values() for value in stored.values()]
    known = [value for value in held if value.kind is Kind.MODULE and value.qual is not None]
    return not known or any(map(_is_product, known))


def _is_product(module: Value) -> bool:
    """Whether a module multiplies matrices, or may hold one that does."""
    if module.cls is not None or (module.qual or "").rsplit(".", 1)[-1] in _PRODUCTS:
        return True
    parts = [*(module.items or {}).values(), *([module.elem] if module.elem is not None else [])]
    return any(part.kind is Kind.MODULE and _is_product(part) for part in parts)

"""TL204: tensor arithmetic runs parameter by parameter in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._bodies import body_of, calls_in
from torchlint.rules._rates import may_be_hot
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _foreach_repairs
from torchlint.rules.launch._short import is_short
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import COLD_ROLES, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import within
from torchlint.semantics.targets import bound_names
from torchlint.semantics.values import Kind, Value

# What foreach functions do for lists of tensors.
_ARITHMETIC: Final = frozenset(
    """add sub mul div pow neg sqrt rsqrt square abs exp sign lerp addcmul addcdiv copy norm sum mean max min amax dot
    clamp clamp_min clamp_max maximum minimum sigmoid vector_norm clip_grad_norm clip_grad_value multiply divide
    subtract isfinite isnan nan_to_num""".split()
)
_INSTEAD: Final = "take the tensors together: `torch._foreach_*` over lists, `clip_grad_norm_`, or `AveragedModel`"


class PerParameterLoop(Rule):
    code = "TL204"
    name = "per-parameter-loop"
    bottleneck = "launch"
    summary = "Tensor arithmetic runs parameter by parameter in Python"
    fix_availability = FixAvailability.SOMETIMES
    words = ("parameters", "named_parameters", "param_groups", "state_dict", "buffers", "params", "grad")

    def on_loop(self, site: sites.Loop, model: Model) -> Iterator[Report]:
        if site.iterable is None or not _over_parameters(site, model) or surroundings.in_test(site.context):
            return
        if is_short(site.context, model) or surroundings.on_host_alone(site.context):
            return
        work = _arithmetic(site, model)
        if work is None or _beside_foreach(model, site.context) or _ties_the_graph(site, model):
            return
        hot = model.hot(site.context)
        if hot is None and (_copies(work, model) or not may_be_hot(site.outer)):
            return
        yield Report(
            site.node,
            f"{quote(work)} runs for each parameter {often(model.hot(site.outer)) if hot else 'on every call'}: "
            "a launch or more for every tensor, most of them small",
            _INSTEAD,
            Confidence.LIKELY if hot is not None else Confidence.POSSIBLE,
            because(hot),
            _foreach_repairs.foreach(model, site),
        )


def _ties_the_graph(site: sites.Loop, model: Model) -> bool:
    """Whether a sum over parameters counts for nothing, `0 * sum(p.sum() for p in ...)`: it gives them a gradient."""
    argument = model.parent(site.node)
    call = model.parent(argument) if type(argument) is cst.Arg else None
    product = model.parent(call) if type(call) is cst.Call else None
    return (
        type(product) is cst.BinaryOperation
        and type(product.operator) is cst.Multiply
        and any(
            isinstance(side, (cst.Integer, cst.Float)) and side.evaluated_value == 0
            for side in (product.left, product.right)
        )
    )


def _copies(work: cst.CSTNode, model: Model) -> bool:
    """Whether it is a plain copy: in code of unknown rate that is most often a loading of weights."""
    if type(work) is not cst.Call or type(work.func) is not cst.Attribute or work.func.attr.value != "copy_":
        return False
    copied = model.call(work.args[0].value) if work.args else None
    return copied is None or copied.target is None  # not what a function of the program makes of them


def _over_parameters(site: sites.Loop, model: Model) -> bool:
    """Whether each round takes a parameter, a gradient, or one of each of several models."""
    iterable = site.iterable
    assert iterable is not None
    if iterable.kind is Kind.PARAMETERS:
        return True
    element = iterable.elem
    if element is not None:
        held = element.elem if element.qual == "tuple" and element.items is None else None
        parts = (element, *(element.items or {}).values(), *((held,) if held is not None else ()))
        if any(_is_parameter(part, model) for part in parts):
            return True
    if _asks_for_gradients(site, model):
        return True
    return iterable.qual in ("list", "dict") and _looks_up_parameters(site, model)


def _asks_for_gradients(site: sites.Loop, model: Model) -> bool:
    """Whether the body reads the gradient of what the loop gives, `p.grad`: of tensors, parameters alone have one."""
    names = bound_names(site.target)
    return any(
        type(node) is cst.Attribute
        and node.attr.value == "grad"
        and type(node.value) is cst.Name
        and node.value.value in names
        and model.value(node.value).is_tensor
        for node in within(body_of(site))
    )


def _looks_up_parameters(site: sites.Loop, model: Model) -> bool:
    """Whether the body takes parameters out of a state dictionary, by the name that the loop gives."""
    names = bound_names(site.target)
    for node in within(body_of(site)):
        if type(node) is cst.Subscript and len(node.slice) == 1 and type(node.slice[0].slice) is cst.Index:
            key, held = node.slice[0].slice.value, model.value(node.value)
            if type(key) is cst.Name and key.value in names and held.kind is Kind.CONTAINER and held.elem is not None:
                return _is_parameter(held.elem, model)
    return False


def _is_parameter(value: Value, model: Model) -> bool:
    if value.qual == "torch.nn.Parameter":
        return True
    return any(
        type(origin) is cst.Attribute
        and origin.attr.value in ("grad", "data")
        and model.value(origin.value).qual == "torch.nn.Parameter"
        for origin in value.origins
    )


def _arithmetic(site: sites.Loop, model: Model) -> cst.CSTNode | None:
    """The first tensor arithmetic of a round, in the loop or in a function of this file that it calls."""
    body = body_of(site)
    return _first_work(model, body, set())


def _first_work(model: Model, body: list[cst.CSTNode], seen: set[FunctionInfo]) -> cst.CSTNode | None:
    for node in within(body):
        if type(node) is cst.BinaryOperation and model.value(node).is_tensor and not _broadcasts(node):
            return node
        if type(node) is cst.AugAssign and node in model.augmented and model.augmented[node].is_tensor:
            return node
    for call in calls_in(model, body):
        if call.target is not None:
            inner = call.target.node
            if call.target not in seen and not isinstance(inner, cst.Module) and call.target.role not in COLD_ROLES:
                seen.add(call.target)
                inside: list[cst.CSTNode] = [inner.body]
                if _first_work(model, inside, seen) is not None:
                    return call.node
            continue
        name = (call.callee or call.method or "").rpartition(".")[2].rstrip("_")
        if name not in _ARITHMETIC or (call.callee or "").startswith(
            ("torch.nn.init.", "numpy.", "math.", "list.", "dict.", "str.")
        ):
            continue
        if name == "copy" and call.receiver is not None and call.receiver.on_host:
            continue  # each of them crosses by itself
        if (call.receiver is not None and call.receiver.is_tensor) or any(a.value.is_tensor for a in call.arguments):
            return call.node
    return None


def _broadcasts(node: cst.BinaryOperation) -> bool:
    """Whether a side is reshaped to fit the other, `a.view(1, -1, 4) + b.view(-1, 1, 4)`: no foreach function does."""
    return any(
        type(side) is cst.Call
        and type(side.func) is cst.Attribute
        and (
            side.func.attr.value == "unsqueeze" or (side.func.attr.value in ("view", "reshape") and len(side.args) > 1)
        )
        for side in (node.left, node.right)
    )


def _overrides(method: FunctionInfo, other: FunctionInfo) -> bool:
    """Whether a method stands in a subclass for another one: which of them runs, the object decides, not the call."""
    return (
        method is not other
        and method.name == other.name
        and method.cls is not None
        and other.cls is not None
        and other.cls in method.cls.lineage()
    )


def _beside_foreach(model: Model, context: Context) -> bool:
    """Whether a foreach function does the same on another way: beside a branch here, or where a caller chooses."""
    owner = model.function_of(context)
    functions = {owner}
    functions.update(caller.context.owner for caller in owner.callers if caller.context.owner is not None)
    branched = any(link.scope in (Scope.BRANCH, Scope.HANDLER) for link in context.chain())
    if not branched and len(functions) == 1:
        return False
    siblings: set[FunctionInfo | None] = set(functions)
    for function in functions:
        siblings.update(
            effect.callee
            for effect in function.effects
            if effect.callee is not None
            and not _overrides(effect.callee, owner)
            and (function is not owner or effect.context.excludes(context))
        )
    return any(
        (site.callee or "").startswith("torch._foreach_") and model.function_of(site.context) in siblings
        for site in model.sites.calls
    )

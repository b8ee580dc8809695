"""What the rounds of a loop walk over: the slices of a tensor, as far as that is sure."""

from __future__ import annotations

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._bodies import slice_of_one
from torchlint.rules._patterns import operation
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.values import MAYBE_TENSORS, Kind, Value


def walks_slices(site: sites.Loop, model: Model, body: list[cst.CSTNode], targets: set[str]) -> Confidence | None:
    """How sure it is that the rounds take slices of a tensor that may be on a device; None where they take others."""
    walked = _walks(site, model, body, targets)
    if walked is not None and (
        _beside_lists(site, model) or (site.iterable_node is not None and _may_be_list(model, site.iterable_node))
    ):
        return Confidence.POSSIBLE
    return walked


def _walks(site: sites.Loop, model: Model, body: list[cst.CSTNode], targets: set[str]) -> Confidence | None:
    iterable = site.iterable
    assert iterable is not None
    if iterable.kind is Kind.TENSOR:
        if iterable.on_host:
            return None
        computed = _computed_with(site, model)
        if _is_undeclared(iterable, site, model) and not computed:
            return Confidence.POSSIBLE
        return Confidence.LIKELY if iterable.conf is Confidence.POSSIBLE and computed else iterable.conf
    if iterable.kind is not Kind.CONTAINER or _steps_in_blocks(site):
        return None
    confidence: Confidence | None = None
    if (iterable.qual or "").startswith("range"):
        confidence = Confidence.SURE
    elif iterable.qual == "tensor size" or is_unbound(iterable, model):
        elements = [iterable.elem] if iterable.elem is not None else []
        members = [*elements, *(member for element in elements for member in (element.items or {}).values())]
        tensors = [member for member in members if member.kind is Kind.TENSOR]
        if any(member.kind in (Kind.BATCH, Kind.OBJECT) for member in members[1:]):
            return None  # beside something that may be ragged
        if any(member.kind is Kind.UNKNOWN for member in members[1:]):
            return Confidence.POSSIBLE
        return min((t.conf for t in tensors), default=None) if not any(t.on_host for t in tensors) else None
    elif iterable.elem is not None and any(item.qual == "index" for item in (iterable.elem.items or {}).values()):
        confidence = Confidence.POSSIBLE
    if confidence is None:
        return None
    found = [_evidence(model, node, targets) for node in within(body)]
    best = max((one for one in found if one is not None), default=None)
    return min(best, confidence) if best is not None else None


def _may_be_list(model: Model, walked: cst.BaseExpression) -> bool:
    """Whether a module or something unknown gave what the loop walks: it may be several outputs."""
    inner = model.call(walked)
    if inner is not None and inner.callee in ("enumerate", "zip", "reversed", "list"):
        return any(_may_be_list(model, argument.node) for argument in inner.arguments)
    for origin in model.value(walked).origins:
        made = operation(model, origin) if type(origin) is cst.Call else None
        if (
            type(origin) is cst.Call
            and (made is None or not made.name.islower())
            and model.value(walked).kind is not Kind.CONTAINER
        ):
            return True
    return False


def _beside_lists(site: sites.Loop, model: Model) -> bool:
    """Whether `zip` walks the tensor beside something that may be a list of tensors of several sizes."""
    call = model.call(site.iterable_node) if site.iterable_node is not None else None
    return (
        call is not None
        and call.callee == "zip"
        and any(
            argument.value.kind is not Kind.TENSOR
            and not (argument.value.qual or "").startswith("range")
            and not is_unbound(argument.value, model)
            for argument in call.arguments
        )
    )


def _is_undeclared(iterable: Value, site: sites.Loop, model: Model) -> bool:
    """Whether it is a parameter as the caller gave it, whose annotation does not say that it is a tensor."""
    parameters = model.function_of(site.outer).parameters
    if iterable.ident is None or iterable.ident >= len(parameters):
        return False
    declared = parameters[iterable.ident].declared
    return declared is None or declared.kind is not Kind.TENSOR


def is_unbound(value: Value, model: Model) -> bool:
    """Whether it is what `unbind` gave, or a split into pieces of one: all slices, and of one size."""
    for origin in value.origins:
        call = model.call(origin)
        name = (call.callee or call.method or "").rpartition(".")[2] if call is not None else ""
        if name == "unbind":
            return True
        if call is not None and name == "split":
            size = call.argument(1 if call.method is None else 0, "split_size") or call.argument(
                None, "split_size_or_sections"
            )
            if size is not None and size.value.const == 1:
                return True
    return False


def _steps_in_blocks(site: sites.Loop) -> bool:
    """`range(0, n, size)`: blocks of rows, which is what the advice says."""
    node = site.iterable_node
    return type(node) is cst.Call and type(node.func) is cst.Name and node.func.value == "range" and len(node.args) == 3


def _evidence(model: Model, node: cst.CSTNode, targets: set[str]) -> Confidence | None:
    """How sure it is that a node takes the slice of a tensor at the loop's position."""
    if type(node) is cst.Subscript:
        base = model.value(node.value)
        indices = [part.slice.value for part in node.slice if type(part.slice) is cst.Index]
        indices += [low for part in node.slice if (low := slice_of_one(part.slice)) is not None]
        if base.on_host or not any(names_read(index) & targets for index in indices):
            return None
        if base.kind is Kind.CONTAINER and base.elem is not None and is_unbound(base, model):
            return None if base.elem.on_host else min(base.elem.conf, Confidence.LIKELY)
        if base.kind in MAYBE_TENSORS and len(node.slice) > 1 and not model.uses_numpy:
            return Confidence.LIKELY  # only a tensor takes several positions
        if base.kind is Kind.TENSOR:
            return min(base.conf, Confidence.POSSIBLE) if _is_sliced_output(model, base) else base.conf
        return Confidence.POSSIBLE if base.kind is Kind.BATCH else None
    if type(node) is cst.Comparison and len(node.comparisons) == 1 and type(node.comparisons[0].operator) is cst.Equal:
        for tensor, position in (
            (node.left, node.comparisons[0].comparator),
            (node.comparisons[0].comparator, node.left),
        ):
            value = model.value(tensor)
            if (
                type(position) is cst.Name
                and position.value in targets
                and value.kind is Kind.TENSOR
                and not value.on_host
            ):
                return value.conf if _decides(model, node) else max(value.conf, Confidence.LIKELY)
    if type(node) is cst.Call:
        site = model.call(node)
        if (
            site is not None
            and site.method == "select"
            and site.receiver is not None
            and site.receiver.kind is Kind.TENSOR
        ):
            if any(names_read(argument.node) & targets for argument in site.arguments):
                return site.receiver.conf
    return None


def _is_sliced_output(model: Model, base: Value) -> bool:
    """Whether it is some of what a module returned, which may be a list."""
    return any(
        type(origin) is cst.Subscript
        and len(origin.slice) == 1
        and model.value(origin.value).kind in (Kind.BATCH, Kind.UNKNOWN)
        for origin in base.origins
    )


def _computed_with(site: sites.Loop, model: Model) -> bool:
    """Whether the function also does arithmetic with what the loop walks: a list is not multiplied with a tensor."""
    name = dotted(site.iterable_node) if site.iterable_node is not None else None
    return name is not None and any(
        name in (dotted(binary.left_node), dotted(binary.right_node)) and binary.result.is_tensor
        for binary in model.sites.binaries
        if binary.context.owner is site.outer.owner
    )


def _decides(model: Model, comparison: cst.Comparison) -> bool:
    """Whether Python asks for the truth of a comparison: then numbers may be compared."""
    around = model.parent(comparison)
    return isinstance(
        around, (cst.If, cst.While, cst.IfExp, cst.Assert, cst.BooleanOperation, cst.UnaryOperation, cst.CompIf)
    )

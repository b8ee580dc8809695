"""Whether the rounds of a loop work on pieces of unequal size, which no batched operation takes."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.rules._bodies import calls_in
from torchlint.rules._patterns import operation
from torchlint.rules.launch._walked import is_unbound
from torchlint.semantics import sites
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.targets import bound_names
from torchlint.semantics.values import MAYBE_TENSORS, Kind

# Of a matrix as a whole: rows of zeros beside the others would change what they give.
_DECOMPOSITIONS: Final = frozenset(
    "cholesky cov inverse logdet pca_lowrank pinverse qr slogdet svd svd_lowrank".split()
)
# Operations whose result is as long as the data says.
_SELECTING: Final = frozenset("unique unique_consecutive nonzero masked_select argwhere tolist nms batched_nms".split())
# Operations that are told the size of what they make.
_SIZED: Final = frozenset("arange linspace zeros ones full empty rand randn eye randint view reshape expand".split())
_PADS: Final = ("pad_sequence", "pack_sequence", "pad_packed_sequence")
_FILES: Final = ("append", "extend", "add")


def are_uneven(model: Model, body: list[cst.CSTNode], varying: set[str]) -> bool:
    """Whether rounds make tensors of a size of their own, sort what they make into several lists, or take groups apart.

    `varying` are the names that differ from round to round.
    """
    nodes = list(within(body))
    return any(_is_sized_by(model, node, varying) or _files_away(model, node) for node in nodes) or (
        any(_by_mask(model, node) for node in nodes) and _decomposes(model, body, set())
    )


def may_be_uneven(site: sites.Loop, model: Model, body: list[cst.CSTNode], targets: set[str]) -> bool:
    """Whether the pieces are padded elsewhere, or rounds look something up by the loop's targets, or select."""
    return _is_padded(site, model) or any(
        _looks_up(model, node, targets) or selects(model, node) for node in within(body)
    )


def _looks_up(model: Model, node: cst.CSTNode, targets: set[str]) -> bool:
    """Whether a node takes an entry of something that is no tensor, at the loop's position."""
    if type(node) is not cst.Subscript:
        return False
    held = model.value(node.value)
    if len(node.slice) > 1 or held.kind not in (Kind.CONTAINER, Kind.MODULE, Kind.UNKNOWN) or held.may_be_device:
        return False
    if is_unbound(held, model):
        return False
    return any(type(part.slice) is cst.Index and names_read(part.slice.value) & targets for part in node.slice)


def _by_mask(model: Model, node: cst.CSTNode) -> bool:
    """Whether a node selects by a mask."""
    if type(node) is not cst.Subscript or model.value(node.value).kind not in MAYBE_TENSORS:
        return False
    return any(
        type(part.slice) is cst.Index
        and (
            model.value(part.slice.value).dtype == "bool"
            or (type(part.slice.value) is cst.UnaryOperation and type(part.slice.value.operator) is cst.BitInvert)
        )
        for part in node.slice
    )


def _decomposes(model: Model, body: list[cst.CSTNode], seen: set[FunctionInfo]) -> bool:
    """Whether a round decomposes a matrix, itself or in what it calls."""
    for site in calls_in(model, body):
        namespace, _, last = (site.callee or "").rpartition(".")
        if (namespace == "torch.linalg" and not last.endswith("norm")) or last in _DECOMPOSITIONS:
            return True
        target = site.target
        if target is not None and target not in seen:
            seen.add(target)
            home = model.home.get(target.node, model)
            if _decomposes(home, target.body_nodes, seen):
                return True
    return False


def selects(model: Model, node: cst.CSTNode) -> bool:
    """Whether a node hands on what a mask or `unique` selects, so that each round's result has a size of its own."""
    if type(node) is cst.Call:
        site = model.call(node)
        namespace, _, last = (site.callee or "").rpartition(".") if site is not None else ("", "", "")
        if namespace.startswith("torchvision.ops") and last in _SELECTING:
            return True
        made = operation(model, node)
        return made is not None and (
            made.name in _SELECTING
            or (made.name == "where" and len(made.operands) == 1)
            or (made.name == "repeat_interleave" and any(model.value(o).is_tensor for o in made.operands[1:]))
        )
    around = model.parent(node) if _by_mask(model, node) else None
    if type(around) is cst.Arg:
        call = model.call(model.parent(around) or around)
        return call is not None and call.method == "append"
    return isinstance(around, (cst.ListComp, cst.GeneratorExp, cst.Element))


def _is_sized_by(model: Model, node: cst.CSTNode, varying: set[str]) -> bool:
    """Whether a node makes a tensor whose size differs from round to round."""
    made = operation(model, node) if type(node) is cst.Call else None
    if made is None or made.name not in _SIZED:
        return False
    sizes = made.operands[1:] if made.name in ("view", "reshape", "expand") else made.operands
    return any(names_read(size) & varying for size in (sizes[:1] if made.name == "full" else sizes))


def _files_away(model: Model, node: cst.CSTNode) -> bool:
    """Whether a node adds to one of several Python lists, or to a place that a string names."""
    if type(node) is cst.Call:
        site = model.call(node)
        return site is not None and site.method in _FILES and type(site.receiver_node) is cst.Subscript
    return (
        type(node) is cst.AssignTarget
        and type(node.target) is cst.Subscript
        and any(
            type(part.slice) is cst.Index and type(part.slice.value) is cst.FormattedString
            for part in node.target.slice
        )
    )


def _is_padded(site: sites.Loop, model: Model) -> bool:
    """Whether the function pads what the loop walks, or what it collects: pieces of several lengths."""
    names = names_read(site.iterable_node) if site.iterable_node is not None else set()
    around = model.parent(site.node)
    if type(around) is cst.Assign:
        names |= {name for target in around.targets for name in bound_names(target.target)}
    return any(
        (call.callee or call.method or "").endswith(_PADS)
        and call.context.owner is site.outer.owner
        and any(names_read(argument.node) & names for argument in call.arguments)
        for call in model.sites.calls
    )

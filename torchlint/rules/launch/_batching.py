"""Whether one operation on all slices does the work of the rounds of a loop, and whether they have any to do."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.knowledge.devices import MOVES
from torchlint.rules._bodies import calls_in
from torchlint.rules.launch._uneven import selects
from torchlint.semantics import sites
from torchlint.semantics.functions import COLD_ROLES, EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.targets import bound_names
from torchlint.semantics.values import Kind, Value

# Tensor operations that compute nothing: they look at a tensor in another way, convert it, or read from it.
_VIEWS: Final = frozenset(
    """view reshape permute transpose t squeeze unsqueeze expand expand_as select narrow detach flatten unflatten size
    dim numel item tolist movedim swapaxes to float half bfloat16 double int long type type_as contiguous clone
    cpu""".split()
) | frozenset(MOVES)
# Modules that do the same to each slice, whatever stands in front of the last dimensions.
_BATCHED: Final = frozenset(
    """Linear Bilinear Embedding LayerNorm RMSNorm Identity ReLU GELU SiLU Sigmoid Tanh Softmax LogSoftmax Softplus
    LeakyReLU ELU Dropout CosineSimilarity PairwiseDistance""".split()
)
_HARMLESS_BUILTINS: Final = frozenset(
    """len int float bool range enumerate zip isinstance min max abs sum list tuple dict set round any all reversed
    getattr hasattr slice""".split()
)
# Numbers that are drawn for a round, as they can be for all of them at once.
_DRAWS: Final = frozenset(
    """random.random random.uniform random.gauss random.normalvariate numpy.random.rand numpy.random.random
    numpy.random.uniform numpy.random.randn numpy.random.normal""".split()
)
_COPIES_TO_HOST: Final = frozenset("cpu numpy".split())
_TRAINS: Final = frozenset("backward step zero_grad".split())
_DEPTH: Final = 3  # helpers within helpers


def launches(model: Model, body: list[cst.CSTNode], varying: set[str]) -> bool:
    """Whether an operation on what differs from round to round puts work on the device."""
    made = {name for node in within(body) if type(node) is cst.AssignTarget for name in bound_names(node.target)}
    for node in within(body):
        if (
            isinstance(node, (cst.BinaryOperation, cst.Comparison))
            and model.value(node).is_tensor
            and names_read(node) & varying
        ):
            return True
        if (
            type(node) is cst.AugAssign
            and names_read(node.value) & varying
            and node in model.augmented
            and model.augmented[node].is_tensor
        ):
            return True
        if type(node) is cst.AssignTarget and _fills(model, node.target, made) and names_read(node.target) & varying:
            return True
        if type(node) is cst.Subscript and _gathers(model, node) and names_read(node) & varying:
            return True
        if type(node) is not cst.Call:
            continue
        site = model.call(node)
        if site is None or not names_read(node) & varying:
            continue
        if site.target is not None:
            if site.target.does(frozenset({EffectKind.LAUNCH, EffectKind.WAIT})):
                return True
        elif (site.callee or site.method or "").rpartition(".")[2] not in _VIEWS and site.result.is_tensor:
            if not site.result.on_host:
                return True
    return False


def _fills(model: Model, place: cst.BaseExpression, made: set[str]) -> bool:
    """Whether to write to a place is to write into a tensor, as a row of a mask up to a length is.

    Not where the round makes the ends of the slice, as what is drawn for it.
    """
    if not isinstance(place, cst.Subscript):
        return False
    base = model.value(place.value)
    ends = [part.slice for part in place.slice if isinstance(part.slice, cst.Slice)]
    return base.kind is Kind.TENSOR and not base.on_host and not any(names_read(end) & made for end in ends)


def _gathers(model: Model, node: cst.Subscript) -> bool:
    """Whether a node takes entries of a tensor at the positions that another tensor holds."""
    base = model.value(node.value)
    return (
        base.is_tensor
        and not base.on_host
        and any(
            type(part.slice) is cst.Index
            and (index := model.value(part.slice.value)).is_tensor
            and index.dtype != "bool"
            and index.rank != 0
            for part in node.slice
        )
    )


def batchable(model: Model, body: list[cst.CSTNode], _seen: frozenset[FunctionInfo] = frozenset()) -> Confidence | None:
    """How sure it is that all calls of a round can be batched; None where one cannot."""
    confidence = Confidence.SURE
    for site in calls_in(model, body):
        one = _takes_batches(model, site, _seen)
        if one is None:
            return None
        confidence = min(confidence, one)
    return confidence


def _takes_batches(model: Model, site: sites.Call, seen: frozenset[FunctionInfo]) -> Confidence | None:
    function = site.function
    if site.target is not None and function.kind is not Kind.MODULE:
        return _own(model, site.target, seen)
    if function.kind is Kind.MODULE:
        return _module(function)
    if site.receiver is not None and site.receiver.kind is Kind.CONTAINER:
        return Confidence.SURE
    callee = site.callee or ""
    namespace, _, last = callee.rpartition(".")
    if namespace.startswith(("torch.distributed", "torch.nn.utils.rnn", "torch.utils")) or site.method in _TRAINS:
        return None
    if namespace in (
        "torch",
        "torch.nn.functional",
        "torch.Tensor",
        "torch.linalg",
        "torch.special",
        "torch.fft",
        "torch.Size",
    ):
        return None if last in _COPIES_TO_HOST else Confidence.SURE
    if not namespace and callee:
        return (
            Confidence.SURE
            if callee in _HARMLESS_BUILTINS
            else None
            if callee in known.BUILTINS
            else Confidence.POSSIBLE
        )
    if namespace == "math":
        return Confidence.SURE
    if callee in _DRAWS:
        return Confidence.SURE if _weighs(model, site) else None
    if (
        callee.split(".", 1)[0] in known.HOST_LIBRARIES
        or namespace.startswith(("numpy", "str"))
        or namespace == "torch"
    ):
        return None
    if site.method is not None and site.receiver is not None and site.receiver.kind is Kind.UNKNOWN:
        method = site.method
        if method in _COPIES_TO_HOST:
            return None
        if (
            method in known.TENSOR_ONLY_METHODS
            or method in known.REDUCTIONS
            or method in ("item", "size", "to", "append")
        ):
            return Confidence.SURE
    return Confidence.POSSIBLE


def _weighs(model: Model, site: sites.Call) -> bool:
    """Whether a number is compared, or computed with a tensor: as a position it would cut pieces of their own."""
    around = model.parent(site.node)
    if isinstance(around, cst.BinaryOperation):
        return model.value(around).is_tensor
    return isinstance(around, cst.Comparison)


def _own(model: Model, target: FunctionInfo, seen: frozenset[FunctionInfo]) -> Confidence | None:
    """A helper of this file: what it calls decides."""
    if target.is_generator or target.role in COLD_ROLES or isinstance(target.node, cst.Module):
        return None
    if target in seen or len(seen) >= _DEPTH:
        return Confidence.POSSIBLE
    if _carries_state(target):
        return None
    home = model.home.get(target.node, model)
    work = batchable(home, [target.node.body], seen | {target})
    if work is not None and any(
        isinstance(node, (cst.For, cst.While)) or selects(home, node) for node in within([target.node.body])
    ):
        return min(work, Confidence.POSSIBLE)  # rounds may differ in what it does
    return work


def _carries_state(target: FunctionInfo) -> bool:
    """Whether a method makes an attribute out of what it was: the next call goes on from what this one left."""
    for node in within(target.body_nodes):
        if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Attribute):
            return True
        if isinstance(node, cst.Assign):
            read = names_read(node.value)
            if any(isinstance(place.target, cst.Attribute) and dotted(place.target) in read for place in node.targets):
                return True
    return False


def _module(function: Value) -> Confidence | None:
    namespace, _, last = (function.qual or "").rpartition(".")
    if namespace != "torch.nn" or function.cls is not None:
        return Confidence.POSSIBLE
    if last.endswith("Cell"):
        return None
    return Confidence.SURE if last in _BATCHED or last.endswith("Loss") else Confidence.POSSIBLE

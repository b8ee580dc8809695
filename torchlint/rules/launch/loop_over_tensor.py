"""TL201: a Python loop walks over a tensor and does independent work in each round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.rules._patterns import operation
from torchlint.rules._rates import may_be_hot
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _row_repairs
from torchlint.rules.launch._bodies import FEW_ROUNDS, body_of, calls_in, slice_of_one
from torchlint.rules.launch._rounds import Rounds
from torchlint.semantics import hotness, sites
from torchlint.semantics.contexts import Iterates
from torchlint.semantics.functions import COLD_ROLES, EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read, within
from torchlint.semantics.targets import bound_names
from torchlint.semantics.values import MAYBE_TENSORS, Kind, Value

_FEW_PARTS: Final = 4  # names that a row is unpacked into: boxes, spans
_LARGE: Final = 64  # rounds that cost even where they do not run on every step
# Of a matrix as a whole: rows of zeros beside the others would change what they give.
_DECOMPOSITIONS: Final = frozenset(
    "cholesky cov inverse logdet pca_lowrank pinverse qr slogdet svd svd_lowrank".split()
)
_NOT_ROUNDS: Final = frozenset({Iterates.EPOCHS, Iterates.PARAMETERS, Iterates.LAYERS, Iterates.GROUPS})
# Tensor operations that compute nothing: they look at a tensor in another way, convert it, or read from it.
_VIEWS: Final = frozenset(
    """view reshape permute transpose t squeeze unsqueeze expand expand_as select narrow detach flatten unflatten size
    dim numel item tolist movedim swapaxes to float half bfloat16 double int long type type_as contiguous clone cuda
    cpu""".split()
)
# Modules that do the same to each slice, whatever stands in front of the last dimensions.
_BATCHED: Final = frozenset(
    """Linear Bilinear Embedding LayerNorm RMSNorm Identity ReLU GELU SiLU Sigmoid Tanh Softmax LogSoftmax Softplus
    LeakyReLU ELU Dropout CosineSimilarity PairwiseDistance""".split()
)
_HARMLESS_BUILTINS: Final = frozenset(
    """len int float bool range enumerate zip isinstance min max abs sum list tuple dict set round any all reversed
    getattr hasattr slice""".split()
)
# Operations whose result is as long as the data says.
_SELECTING: Final = frozenset("unique unique_consecutive nonzero masked_select argwhere tolist nms batched_nms".split())
# Operations that are told the size of what they make.
_SIZED: Final = frozenset("arange linspace zeros ones full empty rand randn eye randint view reshape expand".split())
_PADS: Final = ("pad_sequence", "pack_sequence", "pad_packed_sequence")
_COPIES_TO_HOST: Final = frozenset("cpu numpy".split())
_FILES: Final = ("append", "extend", "add")
_TRAINS: Final = frozenset("backward step zero_grad".split())
_DEPTH: Final = 3  # helpers within helpers


class LoopOverTensor(Rule):
    code = "TL201"
    name = "loop-over-tensor"
    bottleneck = "launch"
    summary = "A Python loop over rows, elements, classes or time steps of a tensor does independent work in each round"
    fix_availability = FixAvailability.SOMETIMES
    words = ("for",)

    def on_loop(self, site: sites.Loop, model: Model) -> Iterator[Report]:
        hot = model.hot(site.outer)
        if hot is None and not may_be_hot(site.outer):
            return
        confidence = self._assess(site, model)
        if confidence is None or self._inside_another(site, model):
            return
        if hot is None and not _is_large(site):
            confidence = Confidence.POSSIBLE
        yield Report(
            site.node,
            "each round of the loop over "
            f"{quote(site.iterable_node) if site.iterable_node is not None else 'a tensor'} "
            f"launches its own kernels for one slice {often(hot)}, although no round needs another",
            "say it over all slices at once: flatten, broadcast, a matrix product, `index_add_`, or `torch.vmap`",
            confidence,
            because(hot),
            _row_repairs.vectorised(model, site),
        )

    def _inside_another(self, site: sites.Loop, model: Model) -> bool:
        """Whether a loop around it is reported already: one finding a nest."""
        around = site.outer.enclosing_loops()
        return any(other.context in around and self._assess(other, model) is not None for other in model.sites.loops)

    def _assess(self, site: sites.Loop, model: Model) -> Confidence | None:
        """How sure it is that a batched operation does what the loop does; None where it does not."""
        facts = site.context.loop
        assert facts is not None
        if site.iterable is None or site.target is None or (facts.count is not None and facts.count <= FEW_ROUNDS):
            return None
        if (
            hotness.in_test(site.context)
            or hotness.in_worker(site.context)
            or hotness.iterates(site.context) in _NOT_ROUNDS
        ):
            return None
        body = body_of(site)
        targets = bound_names(site.target)
        walked = _walks(site, model, body, targets)
        if walked is None:
            return None
        if _beside_lists(site, model):
            walked = Confidence.POSSIBLE
        rounds = Rounds(model, body, targets)
        if not rounds.independent:
            return None
        if site.iterable_node is not None and _may_be_list(model, site.iterable_node):
            walked = min(walked, Confidence.POSSIBLE)
        work = _work(model, body, frozenset())
        if work is None or not _launches(model, body, rounds.varying):
            return None
        if any(_is_sized_by(model, node, rounds.varying) or _files_away(model, node) for node in within(body)):
            return None
        if any(_by_mask(model, node) for node in within(body)) and _decomposes(model, body, frozenset()):
            return None  # of groups of unequal sizes, which no batched operation takes
        if _fills_few_names(site, model):
            return None
        if _is_padded(site, model) or any(
            _looks_up(model, node, targets) or _selects(model, node) for node in within(body)
        ):
            work = min(work, Confidence.POSSIBLE)  # rounds may differ in size
        return min(walked, work)


def _fills_few_names(site: sites.Loop, model: Model) -> bool:
    """Whether what a comprehension makes is taken apart into a few names: `rows, columns = (f(x) for x in found)`."""
    around = model.parent(site.node)
    if not isinstance(around, cst.Assign):
        return False
    target = around.targets[0].target
    return (
        isinstance(target, (cst.Tuple, cst.List))
        and len(target.elements) <= _FEW_PARTS
        and not any(isinstance(element, cst.StarredElement) for element in target.elements)
    )


def _is_large(site: sites.Loop) -> bool:
    facts = site.context.loop
    assert facts is not None
    if facts.count is not None:
        return facts.count >= _LARGE
    return any(hotness.iterates(inner) is Iterates.ELEMENTS for inner in facts.inner)


def _walks(site: sites.Loop, model: Model, body: list[cst.CSTNode], targets: set[str]) -> Confidence | None:
    """How sure it is that the rounds take slices of a tensor that may be on a device."""
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
    elif iterable.qual == "tensor size" or _is_unbound(iterable, model):
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
            and not _is_unbound(argument.value, model)
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


def _is_unbound(value: Value, model: Model) -> bool:
    """Whether it is what `unbind` gave."""
    for origin in value.origins:
        call = model.call(origin)
        if call is not None and (call.callee or call.method or "").rpartition(".")[2] == "unbind":
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


def _looks_up(model: Model, node: cst.CSTNode, targets: set[str]) -> bool:
    """Whether a node takes an entry of something that is no tensor, at the loop's position."""
    if type(node) is not cst.Subscript:
        return False
    held = model.value(node.value)
    if len(node.slice) > 1 or held.kind not in (Kind.CONTAINER, Kind.MODULE, Kind.UNKNOWN) or held.may_be_device:
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


def _decomposes(model: Model, body: list[cst.CSTNode], seen: frozenset[FunctionInfo]) -> bool:
    """Whether a round decomposes a matrix, itself or in what it calls."""
    for site in calls_in(model, body):
        namespace, _, last = (site.callee or "").rpartition(".")
        if (namespace == "torch.linalg" and not last.endswith("norm")) or last in _DECOMPOSITIONS:
            return True
        target = site.target
        if target is not None and target not in seen:
            home = model.home.get(target.node, model)
            if _decomposes(home, target.body_nodes, seen | {target}):
                return True
    return False


def _selects(model: Model, node: cst.CSTNode) -> bool:
    """Whether a node hands on what a mask or `unique` selects, so that each round's result has a size of its own."""
    if type(node) is cst.Call:
        site = model.call(node)
        namespace, _, last = (site.callee or "").rpartition(".") if site is not None else ("", "", "")
        if namespace.startswith("torchvision.ops") and last in _SELECTING:
            return True
        made = operation(model, node)
        return made is not None and (
            made.name in _SELECTING
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


def _launches(model: Model, body: list[cst.CSTNode], varying: set[str]) -> bool:
    """Whether an operation on what differs from round to round puts work on the device."""
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
        if type(node) is cst.Subscript and _gathers(model, node) and names_read(node) & varying:
            return True
        if type(node) is not cst.Call:
            continue
        site = model.call(node)
        if site is None or not names_read(node) & varying:
            continue
        if site.target is not None:
            if hotness.does(site.target, frozenset({EffectKind.LAUNCH, EffectKind.WAIT})):
                return True
        elif (site.callee or site.method or "").rpartition(".")[2] not in _VIEWS and site.result.is_tensor:
            if not site.result.on_host:
                return True
    return False


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


def _work(model: Model, body: list[cst.CSTNode], seen: frozenset[FunctionInfo]) -> Confidence | None:
    """How sure it is that all calls of a round can be batched; None where one cannot."""
    confidence = Confidence.SURE
    for site in calls_in(model, body):
        one = _batchable(model, site, seen)
        if one is None:
            return None
        confidence = min(confidence, one)
    return confidence


def _batchable(model: Model, site: sites.Call, seen: frozenset[FunctionInfo]) -> Confidence | None:
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


def _own(model: Model, target: FunctionInfo, seen: frozenset[FunctionInfo]) -> Confidence | None:
    """A helper of this file: what it calls decides."""
    if target.is_generator or target.role in COLD_ROLES or isinstance(target.node, cst.Module):
        return None
    if target in seen or len(seen) >= _DEPTH:
        return Confidence.POSSIBLE
    if _carries_state(target):
        return None
    home = model.home.get(target.node, model)
    work = _work(home, [target.node.body], seen | {target})
    if work is not None and any(
        isinstance(node, (cst.For, cst.While)) or _selects(home, node) for node in within([target.node.body])
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

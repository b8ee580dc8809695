"""TL202: costly work stands in a loop in which its operands never change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.rules._bodies import CHANGES, body_of, calls_in, names_written
from torchlint.rules._patterns import operation
from torchlint.rules._rates import may_be_hot
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _repairs
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.model import Model
from torchlint.semantics.names import names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.targets import bound_names
from torchlint.semantics.values import DETACHED, DEVICE, MAYBE_TENSORS, Kind, Value

_COSTLY: Final = frozenset(
    """matmul einsum linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d cdist baddbmm addmm
    scaled_dot_product_attention outer kron inv pinv svd eigh qr cholesky solve lstsq bilinear interpolate
    tensordot Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Bilinear""".split()
)
# Work that fills a tensor of its own with every call, cheap where it is small: that is not known here.
_LARGE: Final = frozenset(
    """softmax log_softmax cat stack repeat repeat_interleave tile sort topk cumsum masked_fill where one_hot exp log
    sin cos pow sqrt normalize layer_norm rms_norm sigmoid tanh gelu relu grid_sample affine_grid meshgrid
    embedding add sub mul div""".split()
)
_PLAIN_CALLS: Final = frozenset("len int float min max range".split())
# Operations that give other numbers, or another piece of memory, on each call.
_FRESH: Final = known.RANDOM | {"empty", "empty_like", "new_empty"}
_TRAINS: Final = frozenset({EffectKind.BACKWARD, EffectKind.OPTIMIZER_STEP})


class LoopInvariantOp(Rule):
    code = "TL202"
    name = "loop-invariant-op"
    bottleneck = "launch"
    summary = "Costly work stands in a loop in which its operands never change"
    fix_availability = FixAvailability.SOMETIMES
    words = ("for", "while")

    def on_loop(self, site: sites.Loop, model: Model) -> Iterator[Report]:
        facts = site.context.loop
        assert facts is not None
        hot = model.hot(site.context)
        if surroundings.in_test(site.context) or (facts.count is not None and facts.count <= 1):
            return
        if (hot is None and not may_be_hot(site.outer)) or model.in_measurement(site.context):
            return  # a benchmark does the same again and again
        body = body_of(site)
        made = [
            node
            for node in within(body)
            if (type(node) is cst.Call or type(node) is cst.BinaryOperation) and _is_made(model, node)
        ]
        trains = _trains(model, body) if made else False
        costly = [(node, confidence) for node in made if (confidence := _costly(model, node, trains))]
        if not costly:
            return
        written = names_written(model, body) | bound_names(site.target) | _filled_elsewhere(model, site.context)
        reported: set[cst.CSTNode] = set()
        for node, confidence in sorted(costly, key=lambda found: -found[1]):
            if isinstance(model.parent(node), cst.Expr):
                continue  # nobody takes the result: it warms up
            if node in reported or not _is_invariant(model, node, written) or _is_chosen(model, node, body, written):
                continue
            if hot is None and model.value(node).device != DEVICE:
                confidence = Confidence.POSSIBLE
            if confidence is Confidence.POSSIBLE and not _meets(model, node, body, written):
                continue
            reported.update(within([node]))
            yield Report(
                node,
                f"{quote(node)} gives the same result in every round of the loop: nothing that it reads changes there",
                "compute it once before the loop",
                confidence,
                (("the loop", site.node), *because(hot)),
                _repairs.hoisted(model, node, site.node),
            )


def _filled_elsewhere(model: Model, context: Context) -> set[str]:
    """The containers that another function fills, such as a hook that the loop runs without a word."""
    return {
        store.owner_name
        for store in model.sites.stores
        if store.owner_name is not None and store.how in CHANGES and store.context.owner is not context.owner
    }


def _is_made(model: Model, node: cst.CSTNode) -> bool:
    """Whether an expression gives a tensor, or several."""
    result = model.value(node)
    return result.is_tensor or (result.kind is Kind.CONTAINER and result.elem is not None and result.elem.is_tensor)


def _costly(model: Model, node: cst.Call | cst.BinaryOperation, trains: bool) -> Confidence | None:
    """How sure it is that an expression costs enough to be moved, and is not changed by what is trained."""
    made = operation(model, node)
    if made is None and (site := model.call(node)) is not None and site.target is not None:
        return _helper(model, site, trains)
    if made is None:
        return None if trains or not _runs_module(model, node) else Confidence.POSSIBLE
    operands = [value for value in map(model.value, made.operands) if value.kind is not Kind.NUMBER]
    held = [inner for inner in within([node]) if type(inner) is cst.Attribute and model.value(inner).is_tensor]
    if trains and (made.name[:1].isupper() or held):
        return None  # it may read what is trained
    if trains and not all(_is_data(value) for value in operands):
        return None
    if made.name in _COSTLY:
        untrained = not trains or all(value.graph == DETACHED for value in operands)
        return Confidence.LIKELY if untrained else Confidence.POSSIBLE
    large = (
        made.name in _LARGE and model.value(node).rank != 0 and any(value.kind in MAYBE_TENSORS for value in operands)
    )
    return Confidence.POSSIBLE if large else None


def _helper(model: Model, site: sites.Call, trains: bool) -> Confidence | None:
    """A function of this file that does nothing but compute, with something costly in it."""
    target = site.target
    if (
        target is None
        or type(target.node) is not cst.FunctionDef
        or target.attributes
        or target.is_generator
        or (
            trains
            and not all(_is_data(argument.value) for argument in site.arguments if argument.value.kind in MAYBE_TENSORS)
        )
    ):
        return None
    costly = False
    for node in within(target.body_nodes):
        if type(node) is cst.Call:
            made, inner = operation(model, node), model.call(node)
            if made is None and not _is_plain(inner):
                return None
            if made is not None and (made.in_place or made.name in _FRESH or made.name[:1].isupper()):
                return None
        if type(node) is cst.Call or type(node) is cst.BinaryOperation:
            made = operation(model, node)
            costly = costly or (made is not None and made.name in _COSTLY)
    return Confidence.LIKELY if costly else None


def _is_plain(site: sites.Call | None) -> bool:
    callee = (site.callee or "") if site is not None else ""
    return callee in _PLAIN_CALLS or callee.startswith("math.")


def _runs_module(model: Model, node: cst.Call | cst.BinaryOperation) -> bool:
    """Whether a network is run, of which nothing is known, and not to be trained."""
    site = model.call(node)
    return (
        site is not None
        and (
            site.function.kind is Kind.MODULE
            or (
                site.callee is None
                and site.target is None
                and (site.method is None or (site.receiver is not None and site.receiver.cls is not None))
            )
        )
        and model.autograd_off(site.context)
    )


def _is_data(value: Value) -> bool:
    """Whether it is a tensor that no optimizer changes, as far as anyone knows."""
    known = value.is_tensor or (value.kind is Kind.UNKNOWN and value.may_be_device)
    return known and not value.attached and value.qual != "torch.nn.Parameter"


def _meets(model: Model, node: cst.CSTNode, body: list[cst.CSTNode], written: set[str]) -> bool:
    """Whether the result is used together with what changes: else the loop repeats all of it on purpose."""
    readings = {node, *model.uses.get(node, ())}
    for reader in (model.parent(one) for one in readings):
        around = reader
        while around is not None and around not in body and not isinstance(around, cst.BaseSmallStatement):
            if isinstance(around, (cst.Call, cst.BinaryOperation)) and names_read(around) & written:
                return True
            around = model.parent(around)
    return False


def _trains(model: Model, body: list[cst.CSTNode]) -> bool:
    """Whether parameters change in the loop: then what is computed of them does."""
    for site in calls_in(model, body):
        if site.method in ("backward", "step") or (site.target is not None and site.target.does(_TRAINS)):
            return True
    return False


def _is_chosen(model: Model, node: cst.CSTNode, body: list[cst.CSTNode], written: set[str]) -> bool:
    """Whether only some rounds come to it, by a choice within the loop."""
    inner, around = node, model.parent(node)
    while around is not None and inner not in body:
        if isinstance(around, (cst.If, cst.IfExp)) and inner is not around.test and names_read(around.test) & written:
            return True
        inner, around = around, model.parent(around)
    return False


def _is_invariant(model: Model, node: cst.CSTNode, written: set[str]) -> bool:
    """Whether an expression reads nothing that the loop writes, and calls only operations that give the same again."""
    if names_read(node) & written:
        return False
    for inner in within([node]):
        if type(inner) is not cst.Call:
            if isinstance(inner, (cst.Await, cst.Yield, cst.NamedExpr)):
                return False
            continue
        made, site = operation(model, inner), model.call(inner)
        if made is None and inner is not node:
            if not _is_plain(site):
                return False
        elif made is not None and (
            made.name in _FRESH or (made.name[:1].isupper() and made.name not in _COSTLY) or made.in_place
        ):
            return False
    return True

"""TL309: a layer with a bias is directly followed by a batch norm, which takes the bias out again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules._patterns import consumers
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Scope
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Kind

_NORMS: Final = frozenset(f"torch.nn.{name}" for name in "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm".split())
# Layers, and the position of `bias` among their arguments.
_LAYERS: Final[dict[str, int]] = {
    "torch.nn.Linear": 2,
    **{f"torch.nn.Conv{n}d": 7 for n in (1, 2, 3)},
    **{f"torch.nn.ConvTranspose{n}d": 7 for n in (1, 2, 3)},
}


class ConvBiasBeforeNorm(Rule):
    code = "TL309"
    name = "conv-bias-before-norm"
    bottleneck = "traffic"
    summary = "A convolution or linear layer with a bias is directly followed by a batch norm"
    fix_availability = FixAvailability.SOMETIMES
    calls = tuple(sorted(_NORMS))
    words = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if surroundings.in_test(site.context):
            return
        if site.function.kind is Kind.MODULE:
            before = _feeding_layer(site, model)
            makers = [model.call(origin) for origin in site.function.origins]
        else:
            before = _neighbour(site.node, model)
            makers = [site]
        # A class that is a parameter: its default is a guess.
        guessed = any(maker is not None and maker.function.deps for maker in makers)
        for layer in before:
            bias = layer.argument(_LAYERS[layer.callee or ""], "bias")
            if layer.opaque_arguments or (bias is not None and bias.value.const is not True):
                continue
            if _takes_over_bias(layer, model):
                continue
            fix = (
                NodeFix(Applicability.UNSAFE, "Drop the bias", (NodeEdit(bias.node, "False"),))
                if bias is not None
                else None
            )
            if guessed or _is_optional(site, layer, model):
                confidence = Confidence.POSSIBLE
            else:
                confidence = Confidence.LIKELY
            yield Report(
                layer.node,
                f"{quote(layer.node)} adds a bias that the batch norm behind it subtracts again with the mean",
                "pass `bias=False`: the norm has a bias of its own",
                confidence,
                (("the norm", site.node),),
                fix,
            )


def _takes_over_bias(layer: sites.Call, model: Model) -> bool:
    """Whether the layer is given the bias of another one: `self.conv.bias = nn.Parameter(trained.conv.bias)`."""
    return any(
        model.sites.assigned(f"{assign.name}.bias") for assign in model.sites.given_by(layer.node) if assign.name
    )


def _is_optional(norm: sites.Call, layer: sites.Call, model: Model) -> bool:
    """Whether a branch may leave the norm out, and not the layer, which then needs its bias."""
    fed = layer.context
    if norm.function.kind is Kind.MODULE:
        origin = norm.arguments[0].value.origin if norm.arguments else None
        feeding = model.call(origin) if origin is not None else None
        fed = feeding.context if feeding is not None else norm.context
    around = set(fed.chain())
    return any(link.scope is Scope.BRANCH and link not in around for link in norm.context.chain())


def _neighbour(norm: cst.CSTNode, model: Model) -> Iterator[sites.Call]:
    """The layer that stands before a norm in a `Sequential` or a list of layers."""
    around = model.parent(norm)
    if (
        isinstance(around, cst.Element)
        and isinstance(pair := model.parent(around), cst.Tuple)
        and len(pair.elements) == 2
    ):
        around = model.parent(pair)  # ("norm", BatchNorm2d(...)) of an ordered dictionary
    row: list[cst.BaseExpression] = []
    holder = model.parent(around) if around is not None else None
    if isinstance(around, cst.Element) and isinstance(holder, (cst.List, cst.Tuple)) and _runs_in_order(holder, model):
        row = [element.value for element in holder.elements]
    elif isinstance(around, cst.Arg) and isinstance(holder, cst.Call) and _is_sequential(holder, model):
        row = [argument.value for argument in holder.args]
    index = next((i for i, node in enumerate(row) if norm is node or norm in _second(node)), 0)
    if index:
        last = _second(row[index - 1])[-1]
        yield from _made_layers(model, last)


def _runs_in_order(row: cst.CSTNode, model: Model) -> bool:
    """Whether a list of layers goes into a `Sequential`, itself or under the name that it is given, or is returned."""
    around = model.parent(row)
    while isinstance(around, (cst.Arg, cst.BinaryOperation, cst.IfExp, cst.StarredElement, cst.List)):
        around = model.parent(around)
    if isinstance(around, cst.Return):
        return True
    name: str | None = None
    if isinstance(around, cst.Call):
        site = model.call(around)
        if _is_sequential(around, model):
            return True
        if site is None:
            return False
        if site.callee == "collections.OrderedDict":
            return _runs_in_order(around, model)
        if site.method in ("extend", "append") and site.receiver_node is not None:
            name = dotted(site.receiver_node)
    elif isinstance(around, cst.AugAssign):
        name = dotted(around.target)
    elif isinstance(around, cst.Assign):
        name = dotted(around.targets[0].target)
    return name is not None and any(
        _is_sequential(call.node, model) and any(dotted(argument.node) == name for argument in call.arguments)
        for call in model.sites.calls
        if call.callee is not None and "Sequential" in call.callee or call.method == "__init__"
    )


def _second(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """An entry itself, and what stands under a name in it."""
    if isinstance(node, cst.Tuple) and len(node.elements) == 2:
        return [node, node.elements[1].value]
    return [node]


def _is_sequential(call: cst.Call, model: Model) -> bool:
    site = model.call(call)
    if site is None:
        return False
    if site.callee == "torch.nn.Sequential":
        return True
    owner = model.function_of(site.context)
    return site.method == "__init__" and owner.cls is not None and owner.cls.is_a("torch.nn.Sequential")


def _feeding_layer(site: sites.Call, model: Model) -> Iterator[sites.Call]:
    """The layer whose result a norm takes in `forward`, where nothing else takes it."""
    given = site.argument(0, "input")
    origin = given.value.origin if given is not None else None
    feeding = model.call(origin) if origin is not None else None
    if feeding is None or feeding.function.kind is not Kind.MODULE or origin is None:
        return
    if any(
        step is None or step.call is None or step.call.function.qual not in _NORMS for step in consumers(model, origin)
    ):
        return
    for made in feeding.function.origins if len(feeding.function.origins) == 1 else ():
        call = model.call(made)
        if call is not None and call.callee in _LAYERS:
            yield call


def _made_layers(model: Model, node: cst.BaseExpression) -> Iterator[sites.Call]:
    value = model.value(node)
    for origin in value.origins if len(value.origins) == 1 else ():
        call = model.call(origin)
        if value.kind is Kind.MODULE and call is not None and call.callee in _LAYERS:
            yield call

"""TL405: cuDNN's autotuner is on while the inputs change their shape on every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.pipeline import _loaders as loaders
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import children
from torchlint.semantics.values import Kind

_SWITCH: Final = "torch.backends.cudnn.benchmark"
_RESIZES: Final = frozenset(
    """torch.nn.functional.interpolate torch.nn.functional.upsample torch.nn.functional.adaptive_avg_pool2d
    torchvision.transforms.functional.resize torchvision.transforms.v2.functional.resize
    torchvision.transforms.functional.center_crop""".split()
)
_DRAWS: Final = ("random.", "numpy.random.", "torch.randint", "torch.rand", "secrets.")
_DETECTORS: Final = "torchvision.models.detection."  # they resize each image to a size of its own
_PADS: Final = "torch.nn.utils.rnn.pad_sequence"
_FEW: Final = 8  # sizes that are tuned once each
_DEPTH: Final = 6  # names that are followed from a size back to what drew it


class BenchmarkWithDynamicShapes(Rule):
    code = "TL405"
    name = "benchmark-with-dynamic-shapes"
    bottleneck = "compute"
    summary = "`cudnn.benchmark = True` with inputs whose shape changes on every step"
    fix_availability = FixAvailability.SOMETIMES
    words = ("benchmark",)

    def on_module(self, model: Model) -> Iterator[Report]:
        switched = [a for a in model.sites.assigns if a.qualified == _SWITCH and a.value.const is True]
        change = (_changing_size(model) or _images_of_all_sizes(model)) if switched else None
        confidence = Confidence.LIKELY
        if change is None and switched:
            change = _batches_of_all_lengths(model)
            confidence = Confidence.LIKELY if _convolves(model) else Confidence.POSSIBLE
        if change is None:
            return
        for assign in switched:
            fix = None
            if assign.value_node is not None:
                fix = NodeFix(Applicability.UNSAFE, "Leave the tuner off", (NodeEdit(assign.value_node, "False"),))
            yield Report(
                assign.node,
                f"{quote(assign.node)} tunes every convolution anew for each shape, and {quote(change)} changes shapes",
                "leave it off, or draw from a few sizes that are tuned once each",
                confidence,
                (("the size changes here", change),),
                fix,
            )


def _changing_size(model: Model) -> cst.CSTNode | None:
    """A place that gives images a size drawn at random."""
    for site in model.sites.calls:
        if site.callee in _RESIZES or site.method == "resize":
            for argument in site.arguments:
                if argument.name in (None, "size", "scale_factor", "output_size") and _is_drawn(
                    argument.node, model, 0
                ):
                    return site.node
    for subscript in model.sites.subscripts:
        unknown = subscript.base.kind is Kind.UNKNOWN and len(subscript.node.slice) > 1
        if not (subscript.base.is_tensor or unknown):
            continue
        for element in subscript.node.slice:
            part = element.slice
            if (
                isinstance(part, cst.Slice)
                and part.lower is None
                and part.upper is not None
                and _is_drawn(part.upper, model, 0)
            ):
                return subscript.node
    return None


def _images_of_all_sizes(model: Model) -> cst.CSTNode | None:
    """Where a detector of torchvision gets its images one by one, from a loader that does not stack them."""
    if not any((site.callee or "").startswith(_DETECTORS) for near in model.together for site in near.sites.calls):
        return None
    for site in loaders.loader_calls(model):
        collate = site.argument(None, "collate_fn")
        if collate is not None and collate.value.fn is not None and _only_groups(collate.value.fn, model):
            return collate.node
    return None


def _batches_of_all_lengths(model: Model) -> cst.CSTNode | None:
    """Where a loader pads each batch to the longest of its own samples."""
    for site in loaders.loader_calls(model):
        collate = site.argument(None, "collate_fn")
        function = collate.value.fn if collate is not None else None
        calls = (call for near in model.together for call in near.sites.calls if call.context.owner is function)
        if collate is not None and function is not None and any(call.callee == _PADS for call in calls):
            return collate.node
    return None


def _convolves(model: Model) -> bool:
    """Whether the program makes or calls a convolution, which is what is tuned."""
    return any(
        (site.callee or "").startswith(("torch.nn.Conv", "torch.nn.functional.conv"))
        for near in model.together
        for site in near.sites.calls
    )


def _only_groups(collate: FunctionInfo, model: Model) -> bool:
    """Whether a collate function calls nothing that joins tensors: `tuple(zip(*batch))`."""
    called = [site.callee for near in model.together for site in near.sites.calls if site.context.owner is collate]
    return "zip" in called and set(called) <= {"zip", "tuple", "list"}


def _is_drawn(node: cst.CSTNode, model: Model, depth: int) -> bool:
    """Whether a random draw from more than a few values goes into an expression, through names."""
    if depth > _DEPTH:
        return False
    if isinstance(node, cst.Call):
        callee = model.resolve(node.func) or ""
        if callee.startswith(_DRAWS):
            return not (callee.endswith(("choice", "choices")) and _is_short(node, model))
    if isinstance(node, (cst.Name, cst.Attribute)):
        value = model.value(node)
        if value.is_tensor:
            return False
        assigned = (assign.value_node for assign in model.sites.assigned(dotted(node)))
        sources = [value.origin] if value.origin is not None else assigned
        return any(
            source is not None and source is not node and _is_drawn(source, model, depth + 1) for source in sources
        )
    return any(
        _is_drawn(child, model, depth)
        for child in children(node)
        if isinstance(child, (cst.BaseExpression, cst.Arg, cst.BaseElement))
    )


def _is_short(call: cst.Call, model: Model) -> bool:
    options = model.value(call.args[0].value) if call.args else None
    return (
        options is not None
        and options.kind is Kind.CONTAINER
        and options.items is not None
        and len(options.items) <= _FEW
    )

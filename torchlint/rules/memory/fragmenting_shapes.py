"""TL609: allocations whose size changes on every step."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.knowledge.devices import PLACING
from torchlint.rules._growth import counters
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.semantics import rounds, sites, surroundings
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import below, within
from torchlint.semantics.values import Kind

_PAD_SEQUENCE = "torch.nn.utils.rnn.pad_sequence"
_SIZED = frozenset("empty full ones rand randn zeros".split())
_NEW = frozenset("new_empty new_full new_ones new_zeros".split())
_FOLLOWED = 4  # assignments that a size is followed through


class FragmentingShapes(Rule):
    code = "TL609"
    name = "fragmenting-shapes"
    bottleneck = "memory"
    summary = "Every step allocates tensors of another size"
    ruleset = RuleSet.EXTENDED
    torch = "2.1"
    calls = (_PAD_SEQUENCE, *(f"torch.{name}" for name in sorted(_SIZED)), *(f".{name}" for name in sorted(_NEW)))
    words = ("pad_sequence", "max", "range", "enumerate", "+=")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        hot = model.hot(site.context)
        loop = rounds.step_loop(site.context)
        if hot is None or surroundings.in_test(site.context) or not site.arguments:
            return
        moved = _is_moved(site.node, model)
        if site.result.on_host and not moved:
            return
        if site.callee == _PAD_SEQUENCE:
            what = "the longest row of this batch sets its size"
            if (site.arguments[0].value.on_host and not moved) or _is_rounded_later(site):
                return
        else:
            if loop is None or not any(self._longest(argument.node, loop, model) for argument in _sizes(site)):
                return
            what = "its size is this step's longest length or count"
        if _expandable(model):
            return
        confidence = Confidence.LIKELY if loop is not None else Confidence.POSSIBLE
        yield Report(
            site.node,
            f"{quote(site.node)} asks the allocator for another size {often(hot)}, since {what}: freed blocks fit "
            "nothing that comes later",
            "round the size up to a multiple, so that few sizes recur, or set "
            "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`",
            confidence,
            because(hot),
        )

    def _longest(self, node: cst.BaseExpression, loop: Context, model: Model) -> bool:
        """Whether a size is a maximum over this round's lengths, or its number, and nothing rounds it up."""
        counted = counters(loop, model)
        pieces = [node]
        found = False
        for _ in range(_FOLLOWED):
            names: set[str] = set()
            for piece in pieces:
                for part in within([piece]):
                    if isinstance(part, (cst.FloorDivide, cst.Modulo, cst.BitAnd)):
                        return False
                    if isinstance(part, cst.Call):
                        if _is_maximum(part, model):
                            found = True
                        elif not _measures(part):
                            return False  # a helper may round it
                    elif isinstance(part, cst.Name):
                        names.add(part.value)
                        found = found or part.value in counted
            pieces = [
                assign.value_node
                for name in names
                for assign in model.sites.assigned(name, loop)
                if assign.value_node is not None
            ]
            if found and not pieces:
                break
        return found


def _is_moved(node: cst.CSTNode, model: Model) -> bool:
    """Whether what is made is moved to the device at once."""
    around = model.parent(node)
    call = model.call(model.parent(around) or around) if isinstance(around, cst.Attribute) else None
    return call is not None and call.method in PLACING and not call.result.on_host


def _sizes(site: sites.Call) -> list[sites.Argument]:
    if site.callee == "torch.full" or (site.method == "new_full"):
        return site.arguments[:1]
    return [argument for argument in site.arguments if argument.name in (None, "size")]


def _is_maximum(call: cst.Call, model: Model) -> bool:
    """Whether a call is a maximum over what is known in this step only: lengths, not options."""
    name = dotted(call.func) or ""
    if name == "max" and len(call.args) == 1:
        return True
    return name.endswith(".max") and model.value(call.func).kind is not Kind.NUMBER and not call.args


def _measures(call: cst.Call) -> bool:
    last = (dotted(call.func) or "").rsplit(".", 1)[-1]
    return last in ("len", "size", "int", "map", "item", "max", "range") or last in known.FACTORIES


def _is_rounded_later(site: sites.Call) -> bool:
    """Whether what is padded is padded on to a multiple, or cut, in the same statement."""
    statement = site.statement
    return isinstance(statement, cst.CSTNode) and any(
        isinstance(part, (cst.Modulo, cst.FloorDivide)) for part in within([statement])
    )


def _expandable(model: Model) -> bool:
    """Whether the file sets the allocator to grow its segments."""
    return any(
        isinstance(node, (cst.SimpleString, cst.FormattedStringText)) and "expandable_segments" in node.value
        for node in below(model.module)
    )

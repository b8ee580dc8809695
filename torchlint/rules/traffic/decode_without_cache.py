"""TL312: a token loop feeds the whole growing sequence through the model at every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._patterns import CASTS, Operation, first_operand, made_by, operation, reach
from torchlint.rules._wording import because, quote
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import within
from torchlint.semantics.values import Kind

_JOINS: Final = frozenset("cat concat concatenate hstack".split())
_THROUGH: Final = CASTS | frozenset(["index"])
_OWNERS: Final = (Kind.UNKNOWN, Kind.MODULE, Kind.OBJECT)
_CACHES: Final = ("cache", "past", "state", "memory", "use_cache")


class DecodeWithoutCache(Rule):
    code = "TL312"
    name = "decode-without-cache"
    bottleneck = "traffic"
    summary = "A token loop feeds the whole growing sequence through the model at every step"
    ruleset = RuleSet.EXTENDED
    calls = ("*",)
    words = ("cat", "concat", "hstack", "argmax", "multinomial", "sample")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if not site.arguments or not _runs_model(site) or not site.context.enclosing_loops():
            return
        loop = site.context.enclosing_loops()[0]
        if any(
            argument.star or (argument.name or "").startswith(_CACHES) or "cache" in (argument.name or "")
            for argument in site.arguments
        ):
            return
        joins = [_grown(model, argument.node, loop) for argument in site.arguments]
        if not any(joins) and not any(_is_prefix(model, argument.node, loop) for argument in site.arguments):
            return
        if not _reads_last(
            model, site.node, loop, any(join is not None and _is_along_first(model, join) for join in joins)
        ):
            return
        hot = model.hot(site.context)
        if (
            surroundings.in_test(site.context)
            or (hot is not None and hot.trains)
            or model.function_of(site.context).does(frozenset({EffectKind.BACKWARD}))
        ):
            return
        yield Report(
            site.node,
            f"{quote(site.node)} runs over all tokens so far to learn of one more, so n tokens cost n²/2 positions",
            "keep the keys and values of each layer, and feed the new token alone",
            Confidence.LIKELY,
            because(hot),
        )


def _runs_model(site: sites.Call) -> bool:
    if not site.result.is_tensor and site.result.kind is not Kind.UNKNOWN and site.result.kind is not Kind.CONTAINER:
        return False
    function = site.function
    return (function.kind is Kind.MODULE and not (function.qual or "").startswith("torch.nn.")) or (
        function.kind is Kind.UNKNOWN
        and site.target is None
        and (site.method is None or (site.receiver is not None and site.receiver.kind in _OWNERS))
    )


def _grown(model: Model, sequence: cst.BaseExpression, loop: Context) -> Operation | None:
    """What joins the sequence to itself with something more, in each round."""

    def joins_itself(step: Operation) -> bool:
        parts = step.operands[0] if step.operands else None
        return (
            step.name in _JOINS
            and step.call is not None
            and step.call.context.inside(loop)
            and isinstance(parts, (cst.List, cst.Tuple))
            and any(step.node in made_by(model, element.value) for element in parts.elements)
        )

    reached = reach(model, sequence, joins_itself, first_operand(_THROUGH))
    return reached.operations[0] if reached is not None else None


def _is_along_first(model: Model, join: Operation) -> bool:
    """Whether positions lie along the first axis, before those of the batch."""
    axis = join.argument(1, "dim", "axis")
    return join.name != "hstack" and (axis is None or model.value(axis).const == 0)


def _is_prefix(model: Model, sequence: cst.BaseExpression, loop: Context) -> bool:
    """`ids[:, :end]`, where `end` counts the rounds, and the loop writes tokens into `ids`."""
    node = loop.node
    if (
        not isinstance(sequence, cst.Subscript)
        or not isinstance(node, cst.For)
        or not isinstance(node.target, cst.Name)
    ):
        return False
    counts = any(
        isinstance(part.slice, cst.Slice)
        and part.slice.lower is None
        and isinstance(part.slice.upper, cst.Name)
        and part.slice.upper.value == node.target.value
        for part in sequence.slice
    )
    return counts and any(
        other.mode in ("write", "update")
        and other.context.inside(loop)
        and other.node.value.deep_equals(sequence.value)
        for other in model.sites.subscripts
    )


def _reads_last(model: Model, call: cst.Call, loop: Context, along_first: bool) -> bool:
    """Whether the loop reads only the last position of what the model returns, along the first axis or the second."""
    body = set(within([loop.node])) if loop.node is not None else set()
    named = (use for origin in made_by(model, call) for use in model.uses.get(origin, ()))
    readings: list[cst.CSTNode] = [call, *(use for use in named if use in body)]
    last = 0
    while readings:
        reading = readings.pop()
        around = model.parent(reading)
        if isinstance(around, cst.Attribute):
            readings.append(around)
        elif isinstance(around, cst.Subscript) and around.value is reading:
            made = operation(model, around)
            position = around.slice[1].slice if len(around.slice) > 1 else None
            if made is None:
                return False
            first = around.slice[0].slice
            if along_first and isinstance(first, cst.Index) and model.value(first.value).const == -1:
                last += 1
                continue
            if position is None:
                readings.append(around)  # `out[0]`, then its last position
                continue
            start = (
                position.value
                if isinstance(position, cst.Index)
                else position.lower
                if isinstance(position, cst.Slice)
                else None
            )
            if start is None or model.value(start).const != -1:
                return False
            last += 1
        elif isinstance(around, cst.Assign):
            continue
        else:
            return False
    return last > 0

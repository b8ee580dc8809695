"""Whether reading a value waits for the device, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._rates import may_be_hot
from torchlint.rules._wording import because, often
from torchlint.semantics import hotness, rounds, surroundings
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import HOT_ROLES, CallerSite, EffectKind, FunctionInfo, Parameter, Role
from torchlint.semantics.hotness import Hot
from torchlint.semantics.model import Model
from torchlint.semantics.sites import Binary
from torchlint.semantics.values import DEVICE, MAYBE_TENSORS, PLACES, Kind, Value, dependence

_WAIT = frozenset({EffectKind.WAIT})


@dataclass(frozen=True, slots=True)
class Wait:
    """One place where the host waits: how sure, and what makes it hot."""

    confidence: Confidence
    hot: Hot | None

    @property
    def often(self) -> str:
        """How often it waits, in words that end a sentence."""
        return often(self.hot)

    @property
    def related(self) -> tuple[tuple[str, cst.CSTNode], ...]:
        """The places that make it hot."""
        return because(self.hot)


def waits(model: Model, value: Value, context: Context, *, by_method: bool = False) -> Wait | None:
    """Whether the host waits where it reads `value`, in code that runs once per step or more often.

    Code that nothing in the file calls may run on every step of another file: there the wait is `possible`.
    `by_method`: it is read by a method that tensors have, which is evidence of a tensor.
    """
    confidence = model.device_confidence(value, context, by_method=by_method)
    if confidence is None or surroundings.on_host_alone(context) or given_on_host(model, value, context):
        return None
    hot = model.hot(context)
    trains = hot is not None and (hot.trains or (context.owner is not None and _is_trained(context.owner)))
    if hot is not None and not trains and measures(model, context) and not only_meters(model, context):
        return None  # the wait that closes the interval of a benchmark
    return at_rate(
        model,
        context,
        confidence,
        evident=value.may_be_device or (value.kind in (Kind.TENSOR, Kind.BATCH) and value.conf > Confidence.POSSIBLE),
    )


@question(False)
def _is_trained(function: FunctionInfo) -> bool:
    """Whether a module's forward is run by a step that trains: clocks around that tell how long steps take."""
    return function.role is Role.FORWARD and any(
        (above is not None and above.trains) or (caller.context.owner is not None and _is_trained(caller.context.owner))
        for caller in function.callers
        for above in (hotness.hot(caller.context),)
    )


def as_operand(value: Value) -> Value:
    """What a function of torch that wants a tensor is given: something unknown is one by that."""
    return value.but(kind=Kind.BATCH) if value.kind is Kind.UNKNOWN else value


def as_number(value: Value, node: cst.BaseExpression) -> Value:
    """What is made a number: a part of what the function was given, where no more is known of that, may be a tensor."""
    if value.kind is Kind.UNKNOWN and value.deps and isinstance(node, (cst.Subscript, cst.BinaryOperation)):
        return value.but(kind=Kind.TENSOR, conf=Confidence.POSSIBLE)
    return value


def at_rate(model: Model, context: Context, confidence: Confidence, *, evident: bool = True) -> Wait | None:
    """A wait in this context, unless the context is known to be rare.

    `evident`: it would wait if it ran often, so that it is worth a word where the file does not tell how often it runs.
    """
    hot = model.hot(context)
    if hot is not None:
        return Wait(confidence, hot)
    if evident and may_be_hot(context):
        return Wait(Confidence.POSSIBLE, None)
    return None


def given_on_host(model: Model, value: Value, context: Context) -> bool:
    """Whether every call that makes the code hot gives on the host what the value comes from."""
    owner = context.owner
    if owner is None or owner.role in HOT_ROLES or owner.passed_on:
        return False
    sources = [p for p in owner.parameters if value.deps & PLACES & dependence(p.index)]
    if not sources or (value.may_be_device and not any(owner.entry[p.index][0] & DEVICE for p in sources)):
        return False
    hot = [caller for caller in owner.callers if model.hot(caller.context) is not None]
    return bool(hot) and all(_is_on_host(sources, caller) for caller in hot)


def _is_on_host(sources: list[Parameter], caller: CallerSite) -> bool:
    """Whether a call gives for these parameters what is on the host, or no tensor, and at least one that is."""
    given = [parameter.passed.get(caller.node) for parameter in sources]
    tensors = [one for one in given if one is None or one.kind in MAYBE_TENSORS]
    return bool(tensors) and all(one is not None and one.on_host for one in tensors)


def measures(model: Model, context: Context, _seen: frozenset[FunctionInfo] = frozenset()) -> bool:
    """Whether the wait belongs to a measurement: a clock is read as often as it waits, here or in every caller."""
    owner = model.function_of(context)
    loop = context.enclosing(Scope.LOOP)
    inside = loop if loop is not None and loop.owner is context.owner else None
    # What is measured in a loop further in has ended when this runs; what is measured now and then waits then.
    if any(
        (inside is None or inside in clock.enclosing_loops()[:1]) and (context.rare or not clock.rare)
        for clock in _clocks(owner, model)
    ):
        return True
    if inside is not None or not owner.callers or owner in _seen:
        return False
    seen = _seen | {owner}
    return all(
        measures(model, caller.context, seen) and not only_meters(model, caller.context) for caller in owner.callers
    )


def only_meters(model: Model, context: Context) -> bool:
    """Whether clocks in a loop over data tell only how long each round took, from one to the next: no wait closes that.

    As little does one close an interval within the round that ends while the device works. Where a helper reads the
    clock, the interval may be any.
    """
    loop = next(iter(context.enclosing_loops()), None)
    if loop is None or not rounds.takes_data(loop):
        return False
    order: dict[cst.CSTNode, int] = {}
    waited: list[int] = []
    for index, effect in enumerate(model.function_of(context).effects):
        if effect.context.inside(loop):
            if effect.kind is EffectKind.CLOCK:
                order[effect.node] = index
            elif effect.kind is EffectKind.ELAPSED or (
                effect.callee is not None and _reads_clock(effect.callee, model)
            ):
                return False
            if effect.kind is EffectKind.WAIT or (effect.callee is not None and effect.callee.does(_WAIT)):
                waited.append(index)
    return not any(
        site.context.inside(loop)
        and any(
            order[start] < wait < order[end]
            for start in site.right.origins
            for end in site.left.origins
            if start in order and end in order
            for wait in waited
        )
        for site in _intervals(model)
    )


def _intervals(model: Model) -> Iterator[Binary]:
    """The differences of two readings of a clock."""
    for site in model.sites.binaries:
        if site.left.kind is Kind.CLOCK and site.right.kind is Kind.CLOCK and site.operator == "-":
            yield site


def _is_deadline(reading: cst.CSTNode, model: Model) -> bool:
    """Whether a clock is read only to see whether time is up."""
    home = model.home.get(reading, model)
    asked = (cst.Comparison, cst.ComparisonTarget)
    if isinstance(home.parent(reading), asked):
        return True
    spans = [site for site in _intervals(home) if reading in site.left.origins or reading in site.right.origins]
    return bool(spans) and all(isinstance(home.parent(site.node), asked) for site in spans)


@question(())
def _clocks(function: FunctionInfo, model: Model) -> tuple[Context, ...]:
    """Where a function reads a clock that measures something, itself or in what it calls."""
    return tuple(
        effect.context
        for effect in function.effects
        if (effect.kind is EffectKind.CLOCK and not _is_deadline(effect.node, model))
        or effect.kind is EffectKind.ELAPSED
        or (effect.callee is not None and _reads_clock(effect.callee, model))
    )


@question(False)
def _reads_clock(function: FunctionInfo, model: Model) -> bool:
    return any(effect.kind is EffectKind.CLOCK and not _is_deadline(effect.node, model) for effect in function.effects)

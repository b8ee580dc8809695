"""What happens between two readings of a clock: the effects of a function in order, with those of its helpers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics import rounds
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import Effect, EffectKind, FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.values import ANYWHERE, DEVICE, HOST, Gate, Kind

_DEEPEST = 4  # how many calls deep helpers are followed
_WORK = frozenset({EffectKind.LAUNCH, EffectKind.FORWARD})
_WAITS = frozenset({EffectKind.WAIT})
_LONGEST = 4000  # effects of one function, helpers included


@dataclass(frozen=True, slots=True)
class Happening:
    """An effect as the function at hand sees it: `context` is where that function does it, or calls what does.

    A call is one where what is called is not followed any deeper.

    `gates` are what makes it rarer than the code at `context`, in the functions that are called there.
    """

    effect: Effect
    context: Context
    gates: frozenset[cst.CSTNode | None]


@question(())
def happenings(function: FunctionInfo) -> tuple[Happening, ...]:
    """The effects of a function in order of evaluation, those of the file's functions it calls in their place."""
    result: list[Happening] = []
    _collect(function, "", None, frozenset(), (function,), result)
    return tuple(result)


def _collect(
    function: FunctionInfo,
    part: str,
    context: Context | None,
    gates: frozenset[cst.CSTNode | None],
    path: tuple[FunctionInfo, ...],
    result: list[Happening],
) -> None:
    effects = function.effects
    if part:  # a generator behind a `with`: up to its yield, or from there on
        split = next((i for i, e in enumerate(effects) if e.kind is EffectKind.YIELD), len(effects))
        effects = effects[:split] if part == "enter" else effects[split + 1 :]
    stands: Context | None = None
    further = gates
    for effect in effects:
        if len(result) >= _LONGEST:
            return
        here = context if context is not None else effect.context
        if context is not None and effect.context is not stands:  # few are where the one before was not
            stands = effect.context
            further = gates.union(_gates(stands))
        if effect.kind is EffectKind.CALL and effect.callee is not None:
            if effect.callee in path:
                continue
            if len(path) > _DEEPEST:
                result.append(Happening(effect, here, further))
            else:
                first = len(result)
                _collect(effect.callee, effect.part, here, further, (*path, effect.callee), result)
                if effect.callee.role is Role.SETUP:  # reading and writing files: what it launches is little of it
                    result[first:] = [h for h in result[first:] if h.effect.kind not in _WORK]
        else:
            result.append(Happening(effect, here, further))


def _gates(context: Context) -> Iterator[cst.CSTNode | None]:
    """What lets code run only sometimes when its function runs, as far as is known."""
    for link in context.in_function():
        if link.scope is Scope.HANDLER or (link.scope is Scope.BRANCH and link.gate in (Gate.RARE, Gate.DEBUG)):
            yield link.node


def _runs_with(effect: Happening, end: Happening) -> bool:
    """Whether an effect happens on every way to `end`: no gate that makes code rare stands around it alone."""
    if not effect.gates <= end.gates:
        return False
    for link in effect.context.chain():
        if link.scope is Scope.FUNCTION:
            return True
        if link.scope is Scope.BRANCH and link.gate in (Gate.RARE, Gate.DEBUG) and not end.context.inside(link):
            return False
        if link.scope is Scope.HANDLER and not end.context.inside(link):
            return False
    return True


def common_loop(a: Context, b: Context) -> Context | None:
    """The innermost loop around both."""
    around = b.enclosing_loops()
    return next((loop for loop in a.enclosing_loops() if any(loop is other for other in around)), None)


def unwaited(start: cst.CSTNode, end: cst.CSTNode, function: FunctionInfo, model: Model) -> Confidence | None:
    """How sure it is that an interval of the function holds device work nobody waited for; None where it does not.

    `start` and `end` are the two readings. Where `end` comes first, the interval goes through the end of a loop's round
    into the next; there any wait in it keeps the mean right, since each interval then spans one point of rest.
    """
    if not _may_see(function, start, end):
        return None
    seen = happenings(function)
    starts = [i for i, h in enumerate(seen) if h.effect.node is start and h.effect.kind is EffectKind.CLOCK]
    ends = [i for i, h in enumerate(seen) if h.effect.node is end and h.effect.kind is EffectKind.CLOCK]
    if not starts or not ends:
        return None
    worst: Confidence | None = None
    for first in starts:
        last = next((i for i in ends if i > first), None)
        if last is not None:
            found = _pending(seen[first + 1 : last], seen[last], model, around=False)
            if found is not None and _is_total(seen[first], seen[last]):
                found = Confidence.POSSIBLE
        else:
            last = ends[0]
            loop = common_loop(seen[first].context, seen[last].context)
            if loop is None:
                continue
            inside = [i for i, h in enumerate(seen) if h.context.inside(loop)]
            between = [seen[i] for i in inside if i > first] + [seen[i] for i in inside if i < last]
            found = _pending(between, seen[last], model, around=True)
        if found is not None and (worst is None or found > worst):
            worst = found
    return worst


def _may_see(function: FunctionInfo, *readings: cst.CSTNode) -> bool:
    """Whether a function may come to all of some readings, itself or in what it calls: quicker than to follow it."""
    left = set(readings)
    called = {function}
    todo = [function]
    while todo and left:
        for effect in todo.pop().effects:
            if effect.kind is EffectKind.CLOCK:
                left.discard(effect.node)
            elif effect.callee is not None and effect.callee not in called:
                called.add(effect.callee)
                todo.append(effect.callee)
    return not left


def reads_both(start: cst.CSTNode, end: cst.CSTNode, function: FunctionInfo) -> bool:
    """Whether a run of the function takes both readings: the start first, or each in every round of one loop."""
    if function.is_generator or not _may_see(function, start, end):
        return False  # what happens between the readings of a generator is its user's
    readings = [h for h in happenings(function) if h.effect.kind is EffectKind.CLOCK]
    first = next((i for i, h in enumerate(readings) if h.effect.node is start), None)
    if first is None:
        return False
    if any(h.effect.node is end for h in readings[first + 1 :]):
        return True
    return any(h.effect.node is end and common_loop(h.context, readings[first].context) for h in readings[:first])


def sets_up(function: FunctionInfo, _depth: int = 0) -> bool:
    """Whether a function builds, loads or saves, or only what does so calls it: once, and no benchmark."""
    if function.role is Role.SETUP:
        return True
    owners = [caller.context.owner for caller in function.callers]
    return bool(owners) and _depth < _DEEPEST and all(o is not None and sets_up(o, _depth + 1) for o in owners)


def unwaited_run(function: FunctionInfo, model: Model) -> Confidence | None:
    """How sure it is that a function ends while device work it launched still runs; None where it does not."""
    pending: Confidence | None = None
    for happening in happenings(function):
        if happening.effect.kind is EffectKind.WAIT:
            pending = None
        elif happening.effect.kind in (EffectKind.LAUNCH, EffectKind.FORWARD):
            sure = _launches(happening.effect, model)
            if sure is not None and (pending is None or sure > pending):
                pending = sure
    return pending


def _pending(between: Sequence[Happening], end: Happening, model: Model, *, around: bool) -> Confidence | None:
    pending: Confidence | None = None
    unsure = False
    for happening in between:
        effect = happening.effect
        if end.context.excludes(happening.context):
            continue
        if effect.callee is not None:
            unsure = unsure or effect.callee.does(_WAITS)
        if effect.kind is EffectKind.WAIT and _runs_with(happening, end):
            if around or any(
                not end.context.inside(loop) and not end.effect.context.inside(loop)
                for loop in (*happening.context.enclosing_loops(), *effect.context.enclosing_loops())
            ):
                return None  # a point of rest in every round: what is left over is one round at the most
            pending = None
        elif effect.kind in (EffectKind.LAUNCH, EffectKind.FORWARD) and _runs_with(happening, end):
            sure = _launches(effect, model)
            # What is still queued at the end of a long run is little of the whole.
            unsure = unsure or _is_long_run(happening, end.context)
            if sure is not None and (pending is None or sure > pending):
                pending = sure
    return Confidence.POSSIBLE if pending is not None and unsure else pending


def _is_total(start: Happening, end: Happening) -> bool:
    """Whether each round of a loop reads how long all rounds took so far: what is still queued is one of many."""
    return any(
        not start.context.inside(loop) and not start.effect.context.inside(loop)
        for loop in (*end.context.enclosing_loops(), *end.effect.context.enclosing_loops())
    )


def _is_long_run(happening: Happening, end: Context) -> bool:
    """Whether the interval goes over all batches of a data set, or over epochs: the queue is shorter than that."""
    return any(not end.inside(loop) and rounds.takes_data(loop) for loop in happening.context.enclosing_loops())


def _launches(effect: Effect, model: Model) -> Confidence | None:
    """How sure it is that an effect puts work on a device."""
    value = effect.value
    place = value.device if value is not None else ANYWHERE
    if not place & (DEVICE | ANYWHERE):
        return None
    if place & DEVICE:
        return Confidence.LIKELY
    if value is not None and value.kind is Kind.TENSOR and place & HOST:
        return Confidence.POSSIBLE  # it is known to be on the host at times, and nowhere else
    if (value is not None and value.conf is Confidence.POSSIBLE) or _is_foreign(effect, model):
        return Confidence.POSSIBLE
    return Confidence.LIKELY if model.accelerated else Confidence.POSSIBLE


def _is_foreign(effect: Effect, model: Model) -> bool:
    """Whether a function that neither the file nor torch defines is called: it may wait by itself."""
    site = model.call(effect.node)
    return site is not None and site.function.kind is Kind.FUNCTION and not (site.callee or "").startswith("torch.")


def functions_with(function: FunctionInfo, depth: int = 3) -> list[FunctionInfo]:
    """The function itself and those that call it, nearest first: where an interval it ends may have begun."""
    found = [function]
    level = [function]
    for _ in range(depth):
        above: list[FunctionInfo] = []
        for inner in level:
            for caller in inner.callers:
                owner = caller.context.owner
                if owner is not None and owner not in found:
                    found.append(owner)
                    above.append(owner)
        level = above
    return found

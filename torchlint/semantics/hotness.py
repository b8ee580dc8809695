"""How often code runs: whether once per step or more, from the loops around it and from who calls its function.

It is worked out from all that was read, when a rule asks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import libcst as cst

from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Asked, Context, Iterates, Scope
from torchlint.semantics.functions import (
    COLD_ROLES,
    HOT_ROLES,
    Effect,
    EffectKind,
    FunctionInfo,
    Role,
)
from torchlint.semantics.names import dotted
from torchlint.semantics.reach import may_reach, opens
from torchlint.semantics.rounds import (
    FEW_ROUNDS,
    FURTHER,
    WORK,
    feeds_itself,
    function_work,
    goes_through_steps,
    is_of_a_module,
    is_rare,
    iterates,
    own_work,
    takes_from_loader,
    works_near,
)
from torchlint.semantics.surroundings import in_test
from torchlint.semantics.values import Gate, Kind

_TRIAL = 10  # rounds


@dataclass(slots=True, eq=False)
class Hot:
    """Why code is hot, and how often it runs."""

    reasons: tuple[tuple[str, cst.CSTNode], ...]  # what makes it hot, from the line outwards
    rate: Iterates  # the finest thing it runs once for: per step, layer, parameter, element
    trains: bool  # the hot loop or interface runs backward or an optimizer step, or is a training interface
    interface: bool  # in forward, an optimizer's step, a loop with backward, an autograd Function
    loop: cst.CSTNode | None  # the loop whose steps they are, where there is one
    phases: bool = False  # each round of that loop goes through steps of its own, and trains nothing beside them


class Body(NamedTuple):
    """Where code stands in the body of a function, whose callers tell how hot it is."""

    function: FunctionInfo
    rate: Iterates
    asks: Asked
    yields: bool  # in a loop of a generator that hands out what each round makes


_FINENESS = [
    Iterates.EPOCHS,
    Iterates.GROUPS,
    Iterates.STEPS,
    Iterates.OTHER,
    Iterates.LAYERS,
    Iterates.PARAMETERS,
    Iterates.ELEMENTS,
]
_STEPS = frozenset({EffectKind.OPTIMIZER_STEP})
_NEAR = 2  # calls from a step to its backward


def hot(context: Context) -> Hot | None:
    """Whether code here runs once per step, token, batch or element, and why; None where that is not known."""
    if context.heat is False:
        context.heat = _heat(context)
    if not isinstance(context.heat, Body):
        return context.heat  # type: ignore[return-value]
    above = _hot_body(context.heat.function, context.heat.asks, context.heat.yields)
    return None if above is None else replace(above, rate=_finer(context.heat.rate, above.rate))


def _finer(a: Iterates, b: Iterates) -> Iterates:
    return a if _FINENESS.index(a) >= _FINENESS.index(b) else b


def _heat(context: Context) -> Hot | Body | None:
    """How hot the loops of its function make code; where they do not tell, where it stands in the function's body."""
    rate = Iterates.STEPS
    asks: Asked = frozenset()
    step_loop: Context | None = None
    leaves = ends = yields = False
    for link in context.chain():
        if link.scope is Scope.LOOP:
            what = iterates(link)
            assert link.loop is not None
            if what is Iterates.STEPS:
                if leaves or ends:
                    return None
                step_loop = link
                break
            leaves = False
            if what is Iterates.EPOCHS:
                return None
            if any(effect.kind is EffectKind.YIELD for effect in link.loop.body_effects):
                yields = True
            elif what is not Iterates.GROUPS and (link.loop.count is None or link.loop.count > FEW_ROUNDS):
                rate = _finer(rate, what)
        elif link.scope is Scope.BRANCH:
            if link.gate is Gate.DEBUG or (link.gate is Gate.RARE and not accumulates(link)):
                return None
            asks |= link.asks
            leaves |= link.leaves
            ends |= link.ends
        elif link.scope in (Scope.HANDLER, Scope.CLASS, Scope.MODULE) or "graph capture" in link.flags:
            return None  # what is captured is replayed, and not run again
        elif link.scope is Scope.FUNCTION:
            assert link.function is not None
            return Body(link.function, rate, asks, yields)
    if step_loop is None or _is_trial(step_loop):
        return None
    owner = step_loop.owner
    if owner is not None and not owner.passed_on and not opens(owner, asks):
        return None
    if (owner is not None and (owner.role in COLD_ROLES or owner.always_fails)) or in_test(step_loop):
        return None
    trains = own_work(step_loop, WORK)
    if not trains and owner is not None and _is_of_a_dataset(owner):
        return None  # it makes the samples once, and saves them
    assert step_loop.node is not None
    return Hot(
        ((_step_reason(step_loop), step_loop.node),),
        rate,
        trains=trains,
        interface=trains or (owner is not None and owner.role in HOT_ROLES),
        loop=step_loop.node,
        phases=not (trains or takes_from_loader(step_loop) or feeds_itself(step_loop)) and _holds_steps(step_loop),
    )


def _is_trial(loop: Context) -> bool:
    """Whether a module's own code runs a loop for a few rounds: to see that it works, and no more."""
    count = loop.loop.count if loop.loop is not None else None
    return loop.owner is None and count is not None and count <= _TRIAL


def _is_of_a_dataset(function: FunctionInfo) -> bool:
    """Whether it is a method of a dataset."""
    return function.cls is not None and any(name.endswith("Dataset") for name in function.cls.base_names)


def _holds_steps(loop: Context) -> bool:
    """Whether each round of a loop goes through steps of its own: an episode, a prompt, a layer and its samples."""
    facts = loop.loop
    assert facts is not None
    return any(iterates(inner) in FURTHER and not is_rare(inner) for inner in facts.inner) or any(
        effect.callee is not None and not effect.context.rare and goes_through_steps(effect.callee, False)
        for effect in facts.body_effects
    )


def accumulates(gate: Context) -> bool:
    """Whether a gate is that of gradient accumulation: the optimizer's step is behind it, so its body is the step.

    Not where that optimizer steps beside it as well: what is behind it, such as a penalty, is done now and then.
    """
    owner = gate.owner
    if owner is None:
        return False
    around = next(iter(gate.enclosing_loops()), None)
    steps = [effect for effect in owner.effects if effect.kind in _STEPS]
    beside = {
        _optimizer_of(effect)
        for effect in steps
        if around is not None and effect.context.inside(around) and not effect.context.rare
    }
    return any(
        effect.context.inside(gate) and (_optimizer_of(effect) or effect) not in beside for effect in steps
    ) or any(
        effect.context.inside(gate) and effect.callee is not None and function_work(effect.callee, _STEPS)
        for effect in owner.effects
    )


def _optimizer_of(effect: Effect) -> str | None:
    """The name of the optimizer that a step is of: `optimizer.step()`, `scaler.step(optimizer)`."""
    call = effect.node
    if not isinstance(call, cst.Call):
        return None
    given = call.args[0].value if call.args else None
    return (dotted(given) if given is not None else None) or (dotted(call.func) or "").removesuffix(".step") or None


def _step_reason(loop: Context) -> str:
    facts = loop.loop
    assert facts is not None
    if own_work(loop, frozenset({EffectKind.BACKWARD})):
        return "this loop runs backward on every step"
    if own_work(loop, frozenset({EffectKind.OPTIMIZER_STEP})):
        return "this loop steps an optimizer"
    if facts.iterable is not None and facts.iterable.kind is Kind.LOADER:
        return "this loop takes a batch from a loader on every step"
    if own_work(loop, frozenset({EffectKind.FORWARD})):
        return "this loop runs a model on every step"
    return "this loop takes a step of a simulator on every round"


_INTERFACE_REASONS = {
    Role.FORWARD: "`{}` is a module's forward: it runs on every step",
    Role.STEP: "`{}` runs once per step by its interface",
    Role.OPTIMIZER_STEP: "`{}` is an optimizer's step",
    Role.AUTOGRAD: "`{}` belongs to an autograd Function: it runs on every step",
    Role.HOOK: "`{}` is a hook: it runs on every step",
}


@question(None)
def _hot_body(function: FunctionInfo, asks: Asked, yields: bool) -> Hot | None:
    """Whether a function's body is hot: by its interface, or through a caller that asks for what is behind a flag.

    `yields`: the part of a generator that runs once for each round of the loop that iterates it.
    """
    if function.role in HOT_ROLES and opens(function, asks):
        reason = _INTERFACE_REASONS[function.role].format(function.qualname)
        trains = function.role in (Role.STEP, Role.OPTIMIZER_STEP, Role.AUTOGRAD)
        return Hot(((reason, function.node),), Iterates.STEPS, trains=trains, interface=True, loop=None)
    if function.role in COLD_ROLES and not _takes_tensors(function):
        return None
    best: Hot | None = None
    for caller in may_reach(function, asks):
        rounds = caller.rounds if yields else None
        above = hot(rounds or caller.context)
        if above is None:
            continue
        if best is None or _FINENESS.index(above.rate) > _FINENESS.index(best.rate):
            reasons = ((f"`{function.qualname}` is called here", caller.node), *above.reasons)
            best = replace(above, reasons=reasons)
    whole = function.begins and function.cls is None  # what makes its optimizer is a whole run; a method may be called
    lone = best is None and not function.callers and not whole
    if lone and all(works_near(function, kind, _NEAR) for kind in WORK):
        reason = f"`{function.qualname}` runs backward and steps an optimizer: each call is a step"
        return Hot(((reason, function.node),), Iterates.STEPS, trains=True, interface=True, loop=None)
    return best


def _takes_tensors(function: FunctionInfo) -> bool:
    """Whether a `save` or `prepare_data` is given tensors: of a step, where what does so at times has them itself.

    Or the constructor of what is no module: an object around the tensors of a step is made on every step.
    """
    named = function.name.removeprefix("_") in ("save", "export", "build", "register", "prepare_data", "setup_data")
    return (
        function.role is Role.SETUP
        and (named or (function.name == "__init__" and not is_of_a_module(function)))
        and any(
            given.kind in (Kind.TENSOR, Kind.BATCH)
            for parameter in function.parameters
            for given in parameter.passed.values()
        )
    )

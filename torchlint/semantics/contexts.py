"""Where code stands: the loops, branches, contexts and functions around it, and whether that makes it hot.

A `Context` is a link in the chain from a line up to its module. Hotness is worked out from the whole file once, when a
rule asks: it depends on who calls the function, and on what the loops around do.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.findings import Impact
from torchlint.semantics.functions import (
    COLD_ROLES,
    HOT_ROLES,
    ClassInfo,
    EffectKind,
    FunctionInfo,
    Role,
)
from torchlint.semantics.values import Gate, Kind, Value

if TYPE_CHECKING:
    import libcst as cst


class Scope(enum.Enum):
    """What a link of the chain is."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LOOP = "loop"
    BRANCH = "branch"
    WITH = "with"
    TRY = "try"
    HANDLER = "handler"


class Iterates(enum.Enum):
    """What each round of a loop is."""

    STEPS = "steps"  # batches of a loader, training, evaluation, decoding or sampling steps
    EPOCHS = "epochs"
    ELEMENTS = "elements"  # rows, elements, classes or time steps of a tensor
    PARAMETERS = "parameters"
    LAYERS = "layers"
    GROUPS = "groups"  # an optimizer's parameter groups: one or a few
    OTHER = "other"


@dataclass(slots=True, eq=False)
class LoopFacts:
    """What is known of a loop: what it iterates and what its body does."""

    node: cst.CSTNode  # For, While, or a comprehension
    iterable: Value | None  # None for `while`
    count: int | None = None  # rounds, where that is a literal
    body_effects: list[tuple[EffectKind, FunctionInfo | None]] = field(default_factory=list)  # not those of inner loops
    inner: list[Context] = field(default_factory=list)
    calls_layers: bool = False  # what it calls are the modules that it iterates
    iterates: Iterates | None = None  # worked out when asked


@dataclass(slots=True, eq=False)
class Context:
    """One link: what kind of code this is, the node that opens it, and what surrounds it."""

    scope: Scope
    node: cst.CSTNode | None
    parent: Context | None
    function: FunctionInfo | None = None
    cls: ClassInfo | None = None
    loop: LoopFacts | None = None
    gate: Gate = Gate.NONE
    test: cst.BaseExpression | None = None  # of a branch
    negated: bool = False  # the branch runs where the test is false
    manager: Value | None = None  # of a `with`
    flags: frozenset[str] = frozenset()  # of a `with`: "no_grad", "enable_grad", "autocast:bfloat16", "profiler", ...
    _hot: Hot | None | bool = False

    def chain(self) -> Iterator[Context]:
        """This context and those around it, up to the module, not crossing into callers."""
        context: Context | None = self
        while context is not None:
            yield context
            context = context.parent

    def enclosing(self, scope: Scope) -> Context | None:
        """The nearest context of that sort."""
        for context in self.chain():
            if context.scope is scope:
                return context
        return None

    def enclosing_loops(self) -> list[Context]:
        """The loops around it within its function, innermost first."""
        loops = []
        for context in self.chain():
            if context.scope is Scope.LOOP:
                loops.append(context)
            elif context.scope is Scope.FUNCTION:
                break
        return loops

    @property
    def owner(self) -> FunctionInfo | None:
        """The function whose body it is in, or None at module level."""
        context = self.enclosing(Scope.FUNCTION)
        return context.function if context is not None else None

    def inside(self, other: Context) -> bool:
        """Whether `other` is this context or around it."""
        return any(context is other for context in self.chain())


@dataclass(slots=True, eq=False)
class Hot:
    """Why code is hot, and how often it runs."""

    reasons: tuple[tuple[str, cst.CSTNode], ...]  # what makes it hot, from the line outwards
    rate: Iterates  # the finest thing it runs once for: per step, layer, parameter, element
    trains: bool  # the hot loop or interface runs backward or an optimizer step, or is a training interface
    interface: bool  # in forward, an optimizer's step, a loop with backward, an autograd Function
    loop: cst.CSTNode | None  # the loop whose steps they are, where there is one
    repeated: bool = True  # more than once: a single `forward` call elsewhere is not

    @property
    def impact(self) -> Impact:
        """The impact of one small cost on every run of the line."""
        return _RATE_IMPACT[self.rate]


_RATE_IMPACT = {
    Iterates.STEPS: Impact.LOW,
    Iterates.LAYERS: Impact.MEDIUM,
    Iterates.OTHER: Impact.MEDIUM,
    Iterates.PARAMETERS: Impact.HIGH,
    Iterates.ELEMENTS: Impact.HIGH,
    Iterates.EPOCHS: Impact.LOW,
    Iterates.GROUPS: Impact.LOW,
}
_FINENESS = [Iterates.EPOCHS, Iterates.GROUPS, Iterates.STEPS, Iterates.OTHER, Iterates.LAYERS, Iterates.PARAMETERS, Iterates.ELEMENTS]

_WORK = frozenset({EffectKind.BACKWARD, EffectKind.OPTIMIZER_STEP})


def does(function: FunctionInfo, kinds: frozenset[EffectKind], _seen: frozenset[int] = frozenset()) -> bool:
    """Whether calling the function has one of these effects, itself or through the functions of this file it calls."""
    if id(function) in _seen:
        return False
    seen = _seen | {id(function)}
    for effect in function.effects:
        if effect.kind in kinds:
            return True
        if effect.callee is not None and does(effect.callee, kinds, seen):
            return True
    return False


def _own_work(
    loop: Context, kinds: frozenset[EffectKind], _seen: frozenset[int] = frozenset()
) -> bool:
    """Whether the body of a loop, outside the step loops in it, has one of these effects."""
    facts = loop.loop
    assert facts is not None
    for kind, callee in facts.body_effects:
        if kind in kinds:
            return True
        if callee is not None and id(callee) not in _seen and _function_work(callee, kinds, _seen | {id(callee)}):
            return True
    for inner in facts.inner:
        if iterates(inner) is not Iterates.STEPS and _own_work(inner, kinds, _seen):
            return True
    return False


def _function_work(function: FunctionInfo, kinds: frozenset[EffectKind], seen: frozenset[int]) -> bool:
    """Whether a call of the function has one of these effects outside step loops of its own."""
    for effect in function.effects:
        if effect.kind not in kinds and effect.callee is None:
            continue
        if any(iterates(loop) is Iterates.STEPS for loop in effect.context.enclosing_loops()):
            continue
        if effect.kind in kinds:
            return True
        callee = effect.callee
        if callee is not None and id(callee) not in seen and _function_work(callee, kinds, seen | {id(callee)}):
            return True
    return False


def _has_step_loop(function: FunctionInfo, seen: frozenset[int]) -> bool:
    for effect in function.effects:
        if any(iterates(loop) is Iterates.STEPS for loop in effect.context.enclosing_loops()):
            return True
        callee = effect.callee
        if callee is not None and id(callee) not in seen and _has_step_loop(callee, seen | {id(callee)}):
            return True
    return False


def iterates(loop: Context) -> Iterates:
    """What each round of a loop is, from what it iterates and what its body does."""
    facts = loop.loop
    assert facts is not None
    if facts.iterates is None:
        facts.iterates = Iterates.OTHER  # while working it out: recursion sees an ordinary loop
        facts.iterates = _iterates(loop, facts)
    return facts.iterates


def _iterates(loop: Context, facts: LoopFacts) -> Iterates:
    iterable = facts.iterable
    kind = iterable.kind if iterable is not None else None
    element = iterable.elem if iterable is not None else None
    if kind is Kind.LOADER:
        return Iterates.STEPS
    if kind is Kind.PARAMETERS or _is_parameter(element):
        return Iterates.PARAMETERS
    if iterable is not None and iterable.qual == "param groups":
        return Iterates.GROUPS
    if facts.calls_layers or kind is Kind.MODULE or (element is not None and element.kind is Kind.MODULE):
        return Iterates.LAYERS
    if _own_work(loop, _WORK):
        return Iterates.STEPS
    if any(iterates(inner) is Iterates.STEPS for inner in facts.inner) or any(
        callee is not None and _has_step_loop(callee, frozenset({id(callee)})) for _, callee in facts.body_effects
    ):
        return Iterates.EPOCHS
    if kind is Kind.TENSOR:
        return Iterates.ELEMENTS
    # A decoding loop counts from the length of its prompt: what it runs tells more than what it iterates.
    if _own_work(loop, frozenset({EffectKind.FORWARD})) and not _within_step(loop.owner, frozenset()):
        return Iterates.STEPS
    if iterable is not None and "tensor size" in (iterable.qual or ""):
        return Iterates.ELEMENTS
    return Iterates.OTHER


def _is_parameter(element: Value | None) -> bool:
    if element is None:
        return False
    if element.items:
        return any(item.qual == "torch.nn.Parameter" for item in element.items.values())
    return element.qual == "torch.nn.Parameter"


def hot(context: Context) -> Hot | None:
    """Whether code here runs once per step, token, batch or element, and why; None where that is not known."""
    if context._hot is False:
        context._hot = None  # recursion: a cycle of callers makes nothing hot by itself
        context._hot = _hot(context, frozenset())
    return context._hot  # type: ignore[return-value]


def _finer(a: Iterates, b: Iterates) -> Iterates:
    return a if _FINENESS.index(a) >= _FINENESS.index(b) else b


def _hot(context: Context, seen: frozenset[int]) -> Hot | None:
    reasons: list[tuple[str, cst.CSTNode]] = []
    rate = Iterates.STEPS
    step_loop: Context | None = None
    for link in context.chain():
        if link.scope is Scope.LOOP:
            what = iterates(link)
            assert link.loop is not None
            if what is Iterates.STEPS:
                step_loop = link
                reasons.append((_step_reason(link), link.loop.node))
                break
            if what is Iterates.EPOCHS:
                return None
            if what is not Iterates.GROUPS and (link.loop.count is None or link.loop.count > 4):
                rate = _finer(rate, what)
        elif link.scope is Scope.BRANCH:
            if link.gate is Gate.DEBUG or (link.gate is Gate.RARE and not _accumulates(link)):
                return None
        elif link.scope is Scope.HANDLER:
            return None
        elif link.scope is Scope.CLASS or link.scope is Scope.MODULE:
            return None
        elif link.scope is Scope.FUNCTION:
            function = link.function
            assert function is not None
            return _hot_function(function, rate, reasons, seen)
    if step_loop is None:
        return None
    owner = step_loop.owner
    if owner is not None and owner.role in COLD_ROLES:
        return None
    trains = _own_work(step_loop, _WORK)
    return Hot(
        tuple(reasons),
        rate,
        trains=trains,
        interface=trains or (owner is not None and owner.role in HOT_ROLES),
        loop=step_loop.node,
    )


def _accumulates(gate: Context) -> bool:
    """Whether a gate is that of gradient accumulation: the optimizer's step is behind it, so its body is the step."""
    owner = gate.owner
    return owner is not None and any(
        effect.kind is EffectKind.OPTIMIZER_STEP and effect.context.inside(gate) for effect in owner.effects
    )


def _step_reason(loop: Context) -> str:
    facts = loop.loop
    assert facts is not None
    if _own_work(loop, frozenset({EffectKind.BACKWARD})):
        return "this loop runs backward on every step"
    if _own_work(loop, frozenset({EffectKind.OPTIMIZER_STEP})):
        return "this loop steps an optimizer"
    if facts.iterable is not None and facts.iterable.kind is Kind.LOADER:
        return "this loop takes a batch from a loader on every step"
    return "this loop runs a model on every step"


_INTERFACE_REASONS = {
    Role.FORWARD: "`{}` is a module's forward: it runs on every step",
    Role.STEP: "`{}` runs once per step by its interface",
    Role.OPTIMIZER_STEP: "`{}` is an optimizer's step",
    Role.AUTOGRAD: "`{}` belongs to an autograd Function: it runs on every step",
    Role.HOOK: "`{}` is a hook: it runs on every step",
}


def _hot_function(
    function: FunctionInfo, rate: Iterates, reasons: list[tuple[str, cst.CSTNode]], seen: frozenset[int]
) -> Hot | None:
    if function.role in HOT_ROLES:
        reasons.append((_INTERFACE_REASONS[function.role].format(function.qualname), function.node))
        return Hot(
            tuple(reasons),
            rate,
            trains=function.role in (Role.STEP, Role.OPTIMIZER_STEP, Role.AUTOGRAD),
            interface=True,
            loop=None,
        )
    if function.role in COLD_ROLES or id(function) in seen or len(seen) > 24:
        return None
    seen = seen | {id(function)}
    best: Hot | None = None
    for caller in function.callers:
        above = _hot(caller.context, seen)
        if above is None:
            continue
        candidate = Hot(
            (*reasons, (f"`{function.qualname}` is called here", caller.node), *above.reasons),
            _finer(rate, above.rate),
            above.trains,
            above.interface,
            above.loop,
        )
        if best is None or _FINENESS.index(candidate.rate) > _FINENESS.index(best.rate):
            best = candidate
    if best is None and not function.callers and all(_function_work(function, frozenset({kind}), seen) for kind in _WORK):
        reasons.append((f"`{function.qualname}` runs backward and steps an optimizer: each call is a step", function.node))
        return Hot(tuple(reasons), rate, trains=True, interface=True, loop=None)
    if best is None and function.method == "" and isinstance(function.parent, FunctionInfo) and function.passed_on:
        # A closure that is handed on runs where its maker handed it to; not known.
        return None
    return best


def flag(context: Context, wanted: str) -> bool:
    """Whether a `with` around, in this function, sets a flag such as "no_grad"; the innermost word wins for autograd."""
    for link in context.chain():
        if link.scope is Scope.WITH and wanted in link.flags:
            return True
        if link.scope is Scope.WITH and wanted == "no_grad" and "enable_grad" in link.flags:
            return False
        if link.scope is Scope.FUNCTION:
            return False
    return False


def autograd_off(context: Context, _seen: frozenset[int] = frozenset()) -> bool:
    """Whether autograd is off here: by a `with`, a decorator, or in every caller that is known."""
    for link in context.chain():
        if link.scope is Scope.WITH:
            if "enable_grad" in link.flags:
                return False
            if "no_grad" in link.flags:
                return True
        elif link.scope is Scope.FUNCTION:
            function = link.function
            assert function is not None
            if function.no_grad or function.role in (Role.OPTIMIZER_STEP, Role.AUTOGRAD):
                return True
            if not function.callers or id(function) in _seen:
                return False
            seen = _seen | {id(function)}
            return all(autograd_off(caller.context, seen) for caller in function.callers)
    return False


def compiled(context: Context, _seen: frozenset[int] = frozenset()) -> FunctionInfo | None:
    """The compiled function that covers this code, itself or through its callers in this file; None if there is none."""
    owner = context.owner
    while owner is not None:
        if owner.compiled or (owner.cls is not None and owner.cls.compiled and owner.role is Role.FORWARD):
            return owner
        if id(owner) in _seen:
            return None
        seen = _seen | {id(owner)}
        for caller in owner.callers:
            found = compiled(caller.context, seen)
            if found is not None:
                return found
        owner = owner.parent
        _seen = seen
    return None


def in_test(context: Context) -> bool:
    """Whether the code belongs to a test."""
    owner = context.owner
    while owner is not None:
        if owner.role is Role.TEST:
            return True
        owner = owner.parent
    return False


def in_worker(context: Context, _seen: frozenset[int] = frozenset()) -> bool:
    """Whether the code runs in a loader worker: a Dataset's methods, a collate function, and what only they call."""
    owner = context.owner
    while owner is not None:
        if owner.role is Role.WORKER:
            return True
        if owner.callers and id(owner) not in _seen:
            seen = _seen | {id(owner)}
            if all(in_worker(caller.context, seen) for caller in owner.callers):
                return True
        owner = owner.parent
    return False

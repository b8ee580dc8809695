"""How often code runs, and under what: questions about a context that take the callers of its function into account.

Hotness is worked out from all that was read, when a rule asks: it depends on who calls the function, and on what the
loops around do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import libcst as cst

from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Asked, Context, Iterates, Scope
from torchlint.semantics.functions import (
    COLD_ROLES,
    HOT_ROLES,
    CallerSite,
    EffectKind,
    FunctionInfo,
    Parameter,
    Role,
)
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import below, within
from torchlint.semantics.targets import bindings_in, changed_names, loop_names, targets
from torchlint.semantics.values import MISSING, Gate, Kind, Value


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


_WORK = frozenset({EffectKind.BACKWARD, EffectKind.OPTIMIZER_STEP})
_STEPS = frozenset({EffectKind.OPTIMIZER_STEP})
_FURTHER = (Iterates.STEPS, Iterates.EPOCHS)
_NEAR = 2  # calls from a step to its backward
_RUNS = frozenset({EffectKind.FORWARD})


@question(False)
def does(function: FunctionInfo, kinds: frozenset[EffectKind]) -> bool:
    """Whether calling the function has one of these effects, itself or through the functions of this file it calls."""
    return any(
        effect.kind in kinds or (effect.callee is not None and does(effect.callee, kinds))
        for effect in function.effects
    )


def _own_work(loop: Context, kinds: frozenset[EffectKind]) -> bool:
    """Whether the body of a loop, outside the step loops in it, has one of these effects."""
    facts = loop.loop
    assert facts is not None
    return any(
        effect.kind in kinds
        or (effect.callee is not None and not effect.callee.ends_program and function_work(effect.callee, kinds))
        for effect in facts.body_effects
    ) or any(iterates(inner) is not Iterates.STEPS and _own_work(inner, kinds) for inner in facts.inner)


@question(False)
def function_work(function: FunctionInfo, kinds: frozenset[EffectKind]) -> bool:
    """Whether a call of the function has one of these effects outside step loops of its own."""
    if function.keeps_result:
        return False
    for effect in function.effects:
        if effect.kind not in kinds and effect.callee is None:
            continue
        if any(iterates(loop) is Iterates.STEPS for loop in effect.context.enclosing_loops()):
            continue
        if _instead_of_steps(function, effect.context):
            continue
        if effect.kind in kinds or (effect.callee is not None and function_work(effect.callee, kinds)):
            return True
    return False


def _works_near(function: FunctionInfo, kind: EffectKind, far: int) -> bool:
    """Whether a call of the function has the effect, itself or in what it calls to do its work, a few calls deep."""
    kinds = frozenset({kind})
    if not function_work(function, kinds):
        return False
    return any(
        effect.kind is kind or (far > 0 and effect.callee is not None and _works_near(effect.callee, kind, far - 1))
        for effect in function.effects
    )


@question(frozenset())
def _ways_with_steps(function: FunctionInfo) -> frozenset[tuple[cst.CSTNode, bool]]:
    """The branches of a function in which a loop takes one batch after the other, each by its test's node and truth."""
    return frozenset(
        (link.node, link.negated)
        for effect in function.effects
        for loop in effect.context.enclosing_loops()
        if iterates(loop) is Iterates.STEPS and _takes_batches(loop)
        for link in loop.chain()
        if link.scope is Scope.BRANCH and link.node is not None
    )


def _instead_of_steps(function: FunctionInfo, context: Context) -> bool:
    """Whether code stands beside a branch that goes through batches: it makes one step of all of them, an epoch."""
    ways = _ways_with_steps(function)
    return bool(ways) and any(
        (link.node, not link.negated) in ways and (link.node, link.negated) not in ways
        for link in context.chain()
        if link.scope is Scope.BRANCH
    )


@question(False)
def _goes_through_steps(function: FunctionInfo, batches: bool) -> bool:
    """Whether a call of the function goes through steps, not only now and then.

    With `batches`, through such as train or take their batches from somewhere, so that all of them are an epoch.
    """
    for effect in function.effects:
        loops = effect.context.enclosing_loops()
        if not any(_is_rare(loop) for loop in loops) and any(
            iterates(loop) is Iterates.STEPS and (not batches or _takes_batches(loop)) for loop in loops
        ):
            return True
        if effect.callee is not None and not effect.context.rare and _goes_through_steps(effect.callee, batches):
            return True
    return False


def _takes_batches(loop: Context) -> bool:
    return takes_data(loop) or _trains(loop)


def _is_rare(loop: Context) -> bool:
    """Whether a loop runs now and then only, as seen from the loop around it or from its function."""
    return loop.parent is not None and loop.parent.rare


@question(Iterates.OTHER)
def iterates(loop: Context) -> Iterates:
    """What each round of a loop is, from what it iterates and what its body does."""
    facts = loop.loop
    assert facts is not None
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
    if facts.begins and any(iterates(inner) in _FURTHER for inner in facts.inner):
        return Iterates.EPOCHS  # a run, or a fold, of which each trains a model of its own
    if element is not None and _is_named_module(element):
        return Iterates.LAYERS
    # What is done now and then, such as an evaluation every thousand steps, makes no epochs of steps.
    steps = [inner for inner in facts.inner if iterates(inner) is Iterates.STEPS and not _is_rare(inner)]
    runs = _own_work(loop, _RUNS)
    called = [e.callee for e in facts.body_effects if e.callee is not None and not e.context.rare]
    if steps or any(_goes_through_steps(callee, False) for callee in called):
        if loop.owner is not None and _within_step(loop.owner) and not any(map(_takes_from_loader, steps)):
            return Iterates.STEPS  # what one step does several times over, such as the tasks that it learns from
        # A round that decodes, samples or plays through takes one batch: only a loop that counts holds epochs of those.
        counts = iterable is None or iterable.qual == "range"
        if (
            (not runs and counts)
            or any(_takes_batches(inner) for inner in steps)
            or any(_goes_through_steps(callee, True) for callee in called)
        ):
            return Iterates.EPOCHS
        runs = True
    of_tensor = kind is Kind.TENSOR or (iterable is not None and "tensor size" in (iterable.qual or ""))
    # A decoding loop counts from the length of its prompt, and a sampler walks over its noise levels: what they run
    # tells more than what they iterate.
    runs = runs and facts.count != 1  # what is run once is no step of several
    if runs and not (of_tensor and (_runs_on_rows(loop) or _over_labels(loop))) and not _part_of_a_step(loop):
        return Iterates.STEPS
    return Iterates.ELEMENTS if of_tensor else Iterates.OTHER


def _runs_on_rows(loop: Context) -> bool:
    """Whether what a loop runs is given the very element, or the row of that number, not what the round before made."""
    facts = loop.loop
    assert facts is not None
    variables = loop_names(facts.node)
    for name, value in bindings_in(facts.node):
        if _rows_taken(value) & variables:
            variables.add(name)
    runs = [effect.node for effect in facts.body_effects if effect.kind is EffectKind.FORWARD]
    return bool(runs) and all(
        isinstance(node, cst.Call) and bool(node.args) and bool(_rows_taken(node.args[0].value) & variables)
        for node in runs
    )


def _over_labels(loop: Context) -> bool:
    """Whether a loop walks the labels that a tensor holds, as `unique` finds them: what it runs, it runs on a part."""
    facts = loop.loop
    iterable = facts.iterable if facts is not None else None
    return (
        iterable is not None
        and bool(iterable.origins)
        and all(
            isinstance(origin, cst.Call) and (dotted(origin.func) or "").rpartition(".")[2] == "unique"
            for origin in iterable.origins
        )
    )


def _rows_taken(node: cst.BaseExpression) -> set[str]:
    """The names of what an operand is, through methods of it, and of the numbers that it is indexed by."""
    names: set[str] = set()
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Subscript):
            indices = [element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)]
            names |= {index.value for index in indices if isinstance(index, cst.Name)}
            node = node.value
        elif isinstance(node, cst.Call):
            node = node.func
        elif isinstance(node, cst.Attribute):
            node = node.value
        else:
            return names
    return names | {node.value}


def _trains(loop: Context) -> bool:
    """Whether a loop's steps take batches or train: not so the rounds in which a step runs its model once more."""
    facts = loop.loop
    assert facts is not None
    return _takes_from_loader(loop) or _own_work(loop, _WORK)


def step_loop(context: Context) -> Context | None:
    """The innermost loop around, within the function, that goes through the steps of a training or an evaluation."""
    return next((loop for loop in context.enclosing_loops() if iterates(loop) is Iterates.STEPS), None)


def _takes_from_loader(loop: Context) -> bool:
    assert loop.loop is not None
    return loop.loop.iterable is not None and loop.loop.iterable.kind is Kind.LOADER


def takes_data(loop: Context) -> bool:
    """Whether each round of a loop is an epoch, or takes a batch of its own; not a loop that only counts."""
    facts = loop.loop
    assert facts is not None
    if iterates(loop) is Iterates.EPOCHS or _takes_from_loader(loop):
        return True
    if iterates(loop) is not Iterates.STEPS or not isinstance(facts.node, cst.For) or facts.iterable is None:
        return False
    # Numbers are no data: a count, the scales of an evaluation, the noise levels of a sampler.
    counts = facts.iterable.qual == "range" or _is_of_numbers(facts.iterable)
    return not counts and not feeds_itself(loop)


def _is_of_numbers(iterable: Value) -> bool:
    return iterable.kind is Kind.CONTAINER and iterable.elem is not None and iterable.elem.kind is Kind.NUMBER


@question(False)
def feeds_itself(loop: Context) -> bool:
    """Whether what a loop runs is given what an earlier round made of its result, as in decoding and in sampling."""
    facts = loop.loop
    assert facts is not None
    runs = {effect.node for effect in facts.body_effects if effect.kind is EffectKind.FORWARD}
    before: dict[str, set[str]] = {}  # a name that this round has changed, to those of the round's begin it is made of
    made: set[str] = set()  # of a result
    taken: set[str] = set()  # of the round's begin, what is run on
    for statement in within([facts.node.body] if runs and isinstance(facts.node, (cst.For, cst.While)) else []):
        if not isinstance(statement, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Expr)) or statement.value is None:
            continue
        ran = [part for part in below(statement.value) if part in runs]
        for run in ran:
            if isinstance(run, cst.Call) and run.args:
                taken |= _made_of(run.args[0].value, before)
        sources = _made_of(statement.value, before)
        result = ran or names_read(statement.value) & made
        for target in targets(statement):
            kept = isinstance(statement, cst.AugAssign) or isinstance(target, cst.Subscript)
            for name in changed_names(target):
                before[name] = sources | before.get(name, {name}) if kept else sources
                if result:
                    made.add(name)
    return bool(taken & made - loop_names(facts.node))


def _made_of(value: cst.BaseExpression, before: dict[str, set[str]]) -> set[str]:
    return {source for name in names_read(value) for source in before.get(name, {name})}


def _part_of_a_step(loop: Context) -> bool:
    """Whether a loop that runs a module is unrolled within one training step, or within a module's own forward."""
    owner = loop.owner
    if owner is not None and _within_step(owner):
        return True
    if autograd_off(loop):
        return False
    facts = loop.loop
    assert facts is not None
    if owner is not None and _is_of_a_module(owner) and facts.iterable is not None and _is_collected(facts.iterable):
        return True  # a head that takes its losses level by level
    for link in loop.chain():
        if link is not loop and link.scope is Scope.LOOP and _own_work(link, _WORK):
            return True
        if link.scope is Scope.BRANCH and link.gate is not Gate.NONE:
            return False
        if link.scope is Scope.FUNCTION:
            return False
    return False


def _is_of_a_module(function: FunctionInfo) -> bool:
    """Whether it is a method of a module."""
    cls = function.cls
    return cls is not None and (
        cls.find_method("forward") is not None
        or any(name.rsplit(".", 1)[-1].endswith(("Module", "Model")) for name in cls.base_names)
    )


def _is_of_a_dataset(function: FunctionInfo) -> bool:
    """Whether it is a method of a dataset."""
    return function.cls is not None and any(name.endswith("Dataset") for name in function.cls.base_names)


def _is_collected(iterable: Value) -> bool:
    """Whether what a loop iterates is at hand as a whole, as a list or several side by side; not a number of rounds."""
    return iterable.kind is Kind.CONTAINER and iterable.qual in ("list", "tuple", "iterator", "values", "items")


@question(False)
def _within_step(function: FunctionInfo) -> bool:
    """Whether a function is part of one step by its interface, itself or by a caller: loops in it are not steps."""
    if function.role in HOT_ROLES:
        return True
    owners = (caller.context.owner for caller in function.callers)
    return any(owner is not None and _within_step(owner) for owner in owners)


def _is_parameter(element: Value | None) -> bool:
    if element is None:
        return False
    if element.items:
        return any(item.qual == "torch.nn.Parameter" for item in element.items.values())
    return element.qual == "torch.nn.Parameter"


def _is_named_module(element: Value) -> bool:
    """Whether it is a module with its name, as `named_modules` and `items` give them."""
    parts = element.items or {}
    return len(parts) == 2 and all(
        index in parts and parts[index].kind is kind for index, kind in enumerate((Kind.STRING, Kind.MODULE))
    )


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
    leaves = yields = False
    for link in context.chain():
        if link.scope is Scope.LOOP:
            what = iterates(link)
            assert link.loop is not None
            if what is Iterates.STEPS:
                if leaves:
                    return None
                step_loop = link
                break
            leaves = False
            if what is Iterates.EPOCHS:
                return None
            if any(effect.kind is EffectKind.YIELD for effect in link.loop.body_effects):
                yields = True
            elif what is not Iterates.GROUPS and (link.loop.count is None or link.loop.count > 4):
                rate = _finer(rate, what)
        elif link.scope is Scope.BRANCH:
            if link.gate is Gate.DEBUG or (link.gate is Gate.RARE and not accumulates(link)):
                return None
            asks |= link.asks
            leaves |= link.leaves
        elif link.scope in (Scope.HANDLER, Scope.CLASS, Scope.MODULE) or "graph capture" in link.flags:
            return None  # what is captured is replayed, and not run again
        elif link.scope is Scope.FUNCTION:
            assert link.function is not None
            return Body(link.function, rate, asks, yields)
    if step_loop is None:
        return None
    owner = step_loop.owner
    if owner is not None and not owner.passed_on and not opens(owner, asks):
        return None
    if (owner is not None and (owner.role in COLD_ROLES or owner.always_fails)) or in_test(step_loop):
        return None
    trains = _own_work(step_loop, _WORK)
    if not trains and owner is not None and _is_of_a_dataset(owner):
        return None  # it makes the samples once, and saves them
    assert step_loop.node is not None
    return Hot(
        ((_step_reason(step_loop), step_loop.node),),
        rate,
        trains=trains,
        interface=trains or (owner is not None and owner.role in HOT_ROLES),
        loop=step_loop.node,
        phases=not (trains or _takes_from_loader(step_loop) or feeds_itself(step_loop)) and _holds_steps(step_loop),
    )


def _holds_steps(loop: Context) -> bool:
    """Whether each round of a loop goes through steps of its own: an episode, a prompt, a layer and its samples."""
    facts = loop.loop
    assert facts is not None
    return any(iterates(inner) in _FURTHER and not _is_rare(inner) for inner in facts.inner) or any(
        effect.callee is not None and not effect.context.rare and _goes_through_steps(effect.callee, False)
        for effect in facts.body_effects
    )


def accumulates(gate: Context) -> bool:
    """Whether a gate is that of gradient accumulation: the optimizer's step is behind it, so its body is the step."""
    owner = gate.owner
    return owner is not None and any(
        effect.context.inside(gate)
        and (effect.kind in _STEPS or (effect.callee is not None and function_work(effect.callee, _STEPS)))
        for effect in owner.effects
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
    for caller in _may_reach(function, asks):
        rounds = caller.rounds if yields else None
        above = hot(rounds or caller.context)
        if above is None:
            continue
        if best is None or _FINENESS.index(above.rate) > _FINENESS.index(best.rate):
            reasons = ((f"`{function.qualname}` is called here", caller.node), *above.reasons)
            best = replace(above, reasons=reasons)
    if best is None and not function.callers and all(_works_near(function, kind, _NEAR) for kind in _WORK):
        reason = f"`{function.qualname}` runs backward and steps an optimizer: each call is a step"
        return Hot(((reason, function.node),), Iterates.STEPS, trains=True, interface=True, loop=None)
    return best


def _takes_tensors(function: FunctionInfo) -> bool:
    """Whether a `save` or `prepare_data` is given tensors: of a step, where what does so at times has them itself.

    Or the constructor of what is no module: an object around the tensors of a step is made on every step.
    """
    named = function.name in ("save", "export", "build", "register", "prepare_data", "setup_data")
    return (
        function.role is Role.SETUP
        and (named or (function.name == "__init__" and not _is_of_a_module(function)))
        and any(
            given.kind in (Kind.TENSOR, Kind.BATCH)
            for parameter in function.parameters
            for given in parameter.passed.values()
        )
    )


def opens(function: FunctionInfo, asks: Asked) -> bool:
    """Whether code behind these switches of a function is reached, as far as its interface and its callers tell."""
    if function.role in HOT_ROLES and (
        all(_holds_unasked(function, *ask) for ask in asks) or _asked_of_base(function, asks)
    ):
        return True
    return any(_may_reach(function, asks)) or (function.role not in HOT_ROLES and not function.callers)


def _may_reach(function: FunctionInfo, asks: Asked) -> Iterator[CallerSite]:
    """The callers that do not plainly pass, or leave, something else for the parameters than what is asked of them.

    Nor something that is seldom so: `report(loss, step % 100 == 0)`.
    """
    for caller in function.callers:
        if function.ends_program and caller.context.enclosing_loops():
            continue  # a process of its own, which ends with this call
        given = ((function.parameters[index], truth, text) for index, truth, text in asks)
        if all(
            _truth_given(parameter, caller, text) in (None, truth)
            and (text or not _seldom_given(parameter, caller, truth))
            for parameter, truth, text in given
        ):
            yield caller


def _seldom_given(parameter: Parameter, caller: CallerSite, truth: bool) -> bool:
    """Whether what a call gives for a parameter has that truth now and then only."""
    given = parameter.passed.get(caller.node)
    gates = given.gates if given is not None else None
    return gates is not None and gates[0 if truth else 1] in (Gate.RARE, Gate.DEBUG)


def _truth_given(parameter: Parameter, caller: CallerSite, text: str) -> bool | None:
    """Whether a call gives a true value, or that text, for a parameter; None where that is not known."""
    given = parameter.passed.get(caller.node)
    if given is not None:
        if given.const is MISSING:
            return None
        return given.const == text if text else bool(given.const)
    if not isinstance(caller.node, cst.Call) or any(argument.star for argument in caller.node.args):
        return None
    return _switch(parameter, text)


def _switch(parameter: Parameter, text: str) -> bool | None:
    """Whether a parameter is on, or is that text, where it is left out; None where it is no switch."""
    default = parameter.default
    if text:
        return default.raw_value == text if isinstance(default, cst.SimpleString) else None
    return {"True": True, "False": False}.get(default.value) if isinstance(default, cst.Name) else None


def _holds_unasked(function: FunctionInfo, index: int, truth: bool, text: str) -> bool:
    """Whether an interface that is called without its options gets to what is behind a switch.

    To any of its modes, which whoever trains or predicts with it chooses; and to what the file asks of some module.
    """
    parameter = function.parameters[index]
    return bool(text) or truth in parameter.asked or _switch(parameter, text) in (None, truth)


def _asked_of_base(function: FunctionInfo, asks: Asked) -> bool:
    """Whether a call of the method that it overrides may ask for what is behind its switches."""
    truths = {function.parameters[index].name: (truth, text) for index, truth, text in asks}
    for cls in function.cls.lineage()[1:] if function.cls is not None else ():
        method = cls.methods.get(function.name)
        if method is not None:
            same = frozenset((p.index, *truths[p.name]) for p in method.parameters if p.name in truths)
            if any(_may_reach(method, same)):
                return True
    return False


def flag(context: Context, wanted: str) -> bool:
    """Whether a `with` around, in this function, sets a flag such as "no_grad"; the innermost wins for autograd."""
    for link in context.chain():
        if link.scope is Scope.WITH and wanted in link.flags:
            return True
        if link.scope is Scope.WITH and wanted == "no_grad" and "enable_grad" in link.flags:
            return False
        if link.scope is Scope.FUNCTION:
            return False
    return False


def autograd_off(context: Context) -> bool:
    """Whether autograd is off here: by a `with`, a decorator, or in every caller that is known."""
    for link in context.chain():
        if link.scope is Scope.WITH:
            if "enable_grad" in link.flags:
                return False
            if "no_grad" in link.flags:
                return True
        elif link.scope is Scope.FUNCTION:
            assert link.function is not None
            return _autograd_off(link.function)
    return False


@question(True)
def _autograd_off(function: FunctionInfo) -> bool:
    if function.no_grad or function.role in (Role.OPTIMIZER_STEP, Role.AUTOGRAD):
        return True
    callers = [caller.context for caller in function.callers if caller.context.owner is not function]
    return bool(callers) and all(autograd_off(context) for context in callers)


def compiled(context: Context) -> FunctionInfo | None:
    """The compiled function that covers this code, itself or through callers; None if there is none."""
    owner = context.owner
    while owner is not None:
        found = _compiled(owner)
        if found is not None:
            return found
        owner = owner.parent
    return None


@question(None)
def _compiled(function: FunctionInfo) -> FunctionInfo | None:
    if function.compiled or (function.cls is not None and function.cls.compiled and function.role is Role.FORWARD):
        return function
    for caller in function.callers if not function.uncompiled else ():
        found = compiled(caller.context)
        if found is not None:
            return found
    return None


def on_host_alone(context: Context) -> bool:
    """Whether the code runs only where its tensors are on the host: `if not x.is_cuda`, here or around every call."""
    return context.on_every_way(lambda link: True if link.scope is Scope.BRANCH and link.gate is Gate.HOST else None)


def in_test(context: Context) -> bool:
    """Whether the code belongs to a test: to a function that is one, or to a file of tests."""
    return any(link.function is not None and link.function.role is Role.TEST for link in context.chain())


def in_worker(context: Context) -> bool:
    """Whether the code runs in a loader worker: a Dataset's methods, a collate function, and what only they call."""
    owner = context.owner
    while owner is not None:
        if _in_worker(owner):
            return True
        owner = owner.parent
    return False


@question(True)
def _in_worker(function: FunctionInfo) -> bool:
    if function.role is Role.WORKER:
        return True
    callers = [caller.context for caller in function.callers if caller.context.owner is not function]
    return bool(callers) and all(in_worker(context) for context in callers)

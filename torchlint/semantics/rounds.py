"""What each round of a loop is: an epoch, a step, a layer, an element; and what work a round or a call does.

It is worked out from all that was read, when a rule asks: it depends on what the functions do that a round calls.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import HOT_ROLES, EffectKind, FunctionInfo
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import below, within
from torchlint.semantics.targets import bindings_in, changed_names, loop_names, targets
from torchlint.semantics.values import Gate, Kind, Value

WORK = frozenset({EffectKind.BACKWARD, EffectKind.OPTIMIZER_STEP})
FEW_ROUNDS: Final = 4  # of a loop of no more it makes little difference that it is one
FURTHER = (Iterates.STEPS, Iterates.EPOCHS)
_RUNS = frozenset({EffectKind.FORWARD, EffectKind.PLAY})


def own_work(loop: Context, kinds: frozenset[EffectKind]) -> bool:
    """Whether the body of a loop, outside the step loops in it, has one of these effects."""
    facts = loop.loop
    assert facts is not None
    return any(
        effect.kind in kinds
        or (effect.callee is not None and not effect.callee.ends_program and function_work(effect.callee, kinds))
        for effect in facts.body_effects
    ) or any(iterates(inner) is not Iterates.STEPS and own_work(inner, kinds) for inner in facts.inner)


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


def works_near(function: FunctionInfo, kind: EffectKind, far: int) -> bool:
    """Whether a call of the function has the effect, itself or in what it calls to do its work, a few calls deep."""
    kinds = frozenset({kind})
    if not function_work(function, kinds):
        return False
    return any(
        effect.kind is kind or (far > 0 and effect.callee is not None and works_near(effect.callee, kind, far - 1))
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
def goes_through_steps(function: FunctionInfo, batches: bool) -> bool:
    """Whether a call of the function goes through steps, not only now and then.

    With `batches`, through such as train or take their batches from somewhere, so that all of them are an epoch.
    """
    for effect in function.effects:
        loops = effect.context.enclosing_loops()
        if not any(is_rare(loop) for loop in loops) and any(
            iterates(loop) is Iterates.STEPS and (not batches or _takes_batches(loop)) for loop in loops
        ):
            return True
        if effect.callee is not None and not effect.context.rare and goes_through_steps(effect.callee, batches):
            return True
    return False


def _takes_batches(loop: Context) -> bool:
    return takes_data(loop) or _trains(loop)


def is_rare(loop: Context) -> bool:
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
    named = element is not None and _is_named_module(element)
    if named and iterable is not None and iterable.qual == "modules":
        return Iterates.LAYERS  # such as discriminators, each of which a step trains
    if own_work(loop, WORK):
        return Iterates.EPOCHS if _trains_anew(loop) else Iterates.STEPS
    if facts.begins and any(iterates(inner) in FURTHER for inner in facts.inner):
        return Iterates.EPOCHS  # a run, or a fold, of which each trains a model of its own
    if named:
        return Iterates.LAYERS
    # What is done now and then, such as an evaluation every thousand steps, makes no epochs of steps.
    steps = [inner for inner in facts.inner if iterates(inner) is Iterates.STEPS and not is_rare(inner)]
    runs = own_work(loop, _RUNS)
    called = [e.callee for e in facts.body_effects if e.callee is not None and not e.context.rare]
    if steps or any(goes_through_steps(callee, False) for callee in called):
        if loop.owner is not None and _within_step(loop.owner) and not any(map(takes_from_loader, steps)):
            return Iterates.STEPS  # what one step does several times over, such as the tasks that it learns from
        # A round that decodes, samples or plays through takes one batch: only a loop that counts holds epochs of those.
        counts = iterable is None or iterable.qual == "range"
        if (
            (not runs and counts)
            or any(_takes_batches(inner) for inner in steps)
            or any(goes_through_steps(callee, True) for callee in called)
        ):
            return Iterates.EPOCHS
        runs = True
    of_tensor = kind is Kind.TENSOR or (iterable is not None and "tensor size" in (iterable.qual or ""))
    # A decoding loop counts from the length of its prompt, and a sampler walks over its noise levels: what they run
    # tells more than what they iterate.
    if any(map(_yields_steps, facts.generators)):
        return Iterates.STEPS
    few = facts.count is not None and facts.count <= FEW_ROUNDS and not _trains(loop)
    runs = runs and not few  # a few runs, as to warm up, are no steps of many
    if runs and not (of_tensor and (_runs_on_rows(loop) or _over_labels(loop))) and not _part_of_a_step(loop):
        return Iterates.STEPS
    return Iterates.ELEMENTS if of_tensor else Iterates.OTHER


@question(False)
def _yields_steps(generator: FunctionInfo) -> bool:
    """Whether a generator yields on each round of a loop over steps, or more often."""
    for effect in generator.effects:
        kinds = map(iterates, effect.context.enclosing_loops() if effect.kind is EffectKind.YIELD else ())
        if next((kind for kind in kinds if kind in FURTHER), None) is Iterates.STEPS:
            return True
    return False


def _trains_anew(loop: Context) -> bool:
    """Whether all that trains in a loop's rounds are functions that make their optimizers, and go through steps.

    Such as the layers, or the settings, that are compared by a training each.
    """
    facts = loop.loop
    assert facts is not None
    if any(iterates(inner) is not Iterates.STEPS and own_work(inner, WORK) for inner in facts.inner):
        return False
    work = [e for e in facts.body_effects if e.kind in WORK or (e.callee is not None and function_work(e.callee, WORK))]
    return all(e.callee is not None and e.callee.begins and goes_through_steps(e.callee, False) for e in work)


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
    return takes_from_loader(loop) or own_work(loop, WORK)


def step_loop(context: Context) -> Context | None:
    """The innermost loop around, within the function, that goes through the steps of a training or an evaluation."""
    return next((loop for loop in context.enclosing_loops() if iterates(loop) is Iterates.STEPS), None)


def takes_from_loader(loop: Context) -> bool:
    assert loop.loop is not None
    return loop.loop.iterable is not None and loop.loop.iterable.kind is Kind.LOADER


def takes_data(loop: Context) -> bool:
    """Whether each round of a loop is an epoch, or takes a batch of its own; not a loop that only counts."""
    facts = loop.loop
    assert facts is not None
    if iterates(loop) is Iterates.EPOCHS or takes_from_loader(loop):
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
    if loop.grad_off:
        return False
    facts = loop.loop
    assert facts is not None
    if owner is not None and is_of_a_module(owner) and facts.iterable is not None and _is_collected(facts.iterable):
        return True  # a head that takes its losses level by level
    for link in loop.in_function():
        if link is not loop and link.scope is Scope.LOOP and own_work(link, WORK):
            return True
        if link.scope is Scope.BRANCH and link.gate is not Gate.NONE:
            return False
    return False


def is_of_a_module(function: FunctionInfo) -> bool:
    """Whether it is a method of a module."""
    cls = function.cls
    return cls is not None and (
        cls.find_method("forward") is not None
        or any(name.rsplit(".", 1)[-1].endswith(("Module", "Model")) for name in cls.base_names)
    )


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

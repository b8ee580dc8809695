"""TL603: evaluation that builds graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.knowledge.devices import PLACING
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule, RuleSet
from torchlint.rules.memory._decorators import perhaps_decorated
from torchlint.rules.memory._evaluation import Modes, graph_is_dropped, has_no_parameters, is_read_as_array
from torchlint.semantics import rounds, sites, surroundings
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import HOT_ROLES, CallerSite, EffectKind, FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import ATTACHED, DETACHED, DEVICE, MAYBE, MAYBE_TENSORS, Kind, Value
from torchlint.source import written

_DEEPEST = 4  # how many calls up an evaluation is looked for
_WORK = frozenset({EffectKind.BACKWARD, EffectKind.OPTIMIZER_STEP})
_SKIPPED_ROLES = HOT_ROLES | {Role.TEST, Role.WORKER}


@dataclass(frozen=True, slots=True)
class _Run:
    """A place that runs a module: the call itself, or a call of a function of this file that does."""

    node: cst.BaseExpression
    context: Context
    function: FunctionInfo
    module: str | None  # as written there
    value: Value
    direct: bool = True  # the call of the module itself
    forward: bool = True  # of its forward, not of another method
    input_on_device: bool = True  # not all that it is given is known to be on the host, or to be no tensor


@dataclass(frozen=True, slots=True)
class _Finding:
    run: _Run
    why: str
    related: tuple[tuple[str, cst.CSTNode], ...]
    confidence: Confidence


class EvalWithGrad(Rule):
    code = "TL603"
    name = "eval-with-grad"
    bottleneck = "memory"
    ruleset = RuleSet.EXTENDED  # whether callers differentiate what comes out is often told in other packages
    summary = "Evaluation runs a module with autograd on"
    fix_availability = FixAvailability.SOMETIMES

    def on_module(self, model: Model) -> Iterator[Report]:
        runs = [run for function in (*model.functions.values(), model.root) for run in self._runs(function, model)]
        if not runs or _turned_off_for_good(model):
            return
        modes = Modes(model)
        reported: set[tuple[FunctionInfo, cst.CSTNode | None]] = set()
        for run in runs:
            if self._builds_no_graph(run, modes, model):
                continue
            for finding in self._evaluated(run, modes, model, _DEEPEST):
                loop = rounds.step_loop(finding.run.context)
                place = (finding.run.function, loop.node if loop is not None else None)
                if place not in reported:  # one `no_grad` serves all that runs there
                    reported.add(place)
                    yield self._report(finding, model)

    def _report(self, finding: _Finding, model: Model) -> Report:
        run = finding.run
        return Report(
            run.node,
            f"{quote(run.node)} runs with autograd on, though {finding.why}: the activations of the whole forward stay "
            "until its result is dropped",
            "run it under `torch.no_grad()` or `torch.inference_mode()`",
            finding.confidence,
            finding.related,
            _fix(run),
        )

    # What runs

    def _runs(self, function: FunctionInfo, model: Model) -> Iterator[_Run]:
        for effect in function.effects:
            if effect.kind is not EffectKind.FORWARD or effect.value is None or not isinstance(effect.node, cst.Call):
                continue
            site = model.call(effect.node)
            if site is None or site.method == "generate":  # which turns autograd off itself
                continue
            ran = site.node.func
            if site.method in ("forward", "__call__") and site.receiver_node is not None:
                ran = site.receiver_node
            if _is_loss(effect.value) or not self._within_reach(effect.context, function, model):
                continue
            forward = effect.value is not site.receiver or ran is site.receiver_node
            kinds = MAYBE_TENSORS if forward else (Kind.TENSOR, Kind.BATCH)
            given = [argument.value for argument in site.arguments if argument.value.kind in kinds]
            somewhere = any(not value.on_host for value in given) if given else forward
            yield _Run(
                site.node,
                effect.context,
                function,
                dotted(ran),
                effect.value,
                forward=forward,
                input_on_device=somewhere or (forward and effect.value.device == DEVICE),
            )

    def _within_reach(self, context: Context, function: FunctionInfo, model: Model) -> bool:
        """Whether autograd is on, as far as the file tells, and the code is no part of a forward or a training step."""
        if model.autograd_off(context) or surroundings.in_test(context) or _perhaps_off(context):
            return False
        if any(link.function is not None and link.function.role in _SKIPPED_ROLES for link in context.chain()):
            return False
        return not _serves_a_step(function)

    def _builds_no_graph(self, run: _Run, modes: Modes, model: Model) -> bool:
        return (
            run.value.graph == DETACHED
            or modes.is_frozen(run.module, run.value.cls)
            or has_no_parameters(run.value, model)
            or is_read_as_array(run.node, model)
        )

    # Who evaluates

    def _evaluated(self, run: _Run, modes: Modes, model: Model, depth: int) -> list[_Finding]:
        """Where the module is run to evaluate: here, if that is known or all callers do, else at those callers."""
        if not self._within_reach(run.context, run.function, model):
            return []
        here = self._evidence(run, modes, model)
        if here is not None:
            return [here]
        if _gradients_wanted(run, modes):
            return []  # a step in itself, whoever runs it
        above: list[_Finding] = []
        every = bool(run.function.callers)
        for caller in run.function.callers:
            if caller.context.owner is run.function:
                continue
            up = self._lifted(run, caller, model)
            found = self._evaluated(up, modes, model, depth - 1) if depth and up is not None else []
            every = every and bool(found)
            above += found
        if every and above:
            first = min(above, key=lambda finding: finding.confidence)
            return [replace(first, run=run, related=(*first.related, ("it is called here", first.run.node)))]
        return above

    def _lifted(self, run: _Run, caller: CallerSite, model: Model) -> _Run | None:
        """The same run, as the caller sees it."""
        site = model.call(caller.node)
        if site is None:
            return None
        owner = model.function_of(caller.context)
        module = run.module
        head, _, rest = (module or "").partition(".")
        if head == "self":
            base = dotted(site.receiver_node) if site.receiver_node is not None else None
            module = f"{base}.{rest}".rstrip(".") if base is not None else None
        elif any(parameter.name == head for parameter in run.function.parameters):
            given = site.argument_for(run.function, head)
            base = dotted(given.node) if given is not None else None
            module = f"{base}.{rest}".rstrip(".") if base is not None else None
        return replace(run, node=site.node, context=caller.context, function=owner, module=module, direct=False)

    def _evidence(self, run: _Run, modes: Modes, model: Model) -> _Finding | None:
        """What tells that the module is run for its numbers alone."""
        dropped = run.direct and graph_is_dropped(run.node, model)
        trained = _gradients_wanted(run, modes)
        if not dropped and (_goes_into_backward(run, model) if trained else _given_to_training(run, modes, model)):
            return None
        switch = modes.switched_here(run.module, run.node, run.function) if run.module is not None else None
        switched = switch is not None
        if switch is not None and (not trained or _same_round(switch.context, run.context)):
            # A model that evaluates itself, or a helper in between, may give a graph to who wants gradients.
            own = switch.receiver_node is not None and dotted(switch.receiver_node) == "self"
            doubtful = not dropped and (own or (trained and _goes_through_a_helper(run, model)))
            confidence = Confidence.POSSIBLE if doubtful else Confidence.LIKELY
            return self._finding(run, "it is in evaluation mode", (("set here", switch.node),), confidence)
        if not trained:
            made = modes.always_evaluated(run.module, run.function) if run.module is not None else None
            if made is not None and not _trains(run.function):
                confidence = Confidence.LIKELY if _called_by_name(run.function) else Confidence.POSSIBLE
                related = (("evaluation mode is set here", made),)
                return self._finding(run, "it is only ever in evaluation mode", related, confidence)
            loop = rounds.step_loop(run.context)
            if loop is not None and run.direct and _is_module(run) and _is_loader(loop):
                assert loop.loop is not None
                if not run.function.is_generator:
                    related = (("this loop", loop.loop.node),)
                    return self._finding(run, "the loop around it trains nothing", related, Confidence.LIKELY)
        if dropped and (_is_module(run) or switched or _is_pretrained(run, model)):
            confidence = Confidence.LIKELY if _reached(run, model) else Confidence.POSSIBLE
            return self._finding(run, "only the numbers of what it returns are read", (), confidence)
        return None

    def _finding(
        self, run: _Run, why: str, related: tuple[tuple[str, cst.CSTNode], ...], confidence: Confidence
    ) -> _Finding:
        if not run.input_on_device or run.function.role is Role.SETUP:
            confidence = Confidence.POSSIBLE
        if perhaps_decorated(run.function) or _off_in_a_caller(run.function):
            confidence = Confidence.POSSIBLE
        return _Finding(run, why, related, confidence)


def _fix(run: _Run) -> NodeFix | None:
    """`@torch.no_grad()` on the function, where nothing in it asks for a gradient."""
    function = run.function
    if not isinstance(function.node, cst.FunctionDef) or function.is_generator or function.does(_WORK):
        return None
    return NodeFix(
        Applicability.UNSAFE,
        "Decorate the function with `torch.no_grad()`",
        (NodeEdit(function.node, "@torch.no_grad()", "line-before"),),
        ("import torch",),
    )


def _is_loss(value: Value) -> bool:
    return value.kind is Kind.MODULE and value.cls is None and (value.qual or "").endswith("Loss")


def _turned_off_for_good(model: Model) -> bool:
    """Whether the file turns autograd off by a call whose end nobody sees."""
    entered = {site.item for site in model.sites.withs}
    for call in model.sites.calls:
        if call.callee in ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled") and call.node not in entered:
            mode = call.argument(0, "mode")
            if mode is None or mode.value.const is not True:
                return True
        if call.method in ("enter_context", "__enter__"):
            managers = [call.receiver_node, *(argument.node for argument in call.arguments)]
            if any(isinstance(node, cst.Call) and _is_no_grad(model.resolve(node.func)) for node in managers):
                return True
    return False


def _is_no_grad(name: str | None) -> bool:
    return name is not None and name.rsplit(".", 1)[-1] in ("no_grad", "inference_mode", "set_grad_enabled")


def _perhaps_off(context: Context) -> bool:
    """Whether a `with` around may turn autograd off: by its argument, or as a manager that is not known."""
    for link in context.in_function():
        if link.scope is Scope.WITH:
            if "maybe_no_grad" in link.flags:
                return True
            if isinstance(link.node, cst.With) and any(_speaks_of_gradients(item) for item in link.node.items):
                return "enable_grad" not in link.flags
    return False


def _speaks_of_gradients(item: cst.WithItem) -> bool:
    text = written.code(item.item)
    return "grad" in text or "infer" in text or "eval" in text


@question(False)
def _serves_a_step(function: FunctionInfo) -> bool:
    """Whether a forward, a hook or a training step reaches the function."""
    if function.role in HOT_ROLES:
        return True
    return any(caller.context.owner is not None and _serves_a_step(caller.context.owner) for caller in function.callers)


def _is_loader(loop: Context) -> bool:
    return loop.loop is not None and loop.loop.iterable is not None and loop.loop.iterable.kind is Kind.LOADER


def _gradients_wanted(run: _Run, modes: Modes) -> bool:
    """Whether a backward, or what asks for gradients of inputs, runs in the same round of the same loop."""
    working = {*_rounds_that_work(run.function), *map(rounds.step_loop, modes.wants_gradients(run.function))}
    return None in working or any(link in working for link in run.context.chain())


@question(frozenset())
def _rounds_that_work(function: FunctionInfo) -> frozenset[Context | None]:
    """The loops over steps in whose rounds the function runs a backward or a step, None for outside of any."""
    return frozenset(
        rounds.step_loop(effect.context)
        for effect in function.effects
        if effect.kind in _WORK or (effect.callee is not None and rounds.function_work(effect.callee, _WORK))
    )


def _same_round(switch: Context, run: Context) -> bool:
    """Whether the switch is thrown in the round of the loop that runs the module."""
    loop = rounds.step_loop(run)
    return loop is None or switch.inside(loop)


def _goes_into_backward(run: _Run, model: Model) -> bool:
    """Whether what the run gives may go into a backward of the same function: unless it has names that none needs."""
    names = [assign.name for assign in model.sites.given_by(run.node) if assign.context.owner is run.context.owner]
    return not names or any(name is None or run.function.needs_graph(name) for name in names)


def _goes_through_a_helper(run: _Run, model: Model) -> bool:
    """Whether what the run gives is handed to a function that torch does not define, whose result may be wanted."""
    names = {assign.name for assign in model.sites.given_by(run.node)}
    return any(
        dotted(argument.node) in names and not (call.callee or "").startswith("torch.")
        for call in model.sites.calls
        if call.context.owner is run.context.owner and call.function.kind is not Kind.MODULE
        for argument in call.arguments
        if isinstance(argument.node, (cst.Name, cst.Attribute))
    )


def _given_to_training(run: _Run, modes: Modes, model: Model) -> bool:
    """Whether the function returns a graph to a caller that runs a backward in the same round."""
    function = run.function
    returned = [value for _, value, _ in function.return_sites]
    if not any(value.graph & (ATTACHED | MAYBE) or value.kind is Kind.CONTAINER for value in returned):
        return False
    for caller in function.callers:
        owner = model.function_of(caller.context)
        if owner is function or not isinstance(caller.node, cst.Call):
            continue
        above = _Run(caller.node, caller.context, owner, None, run.value, direct=False)
        if _gradients_wanted(above, modes) and _goes_into_backward(above, model):
            return True
    return False


def _trains(function: FunctionInfo) -> bool:
    """Whether the class around trains: then what a method gives may go into a backward elsewhere."""
    return function.cls is not None and any(method.does(_WORK) for method in function.cls.methods.values())


def _called_by_name(function: FunctionInfo) -> bool:
    """Whether only who names the method calls it: no framework behind a base class that is not in the file."""
    cls = function.cls
    return cls is None or all(base.cls is not None or base.qual in ("object", "abc.ABC") for base in cls.bases)


def _is_module(run: _Run) -> bool:
    """Whether what is called is a module: it is known to be one, or it was moved to a device."""
    return run.forward and (run.value.kind is Kind.MODULE or run.value.device == DEVICE)


def _is_pretrained(run: _Run, model: Model) -> bool:
    """Whether what is called was made by `from_pretrained`, and moved to a device since."""
    origins = (model.call(node) for node in run.value.origins)
    return bool(run.value.device & DEVICE) and any(
        call is not None and (call.method == "from_pretrained" or _moves_pretrained(call, model)) for call in origins
    )


def _moves_pretrained(call: sites.Call, model: Model) -> bool:
    inner = model.call(call.receiver_node) if call.receiver_node is not None else None
    return call.method in PLACING and inner is not None and inner.method == "from_pretrained"


def _reached(run: _Run, model: Model) -> bool:
    """Whether the file itself runs the code again and again: in a loop over steps, or by a caller that is no set-up."""
    return rounds.step_loop(run.context) is not None or any(
        model.function_of(caller.context).role is not Role.SETUP for caller in run.function.callers
    )


def _off_in_a_caller(function: FunctionInfo) -> bool:
    return any(surroundings.autograd_off(caller.context) for caller in function.callers)

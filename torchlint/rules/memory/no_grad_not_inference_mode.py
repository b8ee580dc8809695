"""TL607: `no_grad` where `inference_mode` does more."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule, RuleSet
from torchlint.semantics import rounds, sites, surroundings
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, Iterates
from torchlint.semantics.functions import HOT_ROLES, EffectKind, FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value

_NO_GRAD = ("torch.no_grad", "torch.autograd.no_grad", "torch.autograd.grad_mode.no_grad")
_TRAINS = frozenset({EffectKind.BACKWARD, EffectKind.OPTIMIZER_STEP})
_RUNS = frozenset({EffectKind.FORWARD})
_WRITERS = frozenset("load_state_dict register_buffer setattr".split())
_NEVER_ATTACHED = frozenset({Kind.NUMBER, Kind.STRING, Kind.NONE, Kind.NDARRAY, Kind.SHAPE, Kind.CLOCK})


class NoGradNotInferenceMode(Rule):
    code = "TL607"
    name = "no-grad-not-inference-mode"
    bottleneck = "memory"
    summary = "Inference runs under `no_grad`, where `inference_mode` would do"
    ruleset = RuleSet.EXTENDED
    fix_availability = FixAvailability.SOMETIMES
    torch = "1.9"
    words = ("no_grad",)

    def on_with(self, site: sites.With, model: Model) -> Iterator[Report]:
        call = site.item
        if isinstance(call, cst.Call) and not call.args and model.resolve(call.func) in _NO_GRAD:
            yield from self._judge(call, site.context, model.function_of(site.context), model)

    def on_function(self, site: sites.Function, model: Model) -> Iterator[Report]:
        for node, decorator in site.info.decorators:
            name = model.resolve(node.func) if isinstance(node, cst.Call) else decorator.qual
            if name in _NO_GRAD and site.info.body is not None and not (isinstance(node, cst.Call) and node.args):
                yield from self._judge(node, site.info.body, site.info, model)

    def _judge(
        self, node: cst.BaseExpression, scope: Context, function: FunctionInfo, model: Model
    ) -> Iterator[Report]:
        if function.role in HOT_ROLES | {Role.SETUP, Role.TEST} or function.is_generator or surroundings.in_test(scope):
            return
        if not _runs_module(function, scope) or function.does(_TRAINS) or _writes(scope, model):
            return
        if not _leaves_as_numbers(function) and (not _evaluates(function, model) or _feeds_training(function, model)):
            return
        yield Report(
            node,
            "`no_grad` keeps version counters and views up to date for a backward that never comes",
            "use `torch.inference_mode()`: what is made here leaves as values only",
            Confidence.LIKELY,
            fix=_fix(node),
        )


def _runs_module(function: FunctionInfo, scope: Context) -> bool:
    return any(
        (effect.kind is EffectKind.FORWARD or (effect.callee is not None and effect.callee.does(_RUNS)))
        and effect.context.inside(scope)
        for effect in function.effects
    )


def _writes(scope: Context, model: Model) -> bool:
    """Whether the code writes tensors that outlive it: in place, into parameters, or into attributes."""
    return scope in _written_in(model) or scope.owner in _keepers(model)


@question(frozenset())
def _written_in(model: Model) -> frozenset[Context]:
    """The contexts in which tensors are written."""
    written = [call.context for call in model.sites.calls if _is_writer(call)]
    written += [
        assign.context
        for assign in model.sites.assigns
        if isinstance(assign.target, cst.Attribute)
        and assign.value.kind not in _NEVER_ATTACHED
        and assign.value.kind is not Kind.CONTAINER
    ]
    written += [site.context for site in model.sites.accumulations if "." in site.target]
    return frozenset(link for context in dict.fromkeys(written) for link in context.chain())


def _is_writer(call: sites.Call) -> bool:
    name = call.method or (call.callee or "").rsplit(".", 1)[-1]
    return name in _WRITERS or (name.endswith("_") and not name.endswith("__"))


@question(frozenset())
def _keepers(model: Model) -> frozenset[FunctionInfo | None]:
    """The functions that hand tensors to what outlives them: an attribute's container, or an object from outside."""
    return frozenset(site.context.owner for site in model.sites.stores if _keeps(site))


def _keeps(site: sites.Store) -> bool:
    if site.value.kind in _NEVER_ATTACHED or site.owner_name is None:
        return False
    return "." in site.owner_name or (site.owner is not None and site.owner.kind is Kind.UNKNOWN)


def _leaves_as_numbers(function: FunctionInfo) -> bool:
    """Whether the function returns something, and nothing on which a graph could hang."""
    returned = [value for _, value, _ in function.return_sites]
    return bool(returned) and all(_never_attached(value) for value in returned)


def _never_attached(value: Value) -> bool:
    if value.kind is Kind.CONTAINER:
        members = [*(value.items or {}).values(), *([value.elem] if value.elem is not None else [])]
        return bool(members) and all(_never_attached(member) for member in members)
    if value.kind is Kind.TENSOR:
        return value.dtype is not None and (value.dtype == "bool" or "int" in value.dtype)
    return value.kind in _NEVER_ATTACHED


def _evaluates(function: FunctionInfo, model: Model) -> bool:
    """Whether the function puts a module into evaluation mode, or runs one over many batches."""
    if function in _switching(model):
        return True
    return any(
        effect.kind is EffectKind.FORWARD
        and any(rounds.iterates(loop) is Iterates.STEPS for loop in effect.context.enclosing_loops())
        for effect in function.effects
    )


@question(frozenset())
def _switching(model: Model) -> frozenset[FunctionInfo]:
    """The functions that put modules into evaluation mode."""
    return frozenset(model.function_of(call.context) for call in model.sites.calls if call.method == "eval")


def _feeds_training(function: FunctionInfo, model: Model) -> bool:
    """Whether a caller that trains takes what the function returns."""
    if not function.return_sites:
        return False
    owners = (model.function_of(caller.context) for caller in function.callers)
    return any(owner.does(_TRAINS) for owner in owners)


def _fix(node: cst.BaseExpression) -> NodeFix | None:
    """`torch.no_grad` becomes `torch.inference_mode`, where it is written so."""
    written = node.func if isinstance(node, cst.Call) else node
    if not (isinstance(written, cst.Attribute) and isinstance(written.value, cst.Name)):
        return None
    edits = (NodeEdit(written.attr, "inference_mode"),)
    return NodeFix(Applicability.UNSAFE, "Use `inference_mode`", edits)

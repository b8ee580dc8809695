"""TL610: a skipped step whose gradients stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.semantics import rounds
from torchlint.semantics.contexts import Context, Iterates
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import children, within

_BACKWARD = frozenset({EffectKind.BACKWARD})
_CLEARING = frozenset({EffectKind.ZERO_GRAD})


@dataclass(frozen=True, slots=True)
class _Jump:
    node: cst.CSTNode
    at: int
    tried: range  # where the `try` is whose handler it stands in: what comes last in there may not have run


@dataclass(slots=True)
class _Round:
    """What happens in one round of a step, in the order of the text."""

    leaves: type[cst.CSTNode]  # what ends the round early: `continue` in a loop, `return` in a function
    backward: list[int] = field(default_factory=list)
    cleared: list[int] = field(default_factory=list)
    jumps: list[_Jump] = field(default_factory=list)
    position: int = 0


class GradientsKeptOnSkip(Rule):
    code = "TL610"
    name = "gradients-kept-on-skip"
    bottleneck = "memory"
    summary = "A step that is skipped leaves its gradients to the next"
    ruleset = RuleSet.EXTENDED
    words = ("zero_grad",)

    def on_module(self, model: Model) -> Iterator[Report]:
        for function in (*model.functions.values(), model.root):
            kinds = _kinds(function)
            if not any(_BACKWARD & found for found in kinds.values()):
                continue
            for body, leaves in _rounds(function, model):
                yield from self._skips(body, leaves, kinds, model)

    def _skips(
        self,
        body: cst.CSTNode,
        leaves: type[cst.CSTNode],
        kinds: dict[cst.CSTNode, frozenset[EffectKind]],
        model: Model,
    ) -> Iterator[Report]:
        seen = _Round(leaves)
        _read(body, seen, kinds, model, guarded=False, tried=range(0))
        if not seen.backward or not seen.cleared or seen.cleared[0] < seen.backward[0]:
            return
        for jump in seen.jumps:
            run = [position for position in seen.backward if position < jump.at]
            cleared = [position for position in seen.cleared if position < jump.at and position not in jump.tried]
            if not run or len(cleared) == len(seen.cleared) or any(position > run[0] for position in cleared):
                continue
            yield Report(
                jump.node,
                "this leaves the step after its backward and before `zero_grad`: the gradients stay allocated through "
                "the next forward, and the next backward adds to them",
                "call `zero_grad` first in the step, or on this path as well",
                Confidence.LIKELY,
            )


def _kinds(function: FunctionInfo) -> dict[cst.CSTNode, frozenset[EffectKind]]:
    """What each node of a function does: run backward, clear gradients, itself or through the functions it calls."""
    found: dict[cst.CSTNode, frozenset[EffectKind]] = {}
    for effect in function.effects:
        kinds = frozenset({effect.kind})
        if effect.callee is not None:
            callee = effect.callee
            kinds = frozenset(kind for kind in _BACKWARD | _CLEARING if callee.does(frozenset({kind})))
        found[effect.node] = found.get(effect.node, frozenset()) | kinds
    return found


def _rounds(function: FunctionInfo, model: Model) -> Iterator[tuple[cst.CSTNode, type[cst.CSTNode]]]:
    """The bodies that are one step each: of the loops over steps, and of a function that is called once per step."""
    loops: dict[cst.CSTNode, Context] = {}
    for effect in function.effects:
        for loop in effect.context.enclosing_loops():
            if rounds.iterates(loop) is Iterates.STEPS and isinstance(loop.node, (cst.For, cst.While)):
                loops[loop.node] = loop
    for node in loops:
        assert isinstance(node, (cst.For, cst.While))
        yield node.body, cst.Continue
    # Where the optimizer steps after the loop, that goes over parts of one step.
    if loops and not rounds.function_work(function, frozenset({EffectKind.OPTIMIZER_STEP})):
        return
    if function.body is None or model.hot(function.body) is None:
        return
    owners = [model.function_of(caller.context) for caller in function.callers]
    if not any(owner.does(_CLEARING) and _clears_itself(owner) for owner in owners):
        yield function.body_nodes[0], cst.Return


def _clears_itself(function: FunctionInfo) -> bool:
    return any(effect.kind is EffectKind.ZERO_GRAD for effect in function.effects)


def _read(
    node: cst.CSTNode,
    seen: _Round,
    kinds: dict[cst.CSTNode, frozenset[EffectKind]],
    model: Model,
    *,
    guarded: bool,
    tried: range,
) -> None:
    """Note what happens below a node; `guarded` where the way out clears the gradients, or adding them up is meant."""
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
        return
    if isinstance(node, seen.leaves):
        if not guarded and not (isinstance(node, cst.Return) and _is_last(node, model)):
            seen.jumps.append(_Jump(node, seen.position, tried))
    elif isinstance(node, (cst.For, cst.While)) and seen.leaves is cst.Continue:
        guarded = True  # a `continue` in there goes on with the inner loop
    elif isinstance(node, cst.Try) and node.finalbody is not None:
        guarded = guarded or any(_CLEARING & kinds.get(part, frozenset()) for part in within([node.finalbody]))
    elif isinstance(node, cst.If):
        guarded = guarded or _accumulates(node.test, model)
    begin = seen.position
    for part in children(node):
        if isinstance(part, cst.ExceptHandler):
            tried = range(begin, seen.position + 1)
        _read(part, seen, kinds, model, guarded=guarded, tried=tried)
    done = kinds.get(node, frozenset())
    seen.position += 1
    if done & _BACKWARD:
        seen.backward.append(seen.position)
    if done & _CLEARING or _drops_gradient(node):
        seen.cleared.append(seen.position)


def _is_last(node: cst.Return, model: Model) -> bool:
    """Whether a return stands in no branch: it ends the step, it does not leave it early."""
    around = model.parent(node)
    while around is not None and not isinstance(around, cst.FunctionDef):
        if isinstance(around, (cst.If, cst.ExceptHandler, cst.Match)):
            return False
        around = model.parent(around)
    return True


def _accumulates(test: cst.BaseExpression, model: Model) -> bool:
    """Whether a test tells the rounds that only add gradients up from those that step."""
    for node in within([test]):
        if isinstance(node, cst.Modulo):
            return True
        if isinstance(node, (cst.Name, cst.Attribute)):
            name = node.value if isinstance(node, cst.Name) else node.attr.value
            if "accum" in name or name == "sync_gradients":
                return True
            if isinstance(node, cst.Name) and any(_holds_remainder(origin) for origin in model.value(node).origins):
                return True
    return False


def _holds_remainder(node: cst.CSTNode) -> bool:
    return any(isinstance(part, cst.Modulo) for part in within([node]))


def _drops_gradient(node: cst.CSTNode) -> bool:
    """Whether a statement is `p.grad = None`."""
    return (
        isinstance(node, cst.Assign)
        and isinstance(node.value, cst.Name)
        and node.value.value == "None"
        and any(isinstance(t.target, cst.Attribute) and t.target.attr.value == "grad" for t in node.targets)
    )

"""TL901: gradients reduced on every micro-step."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.rules._wording import quote
from torchlint.rules.base import Confidence, Impact, Report, Rule
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import Effect, EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.values import Gate

_DDP = "DistributedDataParallel"
_FSDP = "FullyShardedDataParallel"


class DdpAccumulateWithoutNoSync(Rule):
    """Gradient accumulation under DDP or FSDP that all-reduces on every micro-step."""

    code = "TL901"
    name = "ddp-accumulate-without-no-sync"
    bottleneck = "distributed"
    summary = "Gradient accumulation reduces the gradients on every micro-step"
    words = (_DDP, _FSDP)

    def on_module(self, model: Model) -> Iterator[Report]:
        wrappers: dict[cst.CSTNode, str] = {
            call.node: kind for call in model.sites.calls if (kind := _kind(call)) is not None
        }
        if not wrappers or self._steers_by_flag(model):
            return
        for function in (*model.functions.values(), model.root):
            for effect in function.effects:
                if effect.kind is not EffectKind.BACKWARD:
                    continue
                loop = self._accumulating_loop(effect, function)
                if loop is None:
                    continue
                forwards = [
                    other
                    for other in function.effects
                    if other.kind is EffectKind.FORWARD and other.context.inside(loop) and other.value is not None
                ]
                kinds = {wrappers[node] for other in forwards for node in _origins(other) if node in wrappers}
                if not kinds:
                    continue
                forward_held = any(_in_no_sync(other.context) for other in forwards)
                backward_held = _in_no_sync(effect.context)
                if forward_held and (backward_held or kinds == {_DDP}):
                    continue
                part = ""
                if forward_held or backward_held:
                    part = ": `no_sync` covers only the " + ("forward" if forward_held else "backward")
                yield Report(
                    effect.node,
                    f"{quote(effect.node)} reduces the gradients over all processes on every micro-step, though the "
                    f"optimizer steps only after several{part}",
                    "Run forward and backward of all micro-steps but the last under `no_sync()`",
                    Confidence.LIKELY,
                    Impact.HIGH,
                )

    def _steers_by_flag(self, model: Model) -> bool:
        """Whether the file turns the reduction on and off by an attribute or a call."""
        return any(
            assign.name is not None and assign.name.endswith("require_backward_grad_sync")
            for assign in model.sites.assigns
        ) or any(call.method == "set_requires_gradient_sync" for call in model.sites.calls)

    def _accumulating_loop(self, effect: Effect, function: FunctionInfo) -> Context | None:
        """The loop in which the backward runs more often than the optimizer steps."""
        steps = [other for other in function.effects if other.kind is EffectKind.OPTIMIZER_STEP]
        loops = effect.context.enclosing_loops()
        for index, loop in enumerate(loops):
            inside = [step for step in steps if step.context.inside(loop)]
            if inside:
                return loop if all(_rare(step.context, loop) for step in inside) else None
            if steps and index == 0 and not any(step.context.inside(outer) for outer in loops[1:] for step in steps):
                return loop  # the optimizer steps after this loop
        inner = loops[0] if loops else None
        if inner is not None and any(step.context.inside(outer) for outer in loops[1:] for step in steps):
            return inner
        return None


def _kind(call: sites.Call) -> str | None:
    last = (call.callee or "").rsplit(".", 1)[-1]
    return last if last in (_DDP, _FSDP) and call.arguments else None


def _origins(effect: Effect) -> tuple[cst.CSTNode, ...]:
    return effect.value.origins if effect.value is not None else ()


def _rare(context: Context, loop: Context) -> bool:
    """Whether code in a loop runs every few rounds only."""
    for link in context.chain():
        if link is loop:
            return False
        if link.scope is Scope.BRANCH and link.gate is Gate.RARE:
            return True
    return False


def _in_no_sync(context: Context) -> bool:
    for link in context.chain():
        if link.scope is Scope.WITH and ("no_sync" in link.flags or _mentions_no_sync(link.node)):
            return True
        if link.scope is Scope.FUNCTION:
            return False
    return False


def _mentions_no_sync(node: cst.CSTNode | None) -> bool:
    """`with model.no_sync() if more else nullcontext():`, or a name that was given such a thing."""
    if not isinstance(node, cst.With):
        return False
    return any("sync" in cst.Module([]).code_for_node(item.item) for item in node.items)

"""TL901: gradients reduced on every micro-step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.distributed import _repairs
from torchlint.rules.measurement._intervals import Happening, happenings
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import Effect, EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within
from torchlint.semantics.values import Gate
from torchlint.source import written

_DDP = "DistributedDataParallel"
_FSDP = "FullyShardedDataParallel"
_PREPARE = "accelerate.Accelerator.prepare"


class DdpAccumulateWithoutNoSync(Rule):
    code = "TL901"
    name = "ddp-accumulate-without-no-sync"
    bottleneck = "distributed"
    impact = Impact.HIGH
    summary = "Gradient accumulation reduces the gradients on every micro-step"
    fix_availability = FixAvailability.SOMETIMES
    words = (_DDP, _FSDP, "Accelerator")

    def on_module(self, model: Model) -> Iterator[Report]:
        wrappers: dict[cst.CSTNode, str] = {
            call.node: kind for call in model.sites.calls if (kind := _kind(call)) is not None
        }
        if not wrappers or self._steers_by_flag(model):
            return
        for function in (*model.functions.values(), model.root):
            seen = happenings(function)
            for step in seen:
                if _is_backward(step):
                    yield from self._judge(step, seen, function, wrappers, model)

    def _judge(
        self,
        backward: Happening,
        seen: Sequence[Happening],
        function: FunctionInfo,
        wrappers: dict[cst.CSTNode, str],
        model: Model,
    ) -> Iterator[Report]:
        around = self._accumulating(backward, seen, function, model)
        if around is None or _is_told_when(backward, model):
            return
        forwards = [other for other in seen if other.effect.kind is EffectKind.FORWARD and other.context.inside(around)]
        kinds = {wrappers[node] for other in forwards for node in _makers(other.effect, model) if node in wrappers}
        if not kinds:
            return
        forward_held = any(_held(other, model) for other in forwards)
        backward_held = _held(backward, model)
        if forward_held and backward_held:
            return
        if not backward_held and any(_held(o, model) for o in seen if _is_backward(o) and o.context.inside(around)):
            return  # of the last micro-step, which has to reduce: the others run under `no_sync`
        # What the forward of DDP finds decides for its backward, as things are; its documentation asks for both.
        confidence = Confidence.POSSIBLE if forward_held and kinds == {_DDP} else Confidence.LIKELY
        if kinds == {_PREPARE}:
            confidence = Confidence.POSSIBLE  # there may be one process
        part = ""
        if forward_held or backward_held:
            part = ": `no_sync` covers only the " + ("forward" if forward_held else "backward")
        node = backward.effect.node
        yield Report(
            node,
            f"{quote(node)} reduces the gradients over all processes on every micro-step, though the optimizer steps "
            f"only after several{part}",
            "run forward and backward of all micro-steps but the last under `no_sync()`",
            confidence,
            fix=None if part else _repairs.held_back(model, forwards[0].effect.node, node),
        )

    def _steers_by_flag(self, model: Model) -> bool:
        """Whether the file turns the reduction on and off by an attribute or a call."""
        return any(
            assign.name is not None and assign.name.endswith("require_backward_grad_sync")
            for assign in model.sites.assigns
        ) or any(
            call.method == "set_requires_gradient_sync" or call.callee == "accelerate.Accelerator.accumulate"
            for call in model.sites.calls
        )

    def _accumulating(
        self, backward: Happening, seen: Sequence[Happening], function: FunctionInfo, model: Model
    ) -> Context | None:
        """What repeats the backward more often than the optimizer steps: a loop, or a function called on every step."""
        steps = [other.context for other in seen if other.effect.kind is EffectKind.OPTIMIZER_STEP]
        loops = [loop for loop in backward.context.enclosing_loops() if loop.loop is None or loop.loop.count != 1]
        for index, loop in enumerate(loops):
            inside = [step for step in steps if step.inside(loop)]
            if inside and index:
                return loops[index - 1]
            if inside:
                return loop if all(_rarer(step, backward.context, loop, model) for step in inside) else None
        if loops:
            return loops[0] if steps else None  # the optimizer steps after the loop
        body = function.body
        often = body is not None and model.hot(body) is not None
        if not often or body is None or not steps:
            return None
        return body if all(_rarer(step, backward.context, body, model) for step in steps) else None


def _is_backward(happening: Happening) -> bool:
    return happening.effect.kind is EffectKind.BACKWARD


def _is_told_when(backward: Happening, model: Model) -> bool:
    """Whether an engine runs it that is told on which micro-step to reduce: `accelerator.sync_gradients = last`."""
    node = backward.effect.node
    return (
        isinstance(node, cst.Call)
        and bool(node.args)
        and any((assign.name or "").endswith(".sync_gradients") for assign in model.sites.assigns)
    )


def _kind(call: sites.Call) -> str | None:
    if call.callee == _PREPARE:
        return _PREPARE
    last = (call.callee or "").rsplit(".", 1)[-1]
    return last if last in (_DDP, _FSDP) and call.arguments else None


def _makers(effect: Effect, model: Model) -> list[cst.CSTNode]:
    """The calls that made the module, or gave it to the name by which it is called."""
    found = list(effect.value.origins) if effect.value is not None else []
    name = dotted(effect.node.func) if isinstance(effect.node, cst.Call) else None
    if name is not None:
        here = (effect.context.owner, None) if "." not in name else ()  # a local name of another function is another
        assigned = (a for a in model.sites.assigned(name) if not here or a.context.owner in here)
        statements = (assign.node for assign in assigned)
        found += [statement.value for statement in statements if isinstance(statement, cst.Assign)]
    return found


def _rarer(step: Context, backward: Context, loop: Context, model: Model) -> bool:
    """Whether the optimizer steps every few rounds of a loop only, and the backward runs on the others as well."""
    for link in step.chain():
        if link is loop:
            return False
        if link.scope is Scope.BRANCH and (link.gate is Gate.RARE or _counts_up(link, model)):
            return not backward.inside(link)
    return False


def _counts_up(branch: Context, model: Model) -> bool:
    """Whether a branch compares a name that it sets to a number again: a count of what has gathered."""
    test = branch.test
    if not isinstance(test, cst.Comparison):
        return False
    name = dotted(test.left)
    return any(
        assign.context.inside(branch) and type(assign.value.const) is int for assign in model.sites.assigned(name)
    )


def _held(happening: Happening, model: Model) -> bool:
    """Whether `no_sync` is held where something happens, or where the function that does it is called."""
    return _in_no_sync(happening.context, model) or _in_no_sync(happening.effect.context, model)


def _in_no_sync(context: Context, model: Model) -> bool:
    for link in context.in_function():
        if link.scope is Scope.WITH and ("no_sync" in link.flags or _mentions_no_sync(link.node, model)):
            return True
    return False


def _mentions_no_sync(node: cst.CSTNode | None, model: Model) -> bool:
    """`with model.no_sync() if more else nullcontext():`, or a name that was given such a thing."""
    if not isinstance(node, cst.With):
        return False
    parts: list[cst.CSTNode] = [item.item for item in node.items]
    names = {part.value for part in within(parts) if isinstance(part, cst.Name)}
    parts += [a.value_node for a in model.sites.assigns if a.name in names and a.value_node is not None]
    return any("sync" in written.code(part) for part in parts)

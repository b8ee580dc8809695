"""TL904: processes that wait for each other only to log."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import Report, Rule
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import Role
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, holder, names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.values import ATTACHED, DETACHED, Kind

_REDUCES = tuple(
    f"torch.distributed.{name}"
    for name in ("all_reduce", "reduce", "all_gather", "gather", "all_gather_into_tensor", "all_gather_object")
)
_BARRIERS = (
    "torch.distributed.barrier",
    "torch.distributed.monitored_barrier",
    "accelerate.Accelerator.wait_for_everyone",
)
# An accelerator's, which evaluations need to gather their predictions.
_GATHERS = tuple(f"accelerate.Accelerator.{name}" for name in ("gather", "gather_for_metrics", "reduce"))

_LOGS = (".log", ".log_dict")  # of Lightning's modules


class CollectivePerMetric(Rule):
    code = "TL904"
    name = "collective-per-metric"
    bottleneck = "distributed"
    summary = "Processes wait for each other on every step only to log"
    calls = (*_REDUCES, *_BARRIERS, *_GATHERS, *_LOGS)
    words = ("distributed", "dist", "accelerate", "sync_dist")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        hot = model.hot(site.context)
        if hot is None or surroundings.in_test(site.context):
            return
        if f".{site.method}" in _LOGS:
            if _reduces_each_step(site):
                yield Report(
                    site.node,
                    f"{quote(site.node)} reduces the metric over all processes {often(hot)}, before it is logged",
                    "log it with `on_step=False`, so that it is reduced once per epoch, or without `sync_dist`",
                    Confidence.LIKELY,
                    because(hot),
                )
            return
        if site.callee in _BARRIERS:
            yield Report(
                site.node,
                f"{quote(site.node)} makes all processes wait for the slowest {often(hot)}",
                "remove it: collectives order the processes by themselves",
                Confidence.LIKELY if hot.trains else Confidence.POSSIBLE,
                because(hot),
            )
            return
        argument = site.argument(0, "tensor") or site.argument(1)
        if argument is None or hot.rate is Iterates.PARAMETERS:
            return
        name = holder(argument.node)
        value = argument.value
        if value.qual == "torch.nn.Parameter" or (name is not None and name.rsplit(".", 1)[-1] in ("grad", "data")):
            return
        gathers = site.callee in _GATHERS  # no graph goes through those
        copied = bool(value.origins) and all(map(_is_copy, value.origins))  # what is trained is left as it is
        if not gathers and (value.graph & ATTACHED and not copied or name is None):
            return
        function = model.function_of(site.context)
        if name is not None and (function.needs_graph(name) or self._computes(name, site, model)):
            return
        if function.role is Role.OPTIMIZER_STEP or function.role is Role.AUTOGRAD:
            return  # it reports nothing
        if any(_is_gradient(node) for origin in value.origins for node in within([origin])):
            return
        yield Report(
            site.node,
            f"{quote(site.node)} is a collective of its own {often(hot)}, for a value that is only reported",
            "collect the values that are reported, stack them, and reduce them together on the steps that log",
            Confidence.LIKELY
            if hot.trains and (value.graph & ATTACHED if gathers else copied or value.graph == DETACHED)
            else Confidence.POSSIBLE,
            because(hot),
        )

    def _computes(self, name: str, site: sites.Call, model: Model) -> bool:
        """Whether the value goes on into a tensor that has a graph, or decides what is done."""
        same = [
            assign.name
            for assign in model.sites.assigns
            if assign.context.owner is site.context.owner
            and assign.name is not None
            and assign.value_node is not None
            and holder(assign.value_node) == name
        ]
        return any(self._goes_on(one, site, model) for one in (name, *same)) or self._answers_caller(name, site, model)

    def _goes_on(self, name: str, site: sites.Call, model: Model) -> bool:
        for binary in model.sites.binaries:
            own = isinstance(binary.node, cst.AugAssign) and holder(binary.left_node) == name  # `total /= world`
            if binary.context.owner is site.context.owner and binary.result.graph & ATTACHED and not own:
                if name in (holder(binary.left_node), holder(binary.right_node)):
                    return True
        calls = [call for call in model.sites.calls if call.context.owner is site.context.owner]
        if any(_scales(call, name) or _is_decided_by(name, call.context) for call in calls):
            return True
        if any(_steers(call, name, model) for call in calls):
            return True
        return any(
            truth.context.owner is site.context.owner and name in names_read(truth.node) for truth in model.sites.truths
        )

    def _answers_caller(self, name: str, site: sites.Call, model: Model) -> bool:
        """Whether what is made of the value is given back, and a caller branches by that: `if any_rank(bad):`.

        Or all that call it on every step go on with it: `n = reduced(n)`.
        """
        owner = site.context.owner
        if owner is None or not any(name in names_read(node) for node, _, _ in owner.return_sites):
            return False
        if any(_branches(caller.node, model) for caller in owner.callers):
            return True
        hot = [caller.node for caller in owner.callers if model.hot(caller.context) is not None]
        return bool(hot) and all(self._goes_on_with(call, model) for call in hot)

    def _goes_on_with(self, call: cst.CSTNode, model: Model) -> bool:
        """Whether what a call gives is bound to a name, and that goes on."""
        site, around = model.call(call), model.parent(call)
        name = dotted(around.targets[0].target) if isinstance(around, cst.Assign) else None
        return site is not None and name is not None and self._goes_on(name, site, model)


def _reduces_each_step(site: sites.Call) -> bool:
    """Whether a Lightning module's `log` reduces what it is given at once: in a training step by default."""
    owner = site.context.owner
    cls = site.receiver.cls if site.receiver is not None else None
    if owner is None or cls is None or not any(name.endswith("LightningModule") for name in cls.base_names):
        return False
    across, on_step = site.argument(None, "sync_dist"), site.argument(None, "on_step")
    if across is None or across.value.const is not True:
        return False
    return owner.name == "training_step" if on_step is None else on_step.value.const is True


def _is_decided_by(name: str, context: Context) -> bool:
    """Whether a branch around is taken by the value: `if math.isfinite(norm): optimizer.step()`."""
    tests = (link.test for link in context.chain() if link.scope is Scope.BRANCH)
    return any(name in names_read(test) for test in tests if test is not None)


def _branches(node: cst.CSTNode, model: Model) -> bool:
    """Whether a branch is taken by what an expression gives."""
    around = model.parent(node)
    while isinstance(around, (cst.UnaryOperation, cst.BooleanOperation, cst.Comparison)):
        node, around = around, model.parent(around)
    return isinstance(around, (cst.If, cst.While, cst.IfExp)) and around.test is node


def _is_copy(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "clone"


def _is_gradient(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value in ("grad", "main_grad")


def _steers(call: sites.Call, name: str, model: Model) -> bool:
    """Whether an object is told the value and gives something back for it: `self.lr = schedule.update(kl.item())`."""
    if call.receiver is None or call.receiver.kind is not Kind.OBJECT and call.receiver.kind is not Kind.UNKNOWN:
        return False
    told = any(name in names_read(argument.node) for argument in call.arguments)
    return told and isinstance(model.parent(call.node), cst.Assign)


def _scales(call: sites.Call, name: str) -> bool:
    """Whether a call takes the value beside what is trained: `scale_grads(model, world / tokens)`."""
    trained = (Kind.MODULE, Kind.PARAMETERS, Kind.OPTIMIZER)
    written = dotted(call.node.func) or ""
    if "grad" not in written and not any(argument.value.kind in trained for argument in call.arguments):
        return False
    return any(name in names_read(argument.node) for argument in call.arguments)

"""TL604: a graph kept for a second backward that never comes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules._repairs import remove_argument
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeFix, Report, Rule
from torchlint.rules.memory._graphs import Shared, made_before, root_of, shared_graph
from torchlint.rules.memory._retention import may_hold_graph
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import below, within
from torchlint.semantics.targets import loop_names
from torchlint.semantics.values import ATTACHED, DETACHED, MAYBE, PLACES, Kind, Value, dependence

_BACKWARD = frozenset({EffectKind.BACKWARD})
_DIFFERENTIABLE = tuple(f"torch.{name}" for name in "cat einsum exp log matmul mm sigmoid softmax stack tanh".split())


class RetainGraph(Rule):
    code = "TL604"
    name = "retain-graph"
    bottleneck = "memory"
    summary = "The graph is kept for a second backward that never comes"
    fix_availability = FixAvailability.SOMETIMES
    calls = (".backward", ".manual_backward", "torch.autograd.backward")
    words = ("retain_graph",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        option = site.argument(None, "retain_graph")
        if option is None or option.value.const is not True or surroundings.in_test(site.context):
            return
        create = site.argument(None, "create_graph")
        if create is not None and create.value.const is not False:
            return
        function = model.function_of(site.context)
        confidence = self._unfollowed(site, function, model)
        loop = next(iter(site.context.enclosing_loops()), None)
        if confidence is None or (loop is not None and self._carries_graph(site.node, loop, function, model)):
            return
        if loop is not None and self._may_go_further_back(loop, function, model):
            confidence = Confidence.POSSIBLE
        if loop is None and not self._makes_its_graph(function):
            confidence = Confidence.POSSIBLE  # the caller may hold the graph and run through it again
        yield Report(
            site.node,
            f"{quote(site.node)} keeps all that the graph saved, and no second backward runs through it",
            "drop `retain_graph=True`",
            confidence,
            fix=self._fix(site, function, model),
        )

    def _unfollowed(self, site: sites.Call, function: FunctionInfo, model: Model) -> Confidence | None:
        """How sure it is that no other backward runs over the graph later in the step: here, or after the call."""
        confidence = Confidence.LIKELY
        seen = False
        for effect in function.effects:
            if effect.node is site.node:
                seen = True
            elif seen and effect.kind is EffectKind.BACKWARD:
                shared = shared_graph(site.node, effect.node, function, model)
                if shared is not Shared.NOTHING:
                    if shared is Shared.SOMETHING:
                        return None
                    confidence = Confidence.POSSIBLE
            elif seen and effect.callee is not None and effect.callee.does(_BACKWARD):
                return None
        kept = {name for _, name, _ in function.attributes}
        makes = self._makes_its_graph(function) and not _is_given_graph(site, function)
        if makes and not kept:
            return confidence
        for caller in function.callers:
            owner = model.function_of(caller.context)
            after = False
            for effect in owner.effects:
                if effect.node is caller.node:
                    after = True
                elif after and (
                    effect.kind is EffectKind.BACKWARD or (effect.callee is not None and effect.callee.does(_BACKWARD))
                ):
                    if not makes or effect.callee is None or _reads_attribute(effect.callee, kept):
                        return None
        return confidence

    def _may_go_further_back(self, loop: Context, function: FunctionInfo, model: Model) -> bool:
        """Whether the loop may run through a graph that was made before it: one that hangs on what torch computed."""
        made = {
            assign.name
            for assign in model.sites.assigns
            if assign.name is not None
            and model.function_of(assign.context) is function
            and not assign.context.inside(loop)
            and isinstance(assign.value_node, cst.Call)
            and (model.resolve(assign.value_node.func) or "").startswith(("torch.nn.functional.", *_DIFFERENTIABLE))
            and assign.value.graph & (ATTACHED | MAYBE)
        }
        body = loop.node.body if isinstance(loop.node, (cst.For, cst.While)) else None
        return body is not None and any(isinstance(part, cst.Name) and part.value in made for part in within([body]))

    def _makes_its_graph(self, function: FunctionInfo) -> bool:
        """Whether the function itself runs the forward whose graph it is: nothing outside can hold that graph."""
        return any(
            effect.kind is EffectKind.FORWARD
            or (effect.callee is not None and effect.callee.does(frozenset({EffectKind.FORWARD})))
            for effect in function.effects
        )

    def _carries_graph(self, backward: cst.CSTNode, loop: Context, function: FunctionInfo, model: Model) -> bool:
        """Whether the next round may run through this round's graph: it starts outside, or a state is carried over."""
        assert loop.loop is not None
        targets = loop_names(loop.node)
        root = root_of(backward, model) if isinstance(backward, cst.Call) else None
        if root is not None and dotted(root) in targets:
            return True  # one of several losses at hand, which may have a network in common
        if made_before(backward, loop.loop.node, function, model) or not any(
            effect.kind is EffectKind.FORWARD
            and effect.context.inside(loop)
            or (effect.callee is not None and effect.context.inside(loop))
            for effect in function.effects
        ):
            return True  # the graph is made outside the loop
        inside: set[str] = set()
        cut: set[str] = set()  # from the round before, on the way: `state = detached(state)`
        outside = {parameter.name for parameter in function.parameters}
        last: dict[str, bool] = {}
        for assign in model.sites.assigns:
            if assign.name is None or model.function_of(assign.context) is not function:
                continue
            if assign.context.inside(loop):
                if _is_fetched(assign.node, model):
                    continue  # data, whatever the loop has computed
                if _is_detached(assign.value) and not assign.context.rare:
                    cut.add(assign.name)
                inside.add(assign.name)
                last[assign.name] = assign.value.attached or (assign.value.is_tensor and assign.value.graph != DETACHED)
            else:
                outside.add(assign.name)
        return any(name in outside and last[name] and name not in targets for name in inside - cut)

    def _fix(self, site: sites.Call, function: FunctionInfo, model: Model) -> NodeFix | None:
        """Safe where nobody else may run through the graph: nothing of it is handed on behind the backward."""
        option = site.argument(None, "retain_graph")
        if option is None:
            return None
        own = isinstance(site.receiver_node, cst.Name) and site.receiver_node.value in _assigned(function, model)
        handed_on = any(
            isinstance(node, (cst.Name, cst.Attribute)) and may_hold_graph(model, node)
            for line in _behind(model, site.node)
            for node in below(line)
        )
        safety = Applicability.SAFE if own and not handed_on else Applicability.UNSAFE
        return NodeFix(safety, "Drop `retain_graph=True`", (remove_argument(site.node, option.node),))


def _is_fetched(node: cst.CSTNode, model: Model) -> bool:
    """Whether a statement binds what an iterator gives next, moved and converted perhaps."""
    value = node.value if isinstance(node, cst.Assign) else None
    while isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        value = value.func.value
    return isinstance(value, cst.Call) and model.resolve(value.func) == "next"


def _is_detached(value: Value) -> bool:
    """Whether it is a tensor without a graph, or holds nothing else."""
    if value.kind is Kind.CONTAINER:
        return value.elem is not None and _is_detached(value.elem)
    return value.is_tensor and value.graph == DETACHED


def _is_given_graph(site: sites.Call, function: FunctionInfo) -> bool:
    """Whether the graph goes on into what a caller made and passed: it may run through that part again."""
    root = site.argument(0, "tensors") if site.receiver is None else None
    value = site.receiver if root is None else root.value
    return value is not None and any(
        value.deps & dependence(parameter.index) & ~PLACES
        and any(passed.graph & ATTACHED for passed in parameter.passed.values())
        for parameter in function.parameters
    )


def _assigned(function: FunctionInfo, model: Model) -> set[str]:
    """The names that a function gives values to."""
    return {a.name for a in model.sites.assigns if a.name is not None and model.function_of(a.context) is function}


def _behind(model: Model, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The statements that may run after a node in its function: those behind it in each block around it."""
    current: cst.CSTNode | None = node
    while current is not None and not isinstance(current, (cst.FunctionDef, cst.Lambda)):
        around = model.parent(current)
        if isinstance(around, (cst.IndentedBlock, cst.Module, cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            body = list(around.body)
            yield from body[body.index(current) + 1 :]
        current = around


def _reads_attribute(function: FunctionInfo, names: set[str]) -> bool:
    return any(isinstance(part, cst.Attribute) and part.attr.value in names for part in within(function.body_nodes))

"""TL604: a graph kept for a second backward that never comes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.rules._repairs import remove_argument
from torchlint.rules._wording import quote
from torchlint.rules.base import Applicability, Confidence, FixAvailability, NodeFix, Report, Rule
from torchlint.rules.memory._graphs import shares_graph
from torchlint.semantics import hotness, sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model


class RetainGraph(Rule):
    """`backward(retain_graph=True)` with no second backward over that graph."""

    code = "TL604"
    name = "retain-graph"
    bottleneck = "memory"
    summary = "The graph is kept for a second backward that never comes"
    fix_availability = FixAvailability.SOMETIMES
    calls = (".backward", "torch.autograd.backward")
    words = ("retain_graph",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        option = site.argument(None, "retain_graph")
        if option is None or option.value.const is not True or hotness.in_test(site.context):
            return
        create = site.argument(None, "create_graph")
        if create is not None and create.value.const is not False:
            return
        function = model.function_of(site.context)
        if self._followed(site, function, model):
            return
        confidence = Confidence.LIKELY
        loop = next(iter(site.context.enclosing_loops()), None)
        if loop is not None and self._carries_graph(site, loop, function, model):
            return
        if loop is None and not self._makes_its_graph(site, function, model):
            confidence = Confidence.POSSIBLE  # the caller may hold the graph and run through it again
        yield Report(
            site.node,
            f"{quote(site.node)} keeps all that the graph saved, and no second backward runs through it",
            "Drop `retain_graph=True`",
            confidence,
            fix=self._fix(site),
        )

    def _followed(self, site: sites.Call, function: FunctionInfo, model: Model) -> bool:
        """Whether another backward may run over the graph later in the step: here, or in a caller after the call."""
        seen = False
        for effect in function.effects:
            if effect.node is site.node:
                seen = True
            elif seen and effect.kind is EffectKind.BACKWARD:
                if shares_graph(site.node, effect.node, function, model):
                    return True
            elif seen and effect.callee is not None and hotness.does(effect.callee, frozenset({EffectKind.BACKWARD})):
                return True
        if self._makes_its_graph(site, function, model):
            return False
        for caller in function.callers:
            owner = model.function_of(caller.context)
            after = False
            for effect in owner.effects:
                if effect.node is caller.node:
                    after = True
                elif after and (
                    effect.kind is EffectKind.BACKWARD
                    or (effect.callee is not None and hotness.does(effect.callee, frozenset({EffectKind.BACKWARD})))
                ):
                    return True
        return False

    def _makes_its_graph(self, site: sites.Call, function: FunctionInfo, model: Model) -> bool:
        """Whether the function itself runs the forward whose graph it is: nothing outside can hold that graph."""
        return any(
            effect.kind is EffectKind.FORWARD
            or (effect.callee is not None and hotness.does(effect.callee, frozenset({EffectKind.FORWARD})))
            for effect in function.effects
        )

    def _carries_graph(self, site: sites.Call, loop: Context, function: FunctionInfo, model: Model) -> bool:
        """Whether the next round may run through this round's graph: it starts outside, or a state is carried over."""
        assert loop.loop is not None
        if not any(
            effect.kind is EffectKind.FORWARD
            and effect.context.inside(loop)
            or (effect.callee is not None and effect.context.inside(loop))
            for effect in function.effects
        ):
            return True  # the graph is made outside the loop
        inside: set[str] = set()
        outside = {parameter.name for parameter in function.parameters}
        last: dict[str, bool] = {}
        for assign in model.sites.assigns:
            if assign.name is None or model.function_of(assign.context) is not function:
                continue
            if assign.context.inside(loop):
                inside.add(assign.name)
                last[assign.name] = assign.value.attached or (assign.value.is_tensor and assign.value.graph != 1)
            else:
                outside.add(assign.name)
        targets = _names(loop.node)
        return any(name in outside and last[name] and name not in targets for name in inside)

    def _fix(self, site: sites.Call) -> NodeFix | None:
        option = site.argument(None, "retain_graph")
        if option is None:
            return None
        return NodeFix(Applicability.SAFE, "Drop `retain_graph=True`", (remove_argument(site.node, option.node),))


def _names(node: cst.CSTNode | None) -> set[str]:
    """The names that a loop binds."""
    if not isinstance(node, cst.For):
        return set()
    names: set[str] = set()
    todo: list[cst.BaseExpression] = [node.target]
    while todo:
        part = todo.pop()
        if isinstance(part, cst.Name):
            names.add(part.value)
        elif isinstance(part, (cst.Tuple, cst.List)):
            todo += [element.value for element in part.elements]
    return names

"""TL605: a hook that keeps what passes it, with its graph."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.memory._retention import emptied, graph_confidence, needed_by_backward
from torchlint.semantics import sites
from torchlint.semantics.contexts import Iterates
from torchlint.semantics.functions import EffectKind, FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.rounds import iterates
from torchlint.semantics.values import MISSING, Kind

_GROWS = frozenset("append extend insert appendleft add put".split())


class HookRetainsGraph(Rule):
    code = "TL605"
    name = "hook-retains-graph"
    bottleneck = "memory"
    summary = "A hook keeps activations with their graph"
    fix_availability = FixAvailability.SOMETIMES
    words = ("hook",)
    words_travel = True

    def on_store(self, site: sites.Store, model: Model) -> Iterator[Report]:
        owner = site.context.owner
        if owner is None or owner.role is not Role.HOOK or site.owner_name is None:
            return
        if "." not in site.owner_name and self._is_local(site, model):
            return
        graph = graph_confidence(site.value, site.context, model)
        if graph is None:
            return
        name = f"{site.owner_name}.{site.key}" if site.how == "attribute" else site.owner_name
        if needed_by_backward(name, site.context, model) or emptied(name, model) or self._only_inference(model):
            return
        if self._comes_off(owner, model) or self._begins_anew(name, model):
            return
        grows = site.how in _GROWS or (site.how == "setitem" and self._key_varies(site, model))
        confidence = min(graph, Confidence.LIKELY if grows else Confidence.POSSIBLE)
        made = model.call(site.value.origin) if site.value.origin is not None else None
        if made is not None and made.function.kind is Kind.UNKNOWN and made.method is None:
            confidence = Confidence.POSSIBLE  # a function that was handed over made it: it may read numbers
        fix = None
        if (
            isinstance(site.stored, (cst.Name, cst.Call, cst.Subscript, cst.Attribute))
            and site.value.kind is Kind.TENSOR
        ):
            fix = NodeFix(Applicability.UNSAFE, "Detach what is kept", (NodeEdit(site.stored, ".detach()", "after"),))
        yield Report(
            site.node,
            f"this hook keeps {quote(site.stored)} with its graph in `{name}`: the activations of every step stay",
            f"keep {quote(site.stored)[:-1]}.detach()`, and remove the hook or empty what it fills",
            confidence,
            (("the hook", owner.node),),
            fix,
        )

    def _comes_off(self, hook: FunctionInfo, model: Model) -> bool:
        """Whether the function that the hook stands in takes it off again, and makes no steps between."""
        maker = hook.parent
        if maker is None or not any(
            call.method == "remove" and not call.arguments and call.context.owner is maker for call in model.sites.calls
        ):
            return False
        loops = (loop for effect in maker.effects for loop in effect.context.enclosing_loops())
        return not any(iterates(loop) in (Iterates.STEPS, Iterates.EPOCHS) for loop in loops)

    def _begins_anew(self, name: str, model: Model) -> bool:
        """Whether each step gives what the hook fills, or the entry that it fills, an empty container again."""
        last = "." + name.rsplit(".", 1)[-1]
        given = [(a.name, a.value_node, a.context) for a in model.sites.assigns]
        given += [(s.owner_name, s.stored, s.context) for s in model.sites.stores if s.how == "setitem"]
        return any(
            filled is not None and filled.endswith(last) and _is_empty(node) and model.hot(context) is not None
            for filled, node, context in given
        )

    def _is_local(self, site: sites.Store, model: Model) -> bool:
        assigned = model.sites.assigned(site.owner_name)
        return any(assign.context.owner is site.context.owner for assign in assigned)

    def _key_varies(self, site: sites.Store, model: Model) -> bool:
        index = site.entry.slice[0].slice if site.entry is not None else None
        if not isinstance(index, cst.Index):
            return False
        key = model.value(index.value)
        # A name of the maker's, such as the layer's, is the same on every run of the hook.
        return key.const is MISSING and key.kind is Kind.NUMBER and key.qual is None

    def _only_inference(self, model: Model) -> bool:
        """Whether every module call that the file shows runs with autograd off: then there is no graph to keep."""
        forwards = [
            effect.context
            for function in (*model.functions.values(), model.root)
            for effect in function.effects
            if effect.kind is EffectKind.FORWARD
        ]
        return bool(forwards) and all(model.autograd_off(context) for context in forwards)


def _is_empty(node: cst.CSTNode | None) -> bool:
    """`[]`, `{}`."""
    return isinstance(node, (cst.List, cst.Dict)) and not node.elements

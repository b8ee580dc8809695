"""TL406: deterministic algorithms are forced with no way to turn them off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._conditions import is_conditional
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.rules.compute._reasons import states_reason
from torchlint.semantics import surroundings
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.model import Model

_SWITCH: Final = "torch.backends.cudnn.deterministic"
_FORCES: Final = {
    "torch.use_deterministic_algorithms": (True,),
    "torch.set_deterministic_debug_mode": ("error", "warn", 1, 2),
}
_RUNS: Final = frozenset((EffectKind.BACKWARD, EffectKind.FORWARD, EffectKind.OPTIMIZER_STEP))


class DeterministicLeftOn(Rule):
    code = "TL406"
    name = "deterministic-left-on"
    bottleneck = "compute"
    summary = "Deterministic algorithms are forced on a training or serving path with no way to turn them off"
    ruleset = RuleSet.EXTENDED
    torch = "1.8"
    words = ("deterministic",)

    def on_module(self, model: Model) -> Iterator[Report]:
        forced: list[tuple[cst.CSTNode, Context]] = [
            (site.node, site.context)
            for site in model.sites.calls
            if site.callee in _FORCES and site.arguments and site.arguments[0].value.const in _FORCES[site.callee]
        ]
        forced += [(a.node, a.context) for a in model.sites.assigns if a.qualified == _SWITCH and a.value.const is True]
        if not forced:
            return
        for node, context in forced:
            if (
                model.is_test_file
                or surroundings.in_test(context)
                or is_conditional(context)
                or states_reason(model, node)
            ):
                continue
            if _is_put_back(context, model):
                continue
            used_by = model.everywhere() if context.owner is not None and context.owner.callers else [model]
            yield Report(
                node,
                f"{quote(node)} rules out the faster algorithms on every run, and nothing turns it off",
                "make it an option that is off by default",
                # Of a module of utilities that nobody calls it is not known what it is used for.
                Confidence.LIKELY if any(map(_runs_a_model, used_by)) else Confidence.POSSIBLE,
            )


def _runs_a_model(model: Model) -> bool:
    functions = [model.root, *model.functions.values()]
    return any(effect.kind in _RUNS for function in functions for effect in function.effects)


def _is_put_back(context: Context, model: Model) -> bool:
    """Whether the same function sets it again to something else, as one does after a region."""
    owner = context.owner
    if owner is None:
        return False
    again = any(
        site.callee in _FORCES
        and site.context.owner is owner
        and site.arguments
        and site.arguments[0].value.const not in _FORCES[site.callee]
        for site in model.sites.calls
    )
    return again or any(
        a.qualified == _SWITCH and a.context.owner is owner and a.value.const is not True for a in model.sites.assigns
    )

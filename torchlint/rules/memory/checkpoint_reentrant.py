"""TL608: activation checkpointing in its old form."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.rules._repairs import option_off, repair
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule, RuleSet
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_CALLS = ("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")


class CheckpointReentrant(Rule):
    code = "TL608"
    name = "checkpoint-reentrant"
    bottleneck = "memory"
    summary = "Activation checkpointing runs in its reentrant form"
    ruleset = RuleSet.EXTENDED  # on an H200 its repair was slower where it was measured
    fix_availability = FixAvailability.SOMETIMES
    torch = "1.11"
    calls = _CALLS
    words = ("checkpoint",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if site.function.bound is not None or (site.function.items or {}).get("use_reentrant") is not None:
            return
        option = site.argument(None, "use_reentrant")
        if option is not None and option.value.const is not True:
            return
        if option is None and any(argument.star == "**" for argument in site.arguments):
            return
        if site.callee not in _CALLS or site.function.kind is not Kind.FUNCTION or not site.arguments:
            return
        yield Report(
            site.node,
            f"{quote(site.node)} recomputes in the reentrant form, which runs a backward inside the backward and keeps "
            "the whole input list",
            "pass `use_reentrant=False`",
            Confidence.SURE,
            fix=repair(option_off)(site, "use_reentrant", "Pass `use_reentrant=False`"),
        )

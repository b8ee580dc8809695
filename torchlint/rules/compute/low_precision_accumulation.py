"""TL408: a running sum is kept by hand in half precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.findings import Confidence
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, Report, Rule, RuleSet
from torchlint.rules.compute import _repairs
from torchlint.semantics import rounds, sites
from torchlint.semantics.contexts import Iterates, Scope
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_HALF: Final = frozenset(("float16", "bfloat16"))
_MANY: Final = frozenset((Iterates.STEPS, Iterates.ELEMENTS))


class LowPrecisionAccumulation(Rule):
    code = "TL408"
    name = "low-precision-accumulation"
    bottleneck = "compute"
    summary = "A running sum is kept by hand in half precision over many steps or elements"
    fix_availability = FixAvailability.SOMETIMES
    ruleset = RuleSet.EXTENDED
    words = ("float16", "bfloat16", "half")
    words_travel = True

    def on_accumulate(self, site: sites.Accumulate, model: Model) -> Iterator[Report]:
        total = site.before
        if total.kind is not Kind.TENSOR or total.dtype not in _HALF or site.operator != "+":
            return
        if not _over_many(site, model):
            return
        digits = "8 bits: it stands still at 256" if total.dtype == "bfloat16" else "11 bits: it stands still at 2048"
        yield Report(
            site.node,
            f"{quote(site.node)} keeps a running sum in {total.dtype}, which has {digits} times what is added",
            "keep the sum in float32",
            max(Confidence.LIKELY, min(total.conf, Confidence.LIKELY)),
            because(model.hot(site.context)),
            _repairs.in_float32(model, _started(site, model)),
        )


def _over_many(site: sites.Accumulate, model: Model) -> bool:
    """Whether the sum outlives a loop over steps or elements in which it grows."""
    for link in site.context.in_function():
        if link.scope is Scope.LOOP:
            return rounds.iterates(link) in _MANY
    return site.target.startswith("self.") and model.hot(site.context) is not None


def _started(site: sites.Accumulate, model: Model) -> sites.Call | None:
    """The one call that made the sum's first value."""
    made = [call for node in site.before.origins if (call := model.call(node)) is not None]
    return made[0] if len(made) == 1 else None

"""TL209: Python's garbage collector runs on every step."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.rules._rates import may_be_hot
from torchlint.rules._repairs import statement_fix
from torchlint.rules._wording import because, often
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model


class GcInHotPath(Rule):
    code = "TL209"
    name = "gc-in-hot-path"
    bottleneck = "launch"
    summary = "`gc.collect()` runs on every step"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("gc.collect",)
    words = ("gc",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        hot = model.hot(site.context)
        if surroundings.in_test(site.context) or model.in_measurement(site.context) or (hot is not None and hot.phases):
            return
        if hot is None and not (site.context.enclosing_loops() and may_be_hot(site.context)):
            return
        confidence = Confidence.LIKELY if hot is not None else Confidence.POSSIBLE
        if hot is not None and hot.interface:
            confidence = Confidence.SURE
        rate = often(hot) if hot is not None else "in every round of the loop"
        yield Report(
            site.node,
            f"`gc.collect()` walks every Python object {rate}, and nothing is launched meanwhile",
            "leave it out, since reference counts free tensors at once, or collect every so many steps",
            confidence,
            because(hot),
            statement_fix("Remove the call", site, model),
        )

"""TL606: the allocator's cache emptied on every step."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.rules._metering import reads_figures
from torchlint.rules._repairs import statement_fix
from torchlint.rules._wording import because, often
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model


class EmptyCacheInHotPath(Rule):
    code = "TL606"
    name = "empty-cache-in-hot-path"
    bottleneck = "memory"
    summary = "The allocator's cache is emptied on every step"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("torch.cuda.empty_cache", "torch.cuda.memory.empty_cache")
    words = ("empty_cache",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        hot = model.hot(site.context)
        if hot is None or hot.phases or surroundings.on_host_alone(site.context) or surroundings.in_test(site.context):
            return
        if reads_figures(model, site.context):
            return
        yield Report(
            site.node,
            f"`empty_cache()` runs {often(hot)}: it waits for the device and gives back blocks that the next step must "
            "allocate again",
            "remove it, or call it between phases only",
            Confidence.SURE,
            because(hot),
            statement_fix("Remove the call", site, model),
        )

"""TL501: a loader makes its samples in the training process."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Impact
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.pipeline import _loaders as loaders
from torchlint.semantics.model import Model


class LoaderWithoutWorkers(Rule):
    code = "TL501"
    name = "loader-without-workers"
    bottleneck = "pipeline"
    summary = "A DataLoader whose dataset does work for each sample has no workers"
    words = loaders.WORDS

    def on_module(self, model: Model) -> Iterator[Report]:
        for site in loaders.loader_calls(model):
            known, workers = loaders.option(site, "num_workers")
            if not known or (workers is not None and workers.const != 0):
                continue
            work = loaders.works_per_sample(site, model)
            if work is None:
                continue
            confidence, whose = work
            yield Report(
                site.node,
                f"{quote(site.node.func)} has no workers: {whose} makes a batch while the device waits",
                "set `num_workers`, first to the number of cores for each device, and measure",
                confidence,
                Impact.HIGH,
            )

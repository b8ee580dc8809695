"""TL501: a loader makes its samples in the training process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence, Impact
from torchlint.rules._repairs import add_argument, repair
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.pipeline import _loaders as loaders
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import Effect, EffectKind
from torchlint.semantics.model import Model

_WORK: Final = frozenset({EffectKind.LAUNCH, EffectKind.FORWARD, EffectKind.BACKWARD, EffectKind.CALL})
_TRAINING: Final = frozenset({EffectKind.BACKWARD, EffectKind.CALL})


class LoaderWithoutWorkers(Rule):
    code = "TL501"
    name = "loader-without-workers"
    bottleneck = "pipeline"
    impact = Impact.HIGH
    summary = "A DataLoader whose dataset does work for each sample has no workers"
    fix_availability = FixAvailability.SOMETIMES
    words = loaders.WORDS

    def on_module(self, model: Model) -> Iterator[Report]:
        for site in loaders.loader_calls(model):
            known, workers = loaders.option(site, "num_workers", model)
            if not known or (workers is not None and workers.const != 0) or loaders.made_on_device(site):
                continue
            work = loaders.works_per_sample(site, model)
            if work is None:
                continue
            confidence, whose = work
            if _is_looked_at(site, model):
                confidence = Confidence.POSSIBLE
            yield Report(
                site.node,
                f"{quote(site.node.func)} has no workers: {whose} makes a batch while the device waits",
                "set `num_workers`, first to the number of cores for each device, and measure",
                confidence,
                fix=_with_workers(site),
            )


def _is_looked_at(site: sites.Call, model: Model) -> bool:
    """Whether all that is done with a loader is to print what it gives, or to run a model where no device is in sight.

    No device waits for that.
    """
    loops = [loop for loop in model.sites.loops if loop.iterable is not None and site.node in loop.iterable.origins]
    effects = [effect.kind for loop in loops for effect in _effects_in(loop.context)]
    others = model.uses.get(site.node, ())
    if not loops or len(others) > len(loops):
        return False
    if all(_takes_one(loop.node) for loop in loops):
        return True
    return not {*effects} & (_WORK if model.accelerated else _TRAINING)


def _takes_one(loop: cst.CSTNode) -> bool:
    """Whether a loop ends with its first round, in a `break`."""
    last = loop.body.body[-1] if isinstance(loop, cst.For) and loop.body.body else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Break)


def _effects_in(loop: Context) -> list[Effect]:
    facts = loop.loop
    inner = [effect for one in facts.inner for effect in _effects_in(one)] if facts is not None else []
    return [*facts.body_effects, *inner] if facts is not None else []


@repair
def _with_workers(site: sites.Call) -> NodeFix:
    """How it would be written; the number is for a person to choose."""
    message = "Set `num_workers`"
    named = site.argument(5, "num_workers")
    if named is not None:
        return NodeFix(Applicability.DISPLAY, message, (NodeEdit(named.node, "4"),))
    return NodeFix(Applicability.DISPLAY, message, (add_argument(site.node, "num_workers=4"),))

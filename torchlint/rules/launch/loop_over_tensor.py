"""TL201: a Python loop walks over a tensor and does independent work in each round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._bodies import body_of
from torchlint.rules._rates import may_be_hot
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _row_repairs
from torchlint.rules.launch._batching import batchable, launches
from torchlint.rules.launch._rounds import Rounds
from torchlint.rules.launch._short import is_short
from torchlint.rules.launch._uneven import are_uneven, may_be_uneven
from torchlint.rules.launch._walked import walks_slices
from torchlint.semantics import rounds, sites, surroundings
from torchlint.semantics.contexts import Iterates
from torchlint.semantics.model import Model
from torchlint.semantics.targets import bound_names

_FEW_PARTS: Final = 4  # names that a row is unpacked into: boxes, spans
_LARGE: Final = 64  # rounds that cost even where they do not run on every step
_NOT_ROUNDS: Final = frozenset({Iterates.EPOCHS, Iterates.PARAMETERS, Iterates.LAYERS, Iterates.GROUPS})


class LoopOverTensor(Rule):
    code = "TL201"
    name = "loop-over-tensor"
    bottleneck = "launch"
    summary = "A Python loop over rows, elements, classes or time steps of a tensor does independent work in each round"
    fix_availability = FixAvailability.SOMETIMES
    words = ("for",)

    def on_loop(self, site: sites.Loop, model: Model) -> Iterator[Report]:
        hot = model.hot(site.outer)
        if hot is None and not may_be_hot(site.outer):
            return
        confidence = self._assess(site, model)
        if confidence is None or self._inside_another(site, model):
            return
        if hot is None and not _is_large(site):
            confidence = Confidence.POSSIBLE
        yield Report(
            site.node,
            "each round of the loop over "
            f"{quote(site.iterable_node) if site.iterable_node is not None else 'a tensor'} "
            f"launches its own kernels for one slice {often(hot)}, although no round needs another",
            "say it over all slices at once: flatten, broadcast, a matrix product, `index_add_`, or `torch.vmap`",
            confidence,
            because(hot),
            _row_repairs.vectorised(model, site),
        )

    def _inside_another(self, site: sites.Loop, model: Model) -> bool:
        """Whether a loop around it is reported already: one finding a nest."""
        around = site.outer.enclosing_loops()
        return any(other.context in around and self._assess(other, model) is not None for other in model.sites.loops)

    def _assess(self, site: sites.Loop, model: Model) -> Confidence | None:
        """How sure it is that a batched operation does what the loop does; None where it does not."""
        if site.iterable is None or site.target is None or is_short(site.context, model):
            return None
        if (
            surroundings.in_test(site.context)
            or surroundings.in_worker(site.context)
            or rounds.iterates(site.context) in _NOT_ROUNDS
        ):
            return None
        body = body_of(site)
        targets = bound_names(site.target)
        walked = walks_slices(site, model, body, targets)
        if walked is None:
            return None
        names = Rounds(model, body, targets)
        if not names.independent:
            return None
        work = batchable(model, body)
        if work is None or not launches(model, body, names.varying):
            return None
        if are_uneven(model, body, names.varying) or _fills_few_names(site, model):
            return None
        if may_be_uneven(site, model, body, targets):
            work = min(work, Confidence.POSSIBLE)
        return min(walked, work)


def _fills_few_names(site: sites.Loop, model: Model) -> bool:
    """Whether what a comprehension makes is taken apart into a few names: `rows, columns = (f(x) for x in found)`."""
    around = model.parent(site.node)
    if not isinstance(around, cst.Assign):
        return False
    target = around.targets[0].target
    return (
        isinstance(target, (cst.Tuple, cst.List))
        and len(target.elements) <= _FEW_PARTS
        and not any(isinstance(element, cst.StarredElement) for element in target.elements)
    )


def _is_large(site: sites.Loop) -> bool:
    facts = site.context.loop
    assert facts is not None
    if facts.count is not None:
        return facts.count >= _LARGE
    return any(rounds.iterates(inner) is Iterates.ELEMENTS for inner in facts.inner)

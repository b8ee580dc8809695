"""TL102: Python asks a device tensor for its truth on the hot path."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._uses import decides_the_end
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind
from torchlint.source import written

_ADVICE = {
    "assert": "drop the assertion, or check behind a debugging flag",
    "while": "run a fixed number of rounds, or ask every so many rounds",
    "in": "compare on the device and keep the answer there",
}


class SyncBranch(Rule):
    code = "TL102"
    name = "sync-branch"
    bottleneck = "sync"
    summary = "Python asks a device tensor for its truth on the hot path"
    fix_availability = FixAvailability.SOMETIMES

    def on_truth(self, site: sites.Truth, model: Model) -> Iterator[Report]:
        if site.value.kind not in (Kind.TENSOR, Kind.BATCH):
            return
        wait = waits(model, site.value, site.context)
        if wait is None or decides_the_end(model, site.node, site.context):
            return
        yield Report(
            _condition(model, site.node),
            f"the host asks for the truth of {quote(site.node)} and waits for the device {wait.often}",
            _ADVICE.get(site.how, "choose on the device: `torch.where`, `clamp`, or a product with the mask"),
            wait.confidence,
            wait.related,
            _repairs.chosen_on_device(model, site),
        )


def _condition(model: Model, operand: cst.BaseExpression) -> cst.BaseExpression:
    """The whole condition that an operand is a part of; the operand alone where the condition spans several lines."""
    whole = operand
    around = model.parent(whole)
    while isinstance(around, cst.BooleanOperation) or (
        isinstance(around, cst.UnaryOperation) and isinstance(around.operator, cst.Not)
    ):
        whole = around
        around = model.parent(whole)
    return whole if "\n" not in written.code(whole) else operand

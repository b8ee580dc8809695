"""TL308: a binary cross entropy is fed by a sigmoid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.findings import Confidence
from torchlint.rules._patterns import CASTS, SHAPES, called, first_operand, reach
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.traffic import _softmax_repairs
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model

# What picks out probabilities or keeps them away from 0 and 1, and so can be done to the logits, or left out.
_AROUND: Final = CASTS | SHAPES | frozenset("index gather clamp masked_select index_select".split())


class SigmoidThenBce(Rule):
    code = "TL308"
    name = "sigmoid-then-bce"
    bottleneck = "traffic"
    summary = "`binary_cross_entropy` is fed by a sigmoid"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("torch.nn.functional.binary_cross_entropy", "torch.nn.BCELoss")
    words = ("binary_cross_entropy", "BCELoss")
    words_travel = True

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = called(site)
        probabilities = made.argument(0, "input") if made is not None else None
        if probabilities is None or surroundings.in_test(site.context):
            return
        found = reach(model, probabilities, lambda step: step.name == "sigmoid", first_operand(_AROUND))
        if found is None:
            return
        sigmoid = found.operations[0]
        yield Report(
            site.node,
            f"{quote(site.node)} takes logarithms of what {quote(sigmoid.node)} rounded to 0 or 1: large "
            "logits lose their gradient, and half precision its range",
            "give the logits to `binary_cross_entropy_with_logits`; that costs about the same time, what it "
            "saves is accuracy",
            Confidence.LIKELY if found.certain else Confidence.POSSIBLE,
            (("the sigmoid", sigmoid.node),),
            _softmax_repairs.with_logits(model, site),
        )

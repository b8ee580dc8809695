"""TL108: a device tensor stands where an operator wants a Python number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.sync import _measured as measured
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Kind

# Parameters that are a number, but neither a size nor a position.
_NUMBERS: Final = frozenset(
    """alpha beta end eps fill_value from high low max max_norm min negative_slope p start std threshold to
    value""".split()
)
# Here they are sizes and positions, and TL106's; or tensors, as the deviations of a distribution.
_OTHERS: Final = ("arange", "narrow", "torch.normal", "torch.histc", "torch.where")


class SyncScalarArgument(Rule):
    code = "TL108"
    name = "sync-scalar-argument"
    bottleneck = "sync"
    summary = "A device tensor stands where an operator wants a Python number"
    fix_availability = FixAvailability.SOMETIMES
    calls = tuple(name for name in measured.names(_NUMBERS) if not name.endswith(_OTHERS))

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        for argument in measured.numbers(site, _NUMBERS):
            if argument.value.kind is not Kind.TENSOR:
                continue
            wait = waits(model, argument.value, site.context)
            if wait is not None:
                number = _is_number_at_times(argument.node, site)
                yield Report(
                    site.node,
                    f"{quote(site.node)} needs {quote(argument.node)} as a number: the host waits {wait.often}",
                    "let the tensor take part: `a - b * t`, `torch.where(mask, t, x)`, `t.expand(size)`",
                    Confidence.POSSIBLE if number else wait.confidence,
                    wait.related,
                    _repairs.scaled_operand(model, site),
                )
                return


def _is_number_at_times(node: cst.BaseExpression, site: sites.Call) -> bool:
    """Whether it is an attribute that the class sets to numbers as well: where one is wanted, that is what it holds."""
    cls = site.context.owner.cls if site.context.owner is not None else None
    if cls is None or not isinstance(node, cst.Attribute) or dotted(node.value) != "self":
        return False
    return any(stored.kind is Kind.NUMBER for stored in cls.stores.get(node.attr.value, {}).values())

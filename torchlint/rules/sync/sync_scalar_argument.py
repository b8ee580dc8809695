"""TL108: a device tensor stands where an operator wants a Python number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.sync import _repairs
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_ALPHA: Final = """add add_ addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_ index_add index_add_
rsub sub sub_ subtract subtract_ _foreach_add _foreach_add_ _foreach_sub _foreach_sub_""".split()
_VALUE: Final = (
    "addcdiv addcdiv_ addcmul addcmul_ _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_".split()
)
# By function or method: the keywords, and the position among the function's arguments, of what must be a number.
_NUMBERS: Final[dict[str, tuple[tuple[str, ...], int | None]]] = {
    **dict.fromkeys(_ALPHA, (("alpha", "beta"), None)),
    **dict.fromkeys(_VALUE, (("value",), None)),
    "full": (("fill_value",), 1),
    "full_like": (("fill_value",), 1),
    "new_full": (("fill_value",), 2),
    "masked_fill": (("value",), 2),
    "masked_fill_": (("value",), 2),
}


class SyncScalarArgument(Rule):
    code = "TL108"
    name = "sync-scalar-argument"
    bottleneck = "sync"
    summary = "A device tensor stands where an operator wants a Python number"
    fix_availability = FixAvailability.SOMETIMES
    calls = (*(f"torch.{name}" for name in _NUMBERS), *(f".{name}" for name in _NUMBERS), "torch.nn.functional.pad")
    words = ("alpha", "beta", "value", "full", "full_like", "new_full", "masked_fill", "masked_fill_")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        callee = site.callee or ""
        bound = not callee.startswith("torch.") or callee.startswith("torch.Tensor.")
        if bound and (site.receiver is None or site.receiver.kind not in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN)):
            return
        name = site.method if bound else callee.rsplit(".", 1)[-1]
        keywords, position = _NUMBERS.get(name or "", (("value",), 3))  # else it is `pad`
        given = [site.argument(None, keyword) for keyword in keywords]
        given.append(site.argument(position - bound) if position is not None else None)
        for argument in given:
            if argument is None or argument.value.kind is not Kind.TENSOR:
                continue
            wait = waits(model, argument.value, site.context)
            if wait is not None:
                yield Report(
                    site.node,
                    f"{quote(site.node)} needs {quote(argument.node)} as a number: the host waits {wait.often}",
                    "let the tensor take part: `a - b * t`, `torch.where(mask, t, x)`, `t.expand(size)`",
                    wait.confidence,
                    wait.related,
                    _repairs.scaled_operand(model, site),
                )
                return

"""TL208: a tensor is made of a list of NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _repairs
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value


class TensorFromNdarrayList(Rule):
    code = "TL208"
    name = "tensor-from-ndarray-list"
    bottleneck = "launch"
    summary = "A tensor is made of a list of NumPy arrays, element by element"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("torch.tensor", "torch.as_tensor", "torch.Tensor", *known.TENSOR_CLASSES)
    words = ("numpy", "np")
    words_travel = True

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        data = site.argument(0, "data")
        if data is None or surroundings.in_test(site.context):
            return
        element = _arrays_in(data.value)
        if element is None or element.rank == 0:
            return
        hot = model.hot(site.context)
        yield Report(
            site.node,
            f"{quote(site.node)} walks the arrays in {quote(data.node)} element by element in Python",
            f"join them first: `torch.from_numpy(np.stack({quote(data.node)[1:-1]}))` copies whole blocks",
            min(element.conf, Confidence.LIKELY if data.value.conf is Confidence.SURE else data.value.conf),
            because(hot),
            _repairs.stacked_arrays(model, site, data),
        )


def _arrays_in(value: Value) -> Value | None:
    """The arrays that a list or tuple holds, and nothing else."""
    if value.kind is not Kind.CONTAINER or value.qual not in ("list", "tuple", "iterator"):
        return None
    held = [item for key, item in (value.items or {}).items() if isinstance(key, int)]
    if not held and value.elem is not None:
        held = [value.elem]
    return held[0] if held and all(item.kind is Kind.NDARRAY for item in held) else None

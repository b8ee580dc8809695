"""Code that is there to measure: it waits for the device, or empties a cache, so that its figures are right."""

from __future__ import annotations

from typing import Final

from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model

_FIGURES: Final = frozenset(
    f"torch.cuda.{name}"
    for name in """max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats
    reset_max_memory_allocated reset_peak_memory_stats""".split()
)


def reads_figures(model: Model, context: Context) -> bool:
    """Whether the function around reads what the allocator holds, or makes events that keep time, and trains nothing.

    A training that logs its peak beside other things waits for nothing but that log.
    """
    hot = model.hot(context)
    if hot is not None and hot.trains:
        return False
    for call in model.sites.calls:
        if call.context.owner is context.owner:
            timing = call.argument(None, "enable_timing") if call.callee == "torch.cuda.Event" else None
            if call.callee in _FIGURES or (timing is not None and timing.value.const is True):
                return True
    return False

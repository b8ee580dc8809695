"""What the repair of each rule was measured to gain, and what that makes of a finding's impact.

The levels are generated from the measured pairs of the rules' pages (`benchmarks/rule_costs/`); `level` says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from torchlint.findings import Impact
from torchlint.knowledge.costs_table import LEVELS

__all__ = ["level", "measured"]

# The lower end of the interval of the ratio of times, from which a repair is worth so much.
_HIGH: Final = 2.0
_MEDIUM: Final = 1.2
_NO_FASTER: Final = 1.03
_GAINS_NOTHING: Final = frozenset({"no measurable cost", "repair is slower"})


def measured(code: str) -> Impact | None:
    """What the pair of a rule's page costs on every step, at the size where it costs most; None where none ran."""
    name = LEVELS.get(code)
    return None if name is None else Impact[name]


def level(result: Mapping[str, Any]) -> Impact | None:
    """How much was measured to be gained; None where the measurement does not tell.

    Args:
        result: an entry of the evidence of --verify: its `verdict`, `ratio`, `before` and `after`.
    """
    verdict = result["verdict"]
    if verdict in _GAINS_NOTHING:
        return Impact.LOW
    if verdict != "confirmed":
        return None
    if _saves_memory(result.get("before") or {}, result.get("after") or {}):
        return Impact.HIGH
    gain = (result.get("ratio") or {}).get("low", 0.0)
    if gain >= _HIGH:
        return Impact.HIGH
    if gain >= _MEDIUM or gain <= _NO_FASTER:  # confirmed by memory, a wrong read or a wrong clock
        return Impact.MEDIUM
    return Impact.LOW


def _saves_memory(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether memory stops growing with the steps, or its peak is halved."""
    if (before.get("growth_bytes_per_step") or 0) > 2 * max(after.get("growth_bytes_per_step") or 0, 0) + 1024:
        return True
    peak, less = before.get("peak_bytes"), after.get("peak_bytes")
    return bool(peak) and less is not None and 2 * less <= peak

"""The impact of a finding: how often its line runs, times what was measured for its rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from torchlint.findings import Impact
from torchlint.knowledge import costs
from torchlint.rules.base import Report, Rule
from torchlint.semantics import hotness
from torchlint.semantics.contexts import Context, Iterates

# Grades above what the rule costs once per step.
_STEPS_ABOVE: Final = {
    Iterates.EPOCHS: -1,
    Iterates.GROUPS: 0,
    Iterates.STEPS: 0,
    Iterates.OTHER: 1,
    Iterates.LAYERS: 1,
    Iterates.PARAMETERS: 2,
    Iterates.ELEMENTS: 2,
}
_RARE: Final = -1  # nothing in sight runs it on every step


def graded(report: Report, rule: type[Rule], context: Context | None) -> Report:
    """The report with its impact; `context` is where its line runs, None where it stands for more than one place."""
    if report.impact is not None:
        return report
    once = costs.measured(rule.code)
    grade = rule.impact if once is None else once
    if context is not None:
        hot = hotness.hot(context)
        grade += _RARE if hot is None else _STEPS_ABOVE[hot.rate]  # type: ignore[assignment]
    return replace(report, impact=Impact(min(max(grade, Impact.LOW), Impact.HIGH)))

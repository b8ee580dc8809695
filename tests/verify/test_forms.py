"""Plans and results from elsewhere: what is wrong with them is told, with the place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.verify.experiments import experiment, plan
from torchlint.verify.forms import PLAN, RESULT, RESULTS, misfit, unknown

FIGURES = {"median_us": 10.0, "iqr_us": 1.0, "timeline": [["host", "aten::add", 0.0, 1.0]], "memory_curve": [1, 2]}
MEASURED = {
    "status": "measured", "ratio": {"median": 1.5, "low": 1.4, "high": 1.6}, "before": FIGURES, "after": FIGURES,
    "rounds": 5, "equal": None, "clock": {"before": 1.0, "after": 2.0, "apart": True},
}  # fmt: skip


def made() -> dict[str, Any]:
    finding = {
        **dict.fromkeys(("fingerprint", "name", "filename", "code_hash"), "x"), "code": "TL101", "row": 1, "column": 1,
        "ladder": ["one"], "tried": [{"rung": "in place", "reason": "refused"}], "reason": "",
    }  # fmt: skip
    return {**plan(experiment("def flagged(x):\n    return x\n")), "findings": [finding]}


def results() -> dict[str, Any]:
    environment = {"device": "cpu", "name": "a CPU", "torch": "2", "python": "3", "bandwidth": None}
    return {"environment": environment, "plan": made(), "results": {"one": json.loads(json.dumps(MEASURED))}}


def test_what_torchlint_writes_has_its_form() -> None:
    assert misfit(made(), PLAN) is None
    assert misfit(results(), RESULTS) is None
    assert misfit({"status": "not run", "reason": "time limit"}, RESULT) is None
    assert unknown(made()) is None


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("plan", [], "it.plan must be an object"),
        ("plan.limits.seconds", 0, "it.plan.limits.seconds must be a number above 0"),
        ("plan.limits.seconds", True, "it.plan.limits.seconds must be a number above 0"),
        ("plan.experiments", {}, "it.plan.experiments must be a list"),
        ("plan.experiments.0.rung", "higher", "it.plan.experiments[0].rung must be one of: extracted, in place"),
        ("plan.findings.0.ladder", ["one", 1], "it.plan.findings[0].ladder[1] must be text"),
        ("plan.findings.0.row", "1", "it.plan.findings[0].row must be a whole number"),
        ("plan.findings.0.row", 0, "it.plan.findings[0].row must be a whole number, 1 or more"),
        ("environment.date", float("nan"), "it.environment.date must be text"),
        ("results.one.ratio.low", 1.7, "it.results.one.ratio.low is above it.results.one.ratio.high"),
        ("results.one.before.kernels", 1.5, "it.results.one.before.kernels must be a whole number"),
        ("environment.device", "tpu", "it.environment.device must be one of: cpu, cuda"),
        ("results.one.ratio.low", float("nan"), "it.results.one.ratio.low must be a number above 0"),
        ("results.one.ratio.low", 10**400, "it.results.one.ratio.low must be a number above 0"),
        ("results.one.before.iqr_us", -1, "it.results.one.before.iqr_us must be a number, 0 or more"),
        ("results.one.before.timeline", [["host", "x"]], "it.results.one.before.timeline[0] must be a list of 4"),
        ("results.one.after.memory_curve", ["1"], "it.results.one.after.memory_curve[0] must be a number"),
        ("results.one.difference", "x" * 20_000, "it.results.one.difference must be text of at most 10000 characters"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(path: str, value: Any, said: str) -> None:
    data = results()
    *ways, last = path.split(".")
    place: Any = data
    for way in ways:
        place = place[int(way)] if way.isdigit() else place[way]
    place[last] = value
    assert (misfit(data, RESULTS) or "").startswith(said)


def test_a_missing_key_is_named() -> None:
    data = results()
    del data["plan"]["findings"][0]["filename"]
    assert misfit(data, RESULTS) == "it.plan.findings[0].filename is missing"


def test_ladders_name_experiments_that_are_there_once() -> None:
    data = made()
    data["findings"][0]["ladder"] = ["another\x1b[2J"]
    assert unknown(data) == "there is no experiment another [2J"
    data["experiments"] *= 2
    assert unknown(data) == "two experiments have the same id"

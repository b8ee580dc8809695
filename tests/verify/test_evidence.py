"""Verdicts, bottlenecks, and evidence as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from torchlint.engine.regions import code_hash
from torchlint.verify import display, evidence, report_html, supervise

SIDE = {
    "median_us": 100.0,
    "iqr_us": 2.0,
    "waits": 0,
    "wait_us": 0.0,
    "kernels": 3,
    "peak_bytes": 0,
    "growth_bytes_per_step": 0.0,
}


def result(low: float = 1.1, high: float = 1.2, **changes: Any) -> dict[str, Any]:
    before, after = {**SIDE, **changes.pop("before", {})}, {**SIDE, **changes.pop("after", {})}
    ratio = {"median": (low + high) / 2, "low": low, "high": high}
    return {
        "status": "measured",
        "ratio": ratio,
        "equal": True,
        "difference": "",
        "rounds": 5,
        "before": before,
        "after": after,
        **changes,
    }


MEGA = 1 << 20
LESS: dict[str, Any] = {"before": {"peak_bytes": 10 * MEGA}, "after": {"peak_bytes": 2 * MEGA}}
GROWS = {"growth_bytes_per_step": 512.0}
CASES = [
    ("TL301", result(1.05, 1.2), "confirmed", "time"),
    ("TL301", result(0.98, 1.02), "no measurable cost", "time"),
    ("TL301", result(0.97, 1.03), "no measurable cost", "time"),
    ("TL301", result(0.99, 1.05), "undecided", "the interval"),
    ("TL301", result(0.8, 0.96), "repair is slower", "time"),
    ("TL301", result(2.0, 3.0, equal=False, difference="by 3"), "results differ", "by 3"),
    ("TL301", result(2.0, 3.0, equal=None), "confirmed", "time"),
    ("TL302", result(0.98, 1.02, **LESS), "confirmed", "peak memory"),
    ("TL302", result(0.98, 1.02, before={"peak_bytes": 1000}, after={"peak_bytes": 10}), "no measurable cost", "time"),
    ("TL101", result(0.98, 1.02, **LESS), "no measurable cost", "time"),
    ("TL601", result(0.98, 1.02, before=GROWS), "confirmed", "memory grows"),
    ("TL601", result(0.98, 1.02, before=GROWS, equal=False), "results differ", ""),
    ("TL601", result(0.98, 1.02, before=GROWS, after=GROWS), "no measurable cost", "time"),
    ("TL505", result(0.5, 0.6, equal=False, wrong_reads={"before": 3, "after": 0}), "confirmed", "3 of 10 reads"),
    ("TL505", result(0.5, 0.6, wrong_reads={"before": 0, "after": 0}), "repair is slower", "time"),
    ("TL701", result(0.98, 1.02, equal=False, clock={"before": 1e-4, "after": 5e-3}), "confirmed", "the clock says"),
    ("TL701", result(0.98, 1.02, clock={"before": 1e-3, "after": 5e-3, "apart": False}), "no measurable cost", "time"),
    ("TL703", result(0.98, 1.02, clock={}, unready=4), "confirmed", "the code as written raises"),
    ("TL701", result(0.98, 1.02, equal=False, clock={"before": 4.8e-3, "after": 5e-3}), "no measurable cost", "time"),
    ("TL301", {"status": "not run", "reason": "time limit"}, "not run", "time limit"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "measured", "verdict", "because"), CASES)
def test_verdicts(code: str, measured: dict[str, Any], verdict: str, because: str) -> None:
    said, why = evidence.verdict(code, measured)
    assert said == verdict
    assert because in why


MACHINE = {"bandwidth": 4e12, "matmul_flops": {"float32": 5e13, "bfloat16": 8e14}, "launch_us": 5.0}


@pytest.mark.parametrize(
    ("figures", "stuck"),
    [
        ({"fetch_us": 80.0, "busy_us": 10.0}, "input"),
        ({"busy_us": 90.0, "bytes": 4e8, "flops": 1e6}, "memory"),
        ({"busy_us": 90.0, "bytes": 4e6, "flops": 4e9}, "compute"),
        ({"busy_us": 20.0, "waits": 5, "wait_us": 50.0, "kernels": 5}, "sync"),
        ({"busy_us": 20.0, "waits": 0, "kernels": 15}, "launch"),
        ({"busy_us": 20.0, "waits": 0, "kernels": 2}, "python"),
        ({"busy_us": None, "bytes": 2e8}, "memory"),
        ({"busy_us": None, "bytes": 10}, "python"),
        ({"median_us": None}, None),
    ],
)
def test_bottlenecks(figures: dict[str, Any], stuck: str | None) -> None:
    assert evidence.bottleneck({"median_us": 100.0, **figures}, MACHINE) == stuck


def answer(**environment: Any) -> dict[str, Any]:
    finding = {"fingerprint": "f1", "code": "TL601", "name": "retained-graph-sum", "filename": "a.py", "row": 3,
               "column": 1,
               "code_hash": "0", "ladder": ["one", "two"], "tried": [], "reason": ""}  # fmt: skip
    shown = [{"name": "x", "shown": "float32[4]", "origin": "hint in line 1"}]
    experiments = [
        {"id": "one", "rung": "in place", "rule": "TL601", "shown": [], "stand_ins": []},
        {"id": "two", "rung": "template", "rule": "TL601", "shown": shown, "stand_ins": ["model is a small network"]},
    ]
    results = {
        "one": {"status": "not run", "reason": "raised TypeError"},
        "two": result(
            before={
                "timeline": [["host", "aten::add", 1.0, 2.0], ["wait", "w", 3.0, 1.0]],
                "traced_us": 9.0,
                "memory_curve": [1, 2, 3],
            }
        ),
    }
    about = {
        "device": "cuda",
        "name": "NVIDIA H200",
        "torch": "2.11",
        "python": "3.12",
        "cuda": "13.0",
        "capability": "9.0",
        **environment,
    }
    plan = {"version": 1, "findings": [finding], "experiments": experiments}
    return {"version": 1, "environment": about, "plan": plan, "results": results}


def test_evidence_follows_its_schema_and_says_where_it_stands() -> None:
    made = evidence.build(answer())
    jsonschema.validate(made, evidence.schema())
    (entry,) = made["findings"]
    assert entry["rung"] == "template"
    assert entry["tried"] == [{"rung": "in place", "reason": "raised TypeError"}]
    assert entry["inputs"][0]["origin"] == "hint in line 1"
    assert "timeline" not in json.dumps(made)


def test_a_finding_that_was_not_measured_says_why() -> None:
    given = answer()
    given["results"]["two"] = {"status": "not run", "reason": "time limit"}
    made = evidence.build(given)
    jsonschema.validate(made, evidence.schema())
    assert made["findings"][0]["verdict"] == "not run: time limit"
    assert "ratio" not in made["findings"][0]


def test_the_schema_refuses_what_is_no_verdict() -> None:
    made = evidence.build(answer())
    made["findings"][0]["verdict"] = "probably"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(made, evidence.schema())


def test_runs_of_one_plan_are_joined_and_measured_results_win() -> None:
    one, other = answer(), answer()
    one["results"] = {"two": {"status": "not run", "reason": "the time budget was used up"}}
    joined = evidence.join([one, other], ["a", "b"])
    assert joined["results"]["two"]["status"] == "measured"
    assert len(evidence.build(joined)["findings"]) == 1


def test_runs_of_two_plans_of_one_finding_are_joined_the_higher_rung_first() -> None:
    one, other = answer(), answer()
    (finding,) = other["plan"]["findings"]
    experiment = next(e for e in other["plan"]["experiments"] if e["id"] == "two")
    other["plan"]["experiments"] = [{**experiment, "id": "three", "rung": "extracted"}]
    other["plan"]["findings"] = [{**finding, "ladder": ["three"]}]
    other["results"] = {"three": other["results"]["two"]}
    joined = evidence.join([one, other], ["a", "b"])
    assert joined["plan"]["findings"][0]["ladder"] == ["one", "three", "two"]
    assert evidence.build(joined)["findings"][0]["rung"] == "extracted"


def test_results_of_different_machines_are_not_mixed() -> None:
    with pytest.raises(
        evidence.EvidenceError, match=r"b.json: measured on another kind of machine than a.json \(name is"
    ):
        evidence.join([answer(), answer(name="NVIDIA A100")], ["a.json", "b.json"])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', "{" * 100_000])
def test_what_is_no_evidence_is_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "e.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(evidence.EvidenceError, match=r"e\.json: ") as raised:
        evidence.load(file, "findings")
    assert "\n" not in str(raised.value)


def test_gates() -> None:
    made = evidence.build(answer())
    assert len(list(evidence.confirmed(made))) == 1
    assert len(list(evidence.confirmed(made, least=1.05))) == 1
    assert len(list(evidence.confirmed(made, least=1.5))) == 0


def test_a_terminal_obeys_nothing_that_results_say(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;title\x07\u202e"
    given = answer(name=evil, torch=evil, cuda=evil)
    given["plan"]["findings"][0].update(filename=evil, code=evil)
    display.table(evidence.build(given))
    supervise._Lines().finished({"id": "one", "label": evil}, {"status": "not run", "reason": evil})
    said = capsys.readouterr().out
    assert "title" in said
    assert not {"\x1b", "\x07", "\u202e"}.intersection(said)


class TestReport:
    def test_it_is_one_file_that_loads_nothing(self) -> None:
        given = answer()
        page = report_html.render(evidence.build(given), given)
        for reference in ("http:", "https:", "src=", "@import", "url(", "<script"):
            assert reference not in page

    def test_it_shows_what_was_measured_and_answers_the_five_questions(self) -> None:
        given = answer()
        page = report_html.render(evidence.build(given), given)
        for text in ("a.py:3", "confirmed", "×1.15 [1.1, 1.2]", "NVIDIA H200", "float32[4]", "model is a small network",
                     "aten::add", "raised TypeError"):  # fmt: skip
            assert text in page
        assert page.count("<dt>") == 5
        assert page.count("<polyline") == 1

    def test_what_a_repair_saves_comes_before_what_it_adds_and_small_unrest_is_no_start_up_cost(self) -> None:
        given = answer()
        (result,) = (one for one in given["results"].values() if one["status"] == "measured")
        result["before"].update(kernels=10, operators=4, median_us=5e4, first_us=5.1e4)
        result["after"].update(kernels=2, operators=9, median_us=5e4, first_us=5.5e4)
        page = report_html.render(evidence.build(given), given)
        assert "launches (10 → 2); more operators (4 → 9)" in page
        assert "No: the first call took 51 ms before and 55 ms after" in page

    def test_a_call_too_long_to_trace_has_no_picture_and_says_why(self) -> None:
        given = answer()
        (result,) = (one for one in given["results"].values() if one["status"] == "measured")
        result["after"].pop("timeline", None)
        page = report_html.render(evidence.build(given), given)
        assert "after, too long a call to trace" in page
        assert page.count("Timeline before") == 1
        assert "Timeline after" not in page

    def test_names_from_the_code_are_text(self) -> None:
        given = answer()
        given["plan"]["findings"][0]["filename"] = "<img src=x onerror=alert(1)>.py"
        page = report_html.render(evidence.build(given), given)
        assert "<img" not in page

    def test_no_findings_make_a_page_as_well(self) -> None:
        given = answer()
        given["plan"]["findings"] = []
        assert "No findings." in report_html.render(evidence.build(given), given)


class TestCodeHash:
    TEXT = "import torch\n\n\ndef f(x):\n    # why\n    return x.item()\n\n\ndef g(x):\n    return x\n"

    def of(self, text: str, piece: str = "x.item()") -> str:
        return code_hash(text.split("\n"), text[: text.index(piece)].count("\n") + 1)

    def test_comments_layout_and_place_do_not_change_it(self) -> None:
        moved = "import torch\nimport math\n\n\n\ndef f(x):\n    return (x\n            .item())\n"
        assert self.of(self.TEXT) == self.of(moved, "return (x")

    def test_other_definitions_do_not_change_it(self) -> None:
        assert self.of(self.TEXT) == self.of(self.TEXT.replace("return x\n", "return x + 1\n"))

    def test_a_change_of_the_code_does(self) -> None:
        assert self.of(self.TEXT) != self.of(self.TEXT.replace("x.item()", "x.item() + 1"), "x.item()")

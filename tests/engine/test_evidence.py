"""Evidence read back and laid beside findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from torchlint.engine.evidence import EvidenceError, attach, gain_of, load, verdict_of
from torchlint.engine.regions import code_hash
from torchlint.findings import Confidence, Finding, Impact, Position

HEAD = '{"version": 1, "environment": {"name": "H200", "torch": "2.11"}, "findings": '
RATIO = {"median": 1.3, "low": 1.2, "high": 1.4}


def finding(fingerprint: str) -> Finding:
    place = (Position(1, 1), Position(1, 2))
    return Finding("TL101", "n", "m", "a.py", *place, "sync", Confidence.SURE, Impact.LOW, fingerprint)


def write(folder: Path, *entries: Any) -> Path:
    path = folder / "evidence.json"
    path.write_text(
        json.dumps(
            {
                "version": 1,
                "environment": {"name": "H200", "torch": "2.11", "device": "cuda"},
                "method": {},
                "findings": [{"code_hash": code_hash(source("", None), 1), **entry} for entry in entries],
            }
        )
    )
    return path


def source(_filename: str, _cell: int | None) -> list[str]:
    return ["x = loss.item()"]


def test_each_finding_gets_what_was_measured_of_it(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"fingerprint": "one", "verdict": "confirmed", "ratio": RATIO},
        {"fingerprint": "two", "verdict": "not run: no repair", "ratio": None},
    )
    one, two, three = attach([finding("one"), finding("two"), finding("three")], load(path), source)
    assert [verdict_of(one), verdict_of(two), verdict_of(three)] == ["confirmed", "not run: no repair", None]
    assert one.evidence is not None
    assert one.evidence["environment"] == {"name": "H200", "torch": "2.11"}
    # What is gained at least is the lower end of the interval, and nothing where nothing was measured.
    assert [gain_of(one), gain_of(two), gain_of(three)] == [1.2, 0.0, 0.0]


def test_evidence_of_code_that_has_changed_keeps_no_figures(tmp_path: Path) -> None:
    entry = {
        "fingerprint": "one",
        "verdict": "confirmed",
        "ratio": RATIO,
        "code_hash": code_hash(["x=loss.item() "], 1),
    }
    path = write(tmp_path, entry)
    # Layout does not count as a change.
    (same,) = attach([finding("one")], load(path), source)
    assert verdict_of(same) == "confirmed"
    (changed,) = attach([finding("one")], load(path), lambda _filename, _cell: ["y = loss.item()"])
    assert verdict_of(changed) == "stale: the code has changed since it was measured"
    assert gain_of(changed) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"findings": {}}x',
        '{"findings": []}',
        '{"version": 1, "environment": {"name": "H200"}, "findings": []}',
        HEAD.replace('"version": 1', '"version": 2') + "[]}",
        HEAD + "{}}",
        HEAD + "[{}]}",
        HEAD + '[{"fingerprint": "a", "code_hash": "b"}]}',
        HEAD + '[{"fingerprint": "a", "code_hash": "b", "verdict": 1}]}',
        HEAD + '[{"fingerprint": "a", "verdict": "confirmed"}]}',
        *(
            HEAD + '[{"fingerprint": "a", "code_hash": "b", "verdict": "confirmed", ' + rest + "}]}"
            for rest in (
                '"ratio": {"median": 1}',
                '"ratio": {"median": "1", "low": 1, "high": 1}',
                '"ratio": {"median": 1, "low": NaN, "high": 1}',
                '"ratio": {"median": 1, "low": 1, "high": 1' + "0" * 400 + "}",
                '"ratio": {"median": 1, "low": 2, "high": 1}',
                '"before": 5',
                '"after": {"peak_bytes": "1"}',
                '"x": ' + "[" * 100 + "]" * 100,
            )
        ),
        HEAD + "[1]}",
    ],
)
def test_what_is_no_evidence_is_said_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    path.write_text(text)
    with pytest.raises(EvidenceError, match=r"evidence\.json: is no evidence of torchlint: ") as failure:
        load(path)
    assert "\n" not in str(failure.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="cannot be read: No such file"):
        load(tmp_path / "gone.json")


def test_what_was_measured_of_the_code_itself_grades_the_finding(tmp_path: Path) -> None:
    entries = [
        {
            "fingerprint": "fast",
            "verdict": "confirmed",
            "rung": "in place",
            "ratio": {**RATIO, "low": 2.5, "high": 2.6},
        },
        {"fingerprint": "none", "verdict": "no measurable cost", "rung": "in place", "ratio": {**RATIO, "low": 0.99}},
        {
            "fingerprint": "else",
            "verdict": "confirmed",
            "rung": "template",
            "ratio": {**RATIO, "low": 2.5, "high": 2.6},
        },
    ]
    found = attach([finding(entry["fingerprint"]) for entry in entries], load(write(tmp_path, *entries)), source)
    assert [each.impact for each in found] == [Impact.HIGH, Impact.LOW, Impact.LOW]

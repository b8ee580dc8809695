"""Every format: what it looks like, and that nothing of a linted file gets through to forge it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.findings import Finding, Position
from torchlint.report import statistics, summary
from torchlint.report.formats import FORMATS
from torchlint.report.outcome import Outcome
from torchlint.report.text import Style, width
from torchlint.rules import pages


def text_of(name: str, outcome: Outcome) -> str:
    return "".join(FORMATS[name].render(outcome))


@pytest.mark.parametrize("name", FORMATS)
def test_looks_as_it_was_agreed(name: str, outcome: Outcome, same_as_kept: Callable[[str, str], None]) -> None:
    text = text_of(name, outcome).replace(pages.file("TL101").parent.as_uri(), "file:///PAGES")
    text = text.replace(Path.cwd().as_uri(), "file:///CWD")
    same_as_kept(f"{name}.txt", _without_pages(text) if name == "sarif" else text)


def _without_pages(text: str) -> str:
    """SARIF less what the rules' pages and the version say, which change for reasons of their own."""
    log = json.loads(text)
    driver = log["runs"][0]["tool"]["driver"]
    driver["semanticVersion"] = "VERSION"
    for rule in driver["rules"]:
        assert rule["help"]["text"]
        assert rule["shortDescription"]["text"]
        for key in ("help", "fullDescription", "shortDescription"):
            del rule[key]
    return json.dumps(log, indent=2) + "\n"


@pytest.mark.parametrize("name", FORMATS)
def test_lets_no_control_character_through(name: str, outcome: Outcome) -> None:
    text = text_of(name, outcome)
    forbidden = {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}
    assert not forbidden
    assert text.encode("utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_is_well_formed_without_findings(name: str) -> None:
    text = text_of(name, Outcome(findings=()))
    assert text == "" or text.endswith("\n")
    if name in ("json", "gitlab", "lsp"):
        assert json.loads(text) == []


@pytest.mark.parametrize("name", FORMATS)
def test_needs_no_source(name: str, outcome: Outcome) -> None:
    """The file may be gone by the time its findings are shown."""
    text = text_of(name, replace(outcome, source=lambda _filename, _cell: ()))
    assert "TL101" in text


@pytest.mark.parametrize("columns", [20, 33, 80])
def test_full_fits_a_narrow_terminal(columns: int, outcome: Outcome) -> None:
    frames = [
        line
        for line in text_of("full", replace(outcome, style=Style(columns=columns))).splitlines()
        if " | " in line[:6] and line[:1] != "s"
    ]
    assert frames
    assert max(map(width, frames)) <= columns
    # What is found stays in view: a caret stands under each finding.
    assert sum("^" in frame for frame in frames) >= 4


def test_full_shows_a_line_of_a_megabyte_only_around_the_finding(make_finding: Callable[..., Finding]) -> None:
    line = "x = [" + "1, " * 300_000 + "loss.item()" + ", 1" * 300_000 + "]"
    start = line.index("loss")
    found = make_finding(start=Position(1, start + 1), end=Position(1, start + 12), related=())
    text = text_of("full", Outcome(findings=[found], source=lambda _filename, _cell: [line]))
    assert len(text) < 2000
    shown, carets = (row.split("| ", 1)[1] for row in text.split("\n")[2:4])
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "loss.item()"


def test_full_marks_the_text_that_is_found_behind_wide_characters(outcome: Outcome) -> None:
    lines = text_of("full", outcome).split("\n")
    at = next(number for number, line in enumerate(lines) if "漢字" in line)
    before, _, _ = lines[at].rpartition("loss.item()")
    assert lines[at + 1].index("^") == width(before)
    assert lines[at + 1].count("^") == len("loss.item()")


def test_full_colours_nothing_that_comes_from_the_file(outcome: Outcome) -> None:
    plain = text_of("full", outcome)
    colored = text_of("full", replace(outcome, style=Style(color=True)))
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    assert colored != plain


def test_a_fix_is_offered_as_what_it_is(outcome: Outcome) -> None:
    concise = text_of("concise", outcome).split("\n")
    assert [("[*]" in line) for line in concise[:4]] == [False, True, False, False]
    concise = text_of("concise", replace(outcome, unsafe_fixes=True)).split("\n")
    assert [("[*]" in line) for line in concise[:4]] == [False, True, True, False]


def test_statistics(outcome: Outcome) -> None:
    assert "".join(statistics.render(outcome)) == (
        "2  TL101  [ ] sync-scalar-read\n1  TL104  [*] sync-format\n1  TL205  [ ] optimizer-single-tensor\n"
    )
    assert [row["count"] for row in json.loads("".join(statistics.render_json(outcome)))] == [2, 1, 1]


def test_summary(outcome: Outcome) -> None:
    assert "".join(summary.render(outcome)) == (
        "Found 4 findings in 3 files (1 suppressed).\n[*] 1 fixable with --fix (1 more with --unsafe-fixes).\n"
    )
    assert "2 fixable with --fix.\n" in "".join(summary.render(replace(outcome, unsafe_fixes=True)))
    assert "".join(summary.render(Outcome(findings=(), files=2))) == "All checks passed in 2 files.\n"
    assert "".join(summary.render(Outcome(findings=(), files=0))) == "No files to check.\n"


def test_json_has_the_agreed_keys(outcome: Outcome) -> None:
    first, second, *_ = json.loads(text_of("json", outcome))
    assert first["location"] == {"row": 9, "column": 25}
    assert first["end_location"] == {"row": 9, "column": 36}
    assert first["cell"] is None
    assert first["fix"] is None
    assert first["related"] == [
        {
            "message": "the loop over `loader` runs `loss.backward()`",
            "filename": "src/train.py",
            "location": {"row": 6, "column": 2},
        }
    ]
    assert second["fix"]["applicability"] == "safe"
    # What an edit writes is data, exact to the last character.
    assert second["fix"]["edits"][0]["content"] == "loss\u202e.detach()"
    agreed = {"code", "name", "message", "filename", "bottleneck", "confidence", "impact", "url", "fingerprint"}
    assert agreed < set(first)


def test_json_lines_are_the_objects_of_json(outcome: Outcome) -> None:
    lines = text_of("json-lines", outcome).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(text_of("json", outcome))


def test_json_has_no_numbers_that_json_lacks(make_finding: Callable[..., Finding]) -> None:
    odd = make_finding(evidence={"verdict": "undecided", "ratio": float("nan"), "high": float("inf")})
    (data,) = json.loads(text_of("json", Outcome(findings=[odd])), parse_constant=pytest.fail)
    assert data["evidence"] == {"verdict": "undecided", "ratio": None, "high": None}

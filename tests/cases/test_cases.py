"""Small programs as people write them, each with the lines that must be reported, and nothing else by default.

A line that ends in `# TL101` must be reported at `likely` or better; `# TL101?` asks for a report of any confidence;
`# no TL101` says of a rule outside the default set that it must stay silent there. What rules of the default set report
at `likely` or better anywhere else is false.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchlint.findings import Confidence
from torchlint.rules.base import RuleSet
from torchlint.rules.registry import all_rules, run
from torchlint.semantics.build import build_model
from torchlint.source.parse import parse
from torchlint.source.text import SourceFile

CASES = sorted(path for path in Path(__file__).parent.glob("*.py") if path != Path(__file__))

_MARK = re.compile(r"#\s*(?P<marks>(?:no )?TL\d{3}\??(?:,\s*(?:no )?TL\d{3}\??)*)\s*$")


def marks(source: str) -> set[tuple[int, str]]:
    """The rows, from 1, and marks of a case."""
    found = enumerate((_MARK.search(line) for line in source.splitlines()), start=1)
    return {(row, text) for row, mark in found if mark for text in re.split(r",\s*", mark["marks"])}


def mistakes(source: str) -> list[str]:
    """What is missed and what is false in a case, in words."""
    tree = parse(SourceFile.from_text(source, "<case>"))
    weak: set[tuple[int, str]] = set()
    strong: set[tuple[int, str]] = set()
    shown: dict[tuple[int, str], str] = {}
    found = run(build_model(tree.module), all_rules())
    spans = tree.locate(report.node for _, report in found)
    for rule, report in found:
        at = (spans[report.node][0].row, rule.code)
        (strong if report.confidence > Confidence.POSSIBLE else weak).add(at)
        if report.confidence > Confidence.POSSIBLE and rule.ruleset is RuleSet.DEFAULT:
            shown[at] = report.message
    wanted = marks(source)
    missed = [f"{row}: missed {text}" for row, text in wanted if not text.startswith("no ")
              and (row, text.rstrip("?")) not in (strong | weak if text.endswith("?") else strong)]  # fmt: skip
    false = [f"{row}: false {code}: {message}" for (row, code), message in shown.items()
             if not {(row, code), (row, f"{code}?")} & wanted]  # fmt: skip
    barred = [
        f"{row}: false {text[3:]}" for row, text in wanted if text.startswith("no ") and (row, text[3:]) in strong
    ]
    return sorted(missed + false + barred)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_exactly_what_is_marked_is_reported(case: Path) -> None:
    assert mistakes(case.read_text(encoding="utf-8")) == []

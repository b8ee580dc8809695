"""Checking what one rule finds in a piece of source."""

from __future__ import annotations

import re
import textwrap

from torchlint.engine.screening import candidates
from torchlint.findings import Confidence
from torchlint.rules.base import Report
from torchlint.rules.registry import all_rules, run
from torchlint.semantics.build import build_model
from torchlint.source.parse import parse
from torchlint.source.text import SourceFile

_MARK = re.compile(r"#\s*(?P<codes>TL\d{3}(?:,\s*TL\d{3})*)\s*$")


def reports(source: str, code: str) -> list[tuple[int, Report]]:
    """What the rule reports, by row, in the order of rows."""
    tree = parse(SourceFile.from_text(textwrap.dedent(source), "<source>"))
    rules = [rule for rule in all_rules() if rule.code == code]
    assert rules, f"no rule {code}"
    found = [report for _, report in run(build_model(tree.module), rules)]
    assert not found or candidates(tree.source.text, rules, linked=True), "its words would keep it from being asked"
    assert not any(report.advice[:1].isupper() or report.advice.endswith(".") for report in found), "no clause"
    spans = tree.locate(report.node for report in found)
    return sorted(((spans[report.node][0].row, report) for report in found), key=lambda pair: pair[0])


def check(source: str, code: str, *, possible: bool = False) -> None:
    """Assert that the rule fires on exactly the lines whose comment names it, as `# TL101`.

    Reports that are only `possible` do not count; with `possible` they are what is asked for, and all others are wrong.
    """
    lines = textwrap.dedent(source).splitlines()
    marks = ((row, _MARK.search(line)) for row, line in enumerate(lines, start=1))
    wanted = {row for row, mark in marks if mark is not None and code in re.split(r",\s*", mark["codes"])}
    found = reports(source, code)
    if possible:
        assert all(report.confidence is Confidence.POSSIBLE for _, report in found)
    got = {row for row, report in found if possible or report.confidence > Confidence.POSSIBLE}
    assert got == wanted, f"{code}: extra {sorted(got - wanted)}, missing {sorted(wanted - got)}"

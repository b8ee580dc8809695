"""A JUnit report: one suite a file, one failed case a finding."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from torchlint.findings import Finding
from torchlint.report.outcome import Outcome, place
from torchlint.report.text import visible

__all__ = ["render"]


def render(outcome: Outcome) -> Iterator[str]:
    """One XML document. A run without findings is one passed case, since an empty report reads as a broken one."""
    total = len(outcome.findings)
    root = ET.Element("testsuites", name="torchlint", tests=str(max(total, 1)), failures=str(total), errors="0")
    for filename, group in itertools.groupby(outcome.findings, key=lambda finding: finding.filename):
        findings = list(group)
        suite = _suite(root, visible(filename), findings)
        for finding in findings:
            _case(suite, finding)
    if not total:
        suite = _suite(root, "torchlint", [])
        ET.SubElement(suite, "testcase", name="no findings", classname="torchlint")
    ET.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, name: str, findings: list[Finding]) -> ET.Element:
    count = str(len(findings))
    return ET.SubElement(
        root, "testsuite", name=name, package="torchlint", tests=count if findings else "1", failures=count, errors="0"
    )


def _case(suite: ET.Element, finding: Finding) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        name=f"{finding.code} ({finding.name})",
        classname=visible(finding.filename),
        file=visible(finding.filename),
        line=str(finding.start.row),
        column=str(finding.start.column),
    )
    failure = ET.SubElement(case, "failure", message=visible(finding.message), type=finding.code)
    failure.text = visible(f"{place(finding)}: {finding.message}")

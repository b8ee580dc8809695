"""SARIF 2.1.0, as code scanning services read it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from torchlint import __version__
from torchlint.engine.selection import rules_by_code
from torchlint.findings import Applicability, Confidence, Finding, Fix, Position
from torchlint.report.json import dumps
from torchlint.report.outcome import Outcome, occurrences, severity, uri
from torchlint.report.text import shown, visible
from torchlint.rules import pages

__all__ = ["render"]

_RANKS = {Confidence.SURE: 90.0, Confidence.LIKELY: 60.0, Confidence.POSSIBLE: 30.0}


def render(outcome: Outcome) -> Iterator[str]:
    """One log with one run."""
    first = {finding.code: finding for finding in reversed(outcome.findings)}
    codes = sorted(first)
    index = {code: number for number, code in enumerate(codes)}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "torchlint",
                        "semanticVersion": __version__,
                        "rules": [_rule(first[code]) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(*item, index, outcome) for item in occurrences(outcome.findings)],
            }
        ],
    }
    yield dumps(log, indent=2) + "\n"


def _rule(finding: Finding) -> dict[str, Any]:
    """The reportingDescriptor of the finding's rule; its help is the rule's page."""
    info = rules_by_code().get(finding.code)
    summary = finding.name if info is None else info.summary
    text = markdown = summary
    if finding.code in pages.codes():
        page = pages.load(finding.code)
        text, markdown = page.sections.get("What it does", page.summary), page.text
    return {
        "id": finding.code,
        "name": "".join(word.capitalize() for word in finding.name.split("-")),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": text},
        "help": {"text": text, "markdown": markdown},
        "defaultConfiguration": {"level": "warning"},
        "properties": {
            "tags": ["performance", "pytorch", finding.bottleneck],
            # Rules of the default set have shown on real code that they are right nine times in ten.
            "precision": "high" if info is not None and info.default else "medium",
        },
    }


def _result(finding: Finding, fingerprint: str, index: dict[str, int], outcome: Outcome) -> dict[str, Any]:
    here = _location(finding.filename, finding.cell, finding.start, finding.end, outcome)
    if finding.cell_id:
        here["logicalLocations"][0]["properties"] = {"id": finding.cell_id}
    message = finding.message if finding.cell is None else f"cell {finding.cell}: {finding.message}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": severity(finding).value,
        "rank": _RANKS[finding.confidence],
        "message": {"text": visible(message)},
        "locations": [here],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint, "torchlint/v1": fingerprint},
        "properties": {
            "confidence": str(finding.confidence),
            "impact": str(finding.impact),
            "advice": visible(finding.advice),
        },
    }
    if finding.related:
        related = [
            _location(place.filename, place.cell, place.start, None, outcome)
            | {"message": {"text": visible(place.message)}}
            for place in finding.related
        ]
        result["relatedLocations"] = [location | {"id": number} for number, location in enumerate(related)]
        # The way that leads to the cost, the finding last.
        steps = [*related, here | {"message": {"text": visible(finding.message)}}]
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": step} for step in steps]}]}]
    if finding.fix is not None and finding.fix.edits and finding.cell is None:
        result["fixes"] = [_fix(finding.filename, finding.fix)]
    if finding.evidence is not None:
        result["properties"]["evidence"] = finding.evidence
    return result


def _location(
    filename: str, cell: int | None, start: Position, end: Position | None, outcome: Outcome
) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(filename)}}
    if cell is not None:  # rows of a cell are no rows of the notebook's file
        location["physicalLocation"]["region"] = {"startLine": 1}
        location["logicalLocations"] = [{"name": f"cell {cell}", "fullyQualifiedName": f"cell {cell}:{start.row}"}]
        return location
    region = {"startLine": start.row, "startColumn": start.column}
    if end is not None:
        region |= {"endLine": end.row, "endColumn": end.column}
    location["physicalLocation"]["region"] = region
    lines = outcome.source(filename, cell)
    last = start.row if end is None else end.row
    # A row more on both sides: the context must be larger than what it is the context of.
    above, below = max(start.row - 1, 1), min(last + 1, len(lines))
    if last <= len(lines) and (above < start.row or last < below):
        location["physicalLocation"]["contextRegion"] = {
            "startLine": above,
            "endLine": below,
            "snippet": {"text": "\n".join(shown(line) for line in lines[above - 1 : below])[:2000]},
        }
    return location


def _artifact(filename: str) -> dict[str, str]:
    if os.path.isabs(filename):
        return {"uri": uri(filename)}
    return {"uri": uri(filename), "uriBaseId": "%SRCROOT%"}


def _fix(filename: str, fix: Fix) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.start.row,
                "startColumn": edit.start.column,
                "endLine": edit.end.row,
                "endColumn": edit.end.column,
            },
            "insertedContent": {"text": edit.content},
        }
        for edit in fix.edits
    ]
    label = "" if fix.applicability is Applicability.SAFE else f" ({fix.applicability})"
    return {
        "description": {"text": visible(fix.message) + label},
        "artifactChanges": [{"artifactLocation": _artifact(filename), "replacements": replacements}],
    }

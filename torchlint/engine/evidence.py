"""What --verify measured, read back and laid beside the findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchlint.engine.errors import UserError, short
from torchlint.engine.regions import code_hash
from torchlint.findings import Finding
from torchlint.knowledge.costs import level
from torchlint.source.files import read_regular

__all__ = ["VERSION", "EvidenceError", "attach", "is_flat", "load", "verdict_of"]

VERSION = 1  # of the format
Evidence = Mapping[str, Mapping[str, Any]]  # by fingerprint
Source = Callable[[str, "int | None"], Sequence[str]]
_MOST = 1e300  # of a figure; above it, arithmetic may not end in a number
_DEPTH = 50  # of lists and objects; what is nested deeper could be read and not written again
_MEMORY = ("growth_bytes_per_step", "peak_bytes")  # figures of a variant by which findings are graded


class EvidenceError(UserError):
    """Evidence that cannot be used."""


def load(path: Path) -> Evidence:
    """The evidence in the file `path`, by the fingerprint of the finding.

    Raises EvidenceError where it cannot be read or is something else.
    """
    try:
        data = json.loads(read_regular(path))
        if data["version"] != VERSION:
            raise ValueError(f"this torchlint reads version {VERSION} of it")
        if not isinstance(data["findings"], list):
            raise ValueError("findings must be a list")
        # A figure is never shown without the machine it was measured on.
        machine = {key: str(data["environment"][key]) for key in ("name", "torch")}
        entries = {str(entry["fingerprint"]): {**entry, "environment": machine} for entry in data["findings"]}
        for entry in entries.values():
            _check(entry)
    except OSError as error:
        raise EvidenceError(f"{short(path)}: cannot be read: {error.strerror or error}") from error
    except KeyError as error:
        raise EvidenceError(f"{short(path)}: is no evidence of torchlint: {error} is missing") from error
    except (TypeError, AttributeError) as error:
        raise EvidenceError(f"{short(path)}: is no evidence of torchlint: it has another form") from error
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"{short(path)}: is no evidence of torchlint: {error}") from error
    return entries


def _check(entry: Mapping[str, Any]) -> None:
    """Raise ValueError or KeyError unless what reports and gates read is there and well typed."""
    if not isinstance(entry["verdict"], str):
        raise ValueError("a verdict must be text")
    if not isinstance(entry["code_hash"], str):
        raise ValueError("code_hash must be text")
    for key in ("before", "after", "bottleneck"):
        if not isinstance(entry.get(key), (dict, type(None))):
            raise ValueError(f"{key} must be an object")
    for side in ("before", "after"):
        figures = entry.get(side) or {}
        for key in _MEMORY:
            if figures.get(key) is not None:
                _number(figures[key], f"{side}.{key}")
    ratio = entry.get("ratio")
    if ratio is not None:
        for key in ("median", "low", "high"):
            _number(ratio[key], f"ratio.{key}")
        if ratio["low"] > ratio["high"]:
            raise ValueError("ratio.low is above ratio.high")
    if not is_flat(entry):
        raise ValueError("it is nested too deeply")


def _number(value: Any, name: str) -> None:
    """Raise ValueError unless a value is a number that can be shown and compared."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -_MOST < value < _MOST:
        raise ValueError(f"{name} must be a number")


def is_flat(value: Any, depth: int = _DEPTH) -> bool:
    """Whether JSON is nested no deeper than anything of ours."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > 0 and all(is_flat(part, depth - 1) for part in parts)


def attach(findings: Iterable[Finding], evidence: Evidence, source: Source) -> list[Finding]:
    """The findings, each with its evidence where there is some, and with the impact that it shows.

    `source` gives the lines of a file or of a notebook's cell. Evidence of code that has changed since says so, and
    keeps no figures.
    """
    return [
        _with(finding, _of(finding, evidence[finding.fingerprint], source))
        if finding.fingerprint in evidence
        else finding
        for finding in findings
    ]


def _with(finding: Finding, entry: dict[str, Any]) -> Finding:
    """The finding with its evidence; what was measured of the code itself goes before what its rule costs elsewhere."""
    measured = level(entry) if entry.get("rung") != "template" else None
    return replace(finding, evidence=entry, impact=finding.impact if measured is None else measured)


def _of(finding: Finding, entry: Mapping[str, Any], source: Source) -> dict[str, Any]:
    if entry["code_hash"] == code_hash(source(finding.filename, finding.cell), finding.start.row):
        return dict(entry)
    kept = {key: entry[key] for key in ("fingerprint", "code_hash", "environment")}
    return {**kept, "verdict": "stale: the code has changed since it was measured"}


def verdict_of(finding: Finding) -> str | None:
    """What was measured of the finding, `confirmed` for instance; None where nothing was."""
    return None if finding.evidence is None else str(finding.evidence["verdict"])


def gain_of(finding: Finding) -> float:
    """The ratio of times that the repair gains at least, the lower end of its interval; 0 where it was not measured."""
    ratio = (finding.evidence or {}).get("ratio")
    return 0.0 if ratio is None else float(ratio["low"])

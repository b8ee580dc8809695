"""One JSON array of all findings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from torchlint.report.outcome import Outcome, finding_as_dict
from torchlint.report.text import visible

__all__ = ["dumps", "portable", "render"]


def render(outcome: Outcome) -> Iterator[str]:
    """An array with one finding a line."""
    yield "["
    separator = "\n  "
    for finding in outcome.findings:
        yield separator + dumps(finding_as_dict(finding))
        separator = ",\n  "
    yield "]\n" if separator == "\n  " else "\n]\n"


def dumps(value: Any, indent: int | None = None) -> str:
    """`value` as JSON that every parser takes and that no terminal obeys: ASCII, and no lone surrogates or NaN."""
    return json.dumps(portable(value), ensure_ascii=True, allow_nan=False, indent=indent)


def portable(value: Any) -> Any:
    """`value` with what JSON cannot carry replaced: lone surrogates by visible escapes, infinities and NaN by null.

    Other characters stay as they are, so that names of files and contents of edits are exact.
    """
    if isinstance(value, str):
        return _without_surrogates(value)
    if isinstance(value, dict):
        return {_without_surrogates(str(key)): portable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [portable(item) for item in value]
    if isinstance(value, float) and value - value != 0:  # infinite or not a number
        return None
    return value


def _without_surrogates(text: str) -> str:
    if text.isascii():
        return text
    return "".join(visible(char) if "\ud800" <= char <= "\udfff" else char for char in text)

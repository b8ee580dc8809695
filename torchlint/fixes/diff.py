"""Unified diffs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

__all__ = ["rows", "unified_diff"]

# Rows as Python counts them, with their ends. `str.splitlines` would break at more.
_ROW: re.Pattern[str] = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def rows(text: str) -> list[str]:
    """The rows of a text as Python counts them, with their ends."""
    return _ROW.findall(text)


def unified_diff(before: str, after: str, name: str) -> Iterator[str]:
    """The lines, with their ends, of the diff between two texts of the file `name`; none where they are equal."""
    for line in difflib.unified_diff(rows(before), rows(after), name, name):
        if line.endswith(("\n", "\r")):
            yield line
        else:
            yield line + "\n"
            yield "\\ No newline at end of file\n"

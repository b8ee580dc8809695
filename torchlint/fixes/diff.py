"""Unified diffs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

__all__ = ["unified_diff"]

# Rows as Python counts them, with their ends. `str.splitlines` would break at more.
_ROW = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def unified_diff(before: str, after: str, name: str) -> Iterator[str]:
    """The lines, with their ends, of the diff between two texts of the file `name`; none where they are equal."""
    for line in difflib.unified_diff(_ROW.findall(before), _ROW.findall(after), name, name):
        if line.endswith(("\n", "\r")):
            yield line
        else:
            yield line + "\n"
            yield "\\ No newline at end of file\n"

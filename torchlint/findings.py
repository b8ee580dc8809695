"""What a rule reports: findings, their grades, and the edits that repair them.

These types are plain data. They know neither LibCST nor files, so that reports, caches, the language server and
`--verify` can all carry them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any


class Confidence(enum.IntEnum):
    """How far the bindings behind a finding are known."""

    POSSIBLE = 1  # names only
    LIKELY = 2  # one step from an interface that is known
    SURE = 3  # bindings all the way

    def __str__(self) -> str:
        return self.name.lower()


class Impact(enum.IntEnum):
    """How much the line costs: how often it runs times what was measured for the rule."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    def __str__(self) -> str:
        return self.name.lower()


class Applicability(enum.IntEnum):
    """What may be done with a fix without asking."""

    DISPLAY = 1  # a person must decide; shown, never applied
    UNSAFE = 2  # numerics, types or the timing of effects may change
    SAFE = 3  # every result stays bit for bit, every side effect stays

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file. Rows and columns count from 1, columns in code points."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text from `start` up to, not including, `end` by `content`; in a notebook, that of a cell."""

    start: Position
    end: Position
    content: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair: edits that are applied together or not at all."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains the finding, such as the loop that makes its line hot."""

    message: str
    filename: str
    start: Position
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding at one place of one file."""

    code: str
    name: str
    message: str
    filename: str
    start: Position
    end: Position
    bottleneck: str
    confidence: Confidence
    impact: Impact
    fingerprint: str
    cell: int | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    evidence: dict[str, Any] | None = field(default=None, hash=False)
    # What to write instead, in one sentence: shown by the `full` format even where there is no fix.
    advice: str = ""
    cell_id: str = ""  # of the cell, where its notebook gives it one

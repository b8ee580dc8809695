"""Repairs: edits applied to files, shown as a diff, or replaced by suppressions.

`fix` and `add_suppressions` are what commands call; `apply` is one round on one text, which the language server shares.
"""

from __future__ import annotations

from torchlint.fixes.apply import Applied, apply, is_applicable
from torchlint.fixes.diff import unified_diff
from torchlint.fixes.run import Change, FixResult, fix, fix_source
from torchlint.fixes.suppress import add_suppressions
from torchlint.fixes.write import write

__all__ = [
    "Applied",
    "Change",
    "FixResult",
    "add_suppressions",
    "apply",
    "fix",
    "fix_source",
    "is_applicable",
    "unified_diff",
    "write",
]

"""Which rules can fire on a file, told from its text: most files need no parse."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.rules.base import Rule

__all__ = ["candidates", "has_signs"]

# Without one of these nothing in a file is known to be a tensor or to run on a device: they name torch, what is built
# on it, and the interfaces by which values are taken for tensors where nothing is imported.
_SIGNS = re.compile(
    r"torch|[Tt]ensor|cuda|CUDA|backward|accelerat|lightning|fabric|optimi[sz]er|forward|training_step|compute_loss|loader"
)


def has_signs(text: str) -> bool:
    """Whether any rule can fire in a file with this text."""
    return _SIGNS.search(_folded(text)) is not None


def candidates(text: str, rules: Iterable[type[Rule]], *, linked: bool = False) -> list[type[Rule]]:
    """Those of `rules` that can fire in a file with this text.

    In a `linked` file others may show what it handles, and hold the words of rules for which these travel.
    """
    folded = _folded(text)
    if not linked and not _SIGNS.search(folded):
        return []
    has_word = functools.cache(folded.__contains__)  # rules share words
    return [rule for rule in rules if not rule.words or linked and rule.words_travel or any(map(has_word, rule.words))]


def _folded(text: str) -> str:
    """The text with its identifiers as Python compares them."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)

"""Which rules can fire on a file, told from its text: most files need no parse."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from torchlint.rules.base import Rule

__all__ = ["candidates"]

# Without one of these nothing in a file is known to be a tensor or to run on a device: they name torch, what is built
# on it, and the interfaces by which values are taken for tensors where nothing is imported.
_SIGNS = re.compile(
    r"torch|[Tt]ensor|cuda|backward|accelerat|lightning|fabric|optimi[sz]er|forward|training_step|compute_loss|loader"
)


def candidates(text: str, rules: Iterable[type[Rule]]) -> list[type[Rule]]:
    """Those of `rules` that can fire in a file with this text."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)  # identifiers are compared so, too
    if not _SIGNS.search(text):
        return []
    return [rule for rule in rules if not rule.words or any(word in text for word in rule.words)]

"""How rules speak of the code at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.source import written

if TYPE_CHECKING:
    from torchlint.semantics.hotness import Hot

_LONGEST = 50
_OFTEN = {
    "layers": "for every layer on every step",
    "parameters": "for every parameter on every step",
    "elements": "for every element on every step",
    "other": "on every round of an inner loop on every step",
}


def quote(node: cst.CSTNode, longest: int = _LONGEST) -> str:
    """An expression as written, on one line, in backticks; the middle is left out where it is long."""
    text = " ".join(written.code(node).split()).replace("`", "'")
    if len(text) > longest:
        half = (longest - 3) // 2
        text = f"{text[:half].rstrip()}...{text[-half:].lstrip()}"
    return f"`{text}`"


def often(hot: Hot | None) -> str:
    """How often hot code runs, in words that end a sentence."""
    return _OFTEN.get(hot.rate.value, "on every step") if hot is not None else "on every call"


def because(hot: Hot | None) -> tuple[tuple[str, cst.CSTNode], ...]:
    """The places that make code hot, as a report relates them."""
    return hot.reasons if hot is not None else ()

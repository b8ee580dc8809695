"""What there is to say about one line: for a person, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from torchlint.engine.explain import Because, Explanation, Outcome
from torchlint.report.json import dumps
from torchlint.report.text import Style, clip, plural, shown, visible, width

__all__ = ["render", "render_json"]

_PER = {
    "steps": "step",
    "elements": "element",
    "parameters": "parameter",
    "layers": "layer",
    "groups": "parameter group",
    "epochs": "epoch",
    "other": "round of a loop",
}
_INDENT = "  "


def render(told: Explanation, style: Style) -> Iterator[str]:
    """The line, why it is or is not hot, what its values are, and what became of the rules."""
    where = style.bold(visible(f"{told.filename}:{told.row}"))
    yield where + (f", in `{visible(told.function)}`\n" if told.function else "\n")
    margin = len(str(told.rows[1]))
    for row, line in enumerate(told.source, told.rows[0]):
        text = clip(shown(line), style.columns - margin - 3)
        yield f"{style.mark(str(row).rjust(margin))} {style.mark('|')} {text}\n"
    if told.together > 1:
        yield style.dim(f"read together with {plural(told.together - 1, 'other file')} of its project") + "\n"

    verdict = f"Hot: it runs once per {_PER[told.rate or 'other']}" if told.hot else "Not hot"
    yield f"\n{style.bold(verdict)}\n"
    for because in told.chain:
        yield from _wrapped(_said(because), style)
    for note in told.notes:
        yield from _wrapped(note, style)

    if told.values:
        yield f"\n{style.bold('Values')}\n"
    room = min(max((width(visible(taken.text)) for taken in told.values), default=0), style.columns // 3)
    for taken in told.values:
        text = clip(visible(taken.text), room)
        lead = text + " " * (room - width(text))
        yield from _wrapped(taken.words, style, lead=lead, paint=style.good(lead))
        for source in taken.sources:
            yield from _wrapped(_said(source), style, lead=" " * room)

    yield f"\n{style.bold('Rules')}\n"
    quiet = [outcome.code for outcome in told.rules if outcome.outcome == "silent" and not outcome.reason]
    for outcome in told.rules:
        if outcome.outcome != "silent" or outcome.reason:
            text = f"{outcome.name}: {_became(outcome)}"
            yield from _wrapped(text, style, lead=outcome.code, paint=style.code(outcome.code))
    if quiet:
        yield from _wrapped("looked and found nothing of theirs: " + ", ".join(quiet), style)
    if not told.rules:
        yield from _wrapped("none looks at a line like this", style)


def _said(because: Because) -> str:
    if because.filename is None or because.at is None:
        return because.message
    cell = "" if because.cell is None else f"cell {because.cell}:"
    return f"{because.message} ({because.filename}:{cell}{because.at.row}:{because.at.column})"


def _became(outcome: Outcome) -> str:
    if outcome.outcome == "silent":
        return f"silent, since {outcome.reason}"
    return f"{outcome.outcome} ({outcome.reason}): {outcome.message}"


def _wrapped(text: str, style: Style, lead: str = "", paint: str = "") -> Iterator[str]:
    """`text` behind `lead`, shown as `paint`, wrapped to the terminal with the rest below its beginning."""
    hang = _INDENT + (" " * (width(lead) + 2) if lead else "")
    lines = textwrap.wrap(
        visible(text),
        max(20, style.columns - len(hang)),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
    yield f"{_INDENT}{paint or lead}  {lines[0]}\n" if lead else f"{_INDENT}{lines[0]}\n"
    for line in lines[1:]:
        yield f"{hang}{line}\n"


def render_json(told: Explanation) -> Iterator[str]:
    """One JSON object."""
    yield dumps(
        {
            "filename": told.filename,
            "row": told.row,
            "rows": list(told.rows),
            "source": list(told.source),
            "function": told.function,
            "together": told.together,
            "hot": told.hot,
            "rate": told.rate,
            "chain": [_because(because) for because in told.chain],
            "notes": list(told.notes),
            "values": [
                {
                    "text": taken.text,
                    "location": {"row": taken.at.row, "column": taken.at.column},
                    "words": taken.words,
                    **taken.facts,
                    "sources": [_because(source) for source in taken.sources],
                }
                for taken in told.values
            ],
            "rules": [
                {
                    "code": outcome.code,
                    "name": outcome.name,
                    "outcome": outcome.outcome,
                    "reason": outcome.reason or None,
                    "message": outcome.message or None,
                }
                for outcome in told.rules
            ],
        },
        indent=2,
    )
    yield "\n"


def _because(because: Because) -> dict[str, Any]:
    at = because.at
    return {
        "message": because.message,
        "filename": because.filename,
        "cell": because.cell,
        "location": None if at is None else {"row": at.row, "column": at.column},
    }

"""Text that is safe to print: what came from a linted file is shown, never obeyed."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

__all__ = [
    "PLAIN",
    "Cut",
    "Style",
    "clip",
    "frame_line",
    "plural",
    "shown",
    "utf16_length",
    "visible",
    "width",
]


def visible(text: str) -> str:
    """`text` with everything that is not a visible character, blank apart, written as an escape.

    Control characters, terminal escapes, line separators, bidirectional and other invisible format characters and lone
    surrogates are what could forge output or fail to encode.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    number = ord(char)
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if short is not None:
        return short
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def width(text: str) -> int:
    """The columns that printable `text` takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, columns: int) -> str:
    """`text`, cut to `columns` with an ellipsis where it is longer."""
    if width(text) <= columns:
        return text
    kept, used = [], 1
    for char in text:
        used += _char_width(char)
        if used > columns:
            break
        kept.append(char)
    return "".join(kept) + "…"


def utf16_length(text: str) -> int:
    """The length of `text` in UTF-16 code units, the unit of the language server protocol."""
    return len(text) if text.isascii() else sum(2 if ord(char) > 0xFFFF else 1 for char in text)


@dataclass(frozen=True, slots=True)
class Style:
    """How a person reads it: with colours or not, and how many columns there are."""

    color: bool = False
    columns: int = 120

    def paint(self, text: str, *codes: int) -> str:
        """`text` in the colours of the SGR `codes`."""
        if not self.color or not text:
            return text
        return f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m"

    def bold(self, text: str) -> str:
        return self.paint(text, 1)

    def dim(self, text: str) -> str:
        return self.paint(text, 2)

    def code(self, text: str) -> str:
        """A rule's code."""
        return self.paint(text, 1, 31)

    def mark(self, text: str) -> str:
        """What points at source code."""
        return self.paint(text, 1, 34)

    def good(self, text: str) -> str:
        """Something that can be done."""
        return self.paint(text, 36)


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Cut:
    """A stretch of one line as it is shown."""

    text: str
    start: int  # the column of the terminal, from 0, where the marked part begins
    length: int  # how many columns it takes


def frame_line(line: str, start: int, end: int, columns: int) -> Cut:
    """Line `line`, its marked code points `start` up to `end` (from 0) in view, in at most `columns` columns."""
    # A line of a megabyte is only looked at near the mark: no line on a terminal shows more characters than columns.
    low = max(0, start - columns)
    high = min(len(line), max(end, start + 1), start + columns) + columns
    stop = min(end, start + columns)
    before, marked, after = shown(line[low:start]), shown(line[start:stop]), shown(line[stop:high])
    cut_left, cut_right = low > 0, high < len(line)
    total = width(before) + width(marked) + width(after)
    if total + cut_left + cut_right <= columns:
        text = ("…" if cut_left else "") + before + marked + after + ("…" if cut_right else "")
        return Cut(text, min(width(before) + cut_left, columns - 1), max(1, width(marked)))
    # Show the end of what stands before the mark, at most a third, then the mark, then what fits.
    room = max(1, columns // 3)
    if width(before) > room and width(before) + width(marked) > columns:
        before = "…" + _tail(before, max(0, room - 1))
    text = clip(before + marked + after + ("…" if cut_right else ""), columns)
    begin = min(width(before), max(0, columns - 1))
    return Cut(text, begin, max(1, min(width(marked), width(text) - begin)))


def _tail(text: str, columns: int) -> str:
    used, index = 0, len(text)
    while index > 0 and used + _char_width(text[index - 1]) <= columns:
        index -= 1
        used += _char_width(text[index])
    return text[index:]


def shown(text: str) -> str:
    """Source code as it is shown: tabs as spaces, and what is not visible as escapes."""
    return visible(text.replace("\t", "    "))


def plural(count: int, noun: str) -> str:
    """`1 finding`, `2 findings`."""
    return f"{count} {noun if count == 1 else noun + 's'}"

"""One fast pass over a file's text that knows strings, comments and brackets, and nothing else.

It finds comments (for directives), logical lines (for the extent of statements and for where a line may be inserted)
and how deep brackets nest (before LibCST is trusted with the text). It costs a few hundredths of a parse.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Comment", "LogicalLine", "Scan", "scan"]


class Comment(NamedTuple):
    """A comment: where its `#` stands, its text from there to the end of the row, and whether it stands alone."""

    start: int
    text: str
    alone: bool  # nothing but white space before it on its row


class LogicalLine(NamedTuple):
    """What a NEWLINE token ends: one or more simple statements, or the header of a compound one.

    `start` is where its first row begins, `code` where its first token does, `end` where the newline stands that ends
    it (or the text's end). A comment at its end is included.
    """

    start: int
    code: int
    end: int


@dataclass
class Scan:
    """What the pass found, by offsets into the text. Where the text is no Python, it may be anything."""

    text: str
    depth: int = 0  # the deepest nesting of brackets
    deepest: int = 0  # the offset of the bracket that reaches it
    # The newlines that end logical lines and rows without code, and the text's end.
    ends: list[int] = field(default_factory=list)
    # What holds no code: comments, strings without replacement fields or with short ones, literal parts of the others.
    opaque: list[tuple[int, int]] = field(default_factory=list)
    comment_spans: list[tuple[int, int]] = field(default_factory=list)
    formatted: list[tuple[int, int]] = field(default_factory=list)  # f-strings, t-strings, as a whole
    skipped: list[tuple[int, int]] = field(default_factory=list)  # rows that are no Python

    @functools.cached_property
    def logical_lines(self) -> list[LogicalLine]:
        lines = []
        start = 0
        for end in self.ends:
            code = _INDENT.match(self.text, start).end()  # type: ignore[union-attr]
            if code < end and self.text[code] != "#":
                lines.append(LogicalLine(start, code, end))
            start = end + 1
        return lines

    @functools.cached_property
    def comments(self) -> list[Comment]:
        text = self.text
        return [
            Comment(start, text[start:end], not text[text.rfind("\n", 0, start) + 1 : start].strip())
            for start, end in self.comment_spans
        ]

    def index_at(self, offset: int) -> int | None:
        """Which logical line holds `offset`; none for blank rows and comments between them."""
        index = bisect_right(self.logical_lines, offset, key=_start) - 1
        return index if index >= 0 and offset <= self.logical_lines[index].end else None

    def code_before(self, offset: int) -> int:
        """Where the code in front of an offset ends: there are only white space and comments between."""
        text = self.text
        while True:
            while offset and text[offset - 1].isspace():
                offset -= 1
            index = bisect_left(self.comment_spans, offset, key=_end) if offset else len(self.comment_spans)
            if index == len(self.comment_spans) or self.comment_spans[index][1] != offset:
                return offset
            offset = self.comment_spans[index][0]

    def code_behind(self, offset: int) -> int:
        """Where the code behind an offset begins."""
        text = self.text
        while True:
            while text[offset : offset + 1].isspace():
                offset += 1
            if text[offset : offset + 1] != "#":
                return offset
            index = bisect_left(self.comment_spans, (offset, offset))
            if index == len(self.comment_spans) or self.comment_spans[index][0] != offset:
                return offset
            offset = self.comment_spans[index][1]

    def index_from(self, offset: int) -> int:
        """Which logical line is the first to begin at `offset` or later; their number where none does."""
        index = bisect_right(self.logical_lines, offset, key=_start)
        return index - 1 if index and self.logical_lines[index - 1].start == offset else index


def _start(line: LogicalLine) -> int:
    return line.start


def _end(span: tuple[int, int]) -> int:
    return span[1]


# All patterns here are deterministic: at each character one way on is possible, so none can backtrack for long.
_STRING = (
    r"'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
)
# What the pass stops at. A pair of brackets with nothing in it that matters is one token, an unterminated string one
# character.
_PLAIN = r"""[^\n"'#()\[\]{}\\]*[)\]}]?"""
# Every alternative begins with a literal character: `re` then looks for one of these first, which makes it fast.
_TOKEN_PATTERN = rf"""\n|\({_PLAIN}|\[{_PLAIN}|\{{{_PLAIN}|\)|\]|\}}|{_STRING}|"|'|\#[^\n]*|\\\n?"""
_TOKEN = re.compile(_TOKEN_PATTERN, re.DOTALL)
_FIELD_TOKEN = re.compile(r"\(|\[|\{|:=?|" + _TOKEN_PATTERN, re.DOTALL)

# Most f-strings: their fields are short and hold neither braces nor strings but the simplest. That they are short is
# what makes it safe to look past the brackets in them.
_LONGEST_FIELD = 60
_SIMPLE = {
    quote: re.compile(
        rf"{quote}[^{quote}\\\n{{}}]*(?:(?:\\[^{{}}]|\\(?=[{{}}])|\{{\{{|\}}\}}"
        rf"|\{{(?:[^'\"\\\n{{}}#]|{other}[^'\"\\\n{{}}#]*{other}){{1,{_LONGEST_FIELD}}}\}})[^{quote}\\\n{{}}]*)*{quote}",
        re.DOTALL,
    )
    for quote, other in (("'", '"'), ('"', "'"))
}

# The literal part of an f-string, up to its closing quotes or a brace that opens or closes a field.
_LITERAL = {
    quote: re.compile(rf"[^{stop}]*(?:(?:\\[^{{}}]|\\(?=[{{}}])|\{{\{{|\}}\}}{single})[^{stop}]*)*", re.DOTALL)
    for quote, stop, single in (
        ("'", r"'\\\n{}", ""),
        ('"', r'"\\\n{}', ""),
        ("'''", r"'\\{}", r"|'(?!'')"),
        ('"""', r'"\\{}', r'|"(?!"")'),
    )
}
# The same in a format specification, where a closing brace ends the field and two of them end two.
_SPECIFICATION = re.compile(r"[^{}\n'\"]*")

_INDENT = re.compile(r"[ \t\f]*")
_PREFIX = re.compile(r"(?<!\w)(?:[ft]r?|r[ft])\Z", re.IGNORECASE)


Skip = Callable[[str, int], int]


def scan(text: str, skip: Skip | None = None) -> Scan:
    """Scan `text`, whose line ends are all "\\n".

    Where rows that are no Python may stand between logical lines, as in notebooks, `skip` is asked wherever one may
    begin: given the text and an offset, it returns where such rows end, at a newline, or the offset again.
    """
    return _Scanner(text, skip).run()


class _Scanner:
    """The state of one pass.

    `stack` holds what is open: a bracket; or, for a field of an f-string, the quotes of that string, with a colon
    before them once the field's format specification has begun.
    """

    def __init__(self, text: str, skip: Skip | None = None) -> None:
        self.text = text
        self.skip = skip
        self.found = Scan(text)
        self.stack: list[str] = []
        self.formatted_starts: list[int] = []

    def run(self) -> Scan:
        size = len(self.text)
        position = self._skipped(0)
        while position < size:
            position = self._code(position)
        self.found.ends.append(size)
        return self.found

    def _code(self, position: int) -> int:
        """Go on in code from `position`; returns where the pass must be taken up anew, with what is open then."""
        text, stack, found = self.text, self.stack, self.found
        hide, end_line, depth = found.opaque.append, found.ends.append, found.depth
        in_field = bool(stack) and stack[-1] in _LITERAL
        for match in (_FIELD_TOKEN if in_field else _TOKEN).finditer(text, position):
            at, position = match.span()
            character = text[at]
            if character == "\n":
                if not stack:
                    end_line(at)
                    if self.skip is not None:
                        return self._skipped(position)
            elif character in "([{":
                if len(stack) >= depth:
                    depth = self._open(at)
                if position == at + 1 or text[position - 1] not in ")]}":
                    stack.append(character)
            elif character in ")]}":
                opened = stack.pop() if stack else ""
                if opened in _LITERAL:
                    return self._rest_of_string(opened, position)
                if stack and stack[-1] in _LITERAL:
                    return position
            elif character in "\"'":
                before = text[max(0, at - 3) : at]
                if before[-1:].isalpha() and _PREFIX.search(before):
                    return self._formatted_string(at)
                hide((at, position))
            elif character == "#":
                hide((at, position))
                found.comment_spans.append((at, position))
            elif match.group() == ":":
                stack[-1] = ":" + stack[-1]
                return self._rest_of_string(stack[-1][1:], position)
            if in_field:
                return position
        return len(text)

    def _skipped(self, position: int) -> int:
        """Go past rows at `position` that are no Python."""
        end = position if self.skip is None else self.skip(self.text, position)
        if end > position:
            self.found.skipped.append((position, end))
        return end

    def _open(self, at: int) -> int:
        """Note that a bracket opens at `at`; returns the deepest nesting so far."""
        if len(self.stack) >= self.found.depth:
            self.found.depth, self.found.deepest = len(self.stack) + 1, at
        return self.found.depth

    def _formatted_string(self, at: int) -> int:
        """Go past the f-string whose quotes open at `at`, or to the code in its first field."""
        quote = self.text[at]
        if self.text.startswith(quote * 3, at):
            quote *= 3
        elif simple := _SIMPLE[quote].match(self.text, at):
            self.found.opaque.append(simple.span())
            self.found.formatted.append(simple.span())
            return simple.end()
        self.formatted_starts.append(at)
        return self._rest_of_string(quote, at + len(quote))

    def _rest_of_string(self, quote: str, position: int) -> int:
        """Go on in an f-string, in its literal part or in a format specification, to its end or to the next field."""
        text, stack = self.text, self.stack
        while True:
            in_specification = bool(stack) and stack[-1] == ":" + quote
            pattern = _SPECIFICATION if in_specification else _LITERAL[quote]
            end = pattern.match(text, position).end()  # type: ignore[union-attr]
            self.found.opaque.append((position, end))
            character = text[end : end + 1]
            if text.startswith(quote, end):
                if in_specification:  # an error, or the string's end under an unclosed field
                    stack.pop()
                self.found.formatted.append((self.formatted_starts.pop(), end + len(quote)))
                return end + len(quote)
            if character == "{":
                self._open(end)
                stack.append(quote)
                return end + 1
            if character == "}":
                if in_specification:
                    stack.pop()
            elif not (character and in_specification and (character != "\n" or len(quote) == 3)):
                self.formatted_starts.pop()
                return end
            position = end + 1

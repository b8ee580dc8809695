"""A source file: its bytes, its text, and where its rows begin.

Everything here agrees with CPython: how bytes become text, and what ends a row (LF, CRLF and CR, and nothing else that
`str.splitlines` breaks at).
"""

from __future__ import annotations

import bisect
import codecs
import functools
import re
from dataclasses import dataclass

from torchlint.findings import Edit, Position

__all__ = ["SourceFile", "UnreadableError"]

_NEWLINE = re.compile(r"\r\n?|\n")
_LF = re.compile("\n")
_NEWLINE_BYTES = re.compile(rb"\r\n?|\n")

# PEP 263: a comment of the first two rows, the second only below a row without code.
_COOKIE = re.compile(rb"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?$")

# Python's grammar is written in these characters. A codec that does not spell them as ASCII does (UTF-7, UTF-16,
# EBCDIC) makes bytes mean other code than a reader sees.
_ASCII = "".join(map(chr, range(32, 127))) + "\t\n\f\r"


# What files in other encodings begin with; UTF-32's mark begins with that of UTF-16.
_MARKS = (
    ("UTF-32", codecs.BOM_UTF32_LE),
    ("UTF-32", codecs.BOM_UTF32_BE),
    ("UTF-16", codecs.BOM_UTF16_LE),
    ("UTF-16", codecs.BOM_UTF16_BE),
)
_LONGEST_NAME = 40  # of an encoding, in a message


class UnreadableError(Exception):
    """A file that cannot be linted: what is wrong with it, and the row where."""

    def __init__(self, message: str, row: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row


@dataclass(frozen=True)
class SourceFile:
    """A file as it was read.

    `path` is the name that findings carry. `text` is what Python's tokenizer sees: decoded, without byte order mark,
    every line end a "\\n"; rows and columns are those of the file all the same. `written` is the same with the line
    ends as they stand in the file: what fixes are applied to.
    """

    path: str
    data: bytes
    text: str
    written: str
    encoding: str = "utf-8"
    bom: bool = False

    @classmethod
    def from_bytes(cls, data: bytes, path: str) -> SourceFile:
        """Decode `data` as CPython would.

        Raises UnreadableError with CPython's row where it cannot, and for encodings whose text does not encode back to
        the same bytes.
        """
        bom = data.startswith(codecs.BOM_UTF8)
        body = data[len(codecs.BOM_UTF8) :] if bom else data
        encoding = _encoding(body, bom)
        written = _decode(body, encoding)
        if (nul := body.find(0)) >= 0:
            raise UnreadableError("source code cannot contain null bytes", _row_of(body, nul))
        if written.startswith("\ufeff"):
            raise UnreadableError("invalid non-printable character U+FEFF: a second byte order mark")
        text = _NEWLINE.sub("\n", written) if "\r" in written else written
        return cls(path, data, text, written, encoding, bom)

    @classmethod
    def from_text(cls, text: str, path: str) -> SourceFile:
        """A source that is no bytes yet, such as a document of an editor, which will be written as it declares.

        Raises UnreadableError where no file could hold it.
        """
        encoding = _encoding(text.encode(errors="replace"), bom=False)
        try:
            data = text.encode(encoding)
        except UnicodeEncodeError as error:
            row = len(_NEWLINE.findall(text, 0, error.start)) + 1
            raise UnreadableError(f"cannot be encoded as {encoding}: {text[error.start]!a}", row) from error
        return cls.from_bytes(data, path)

    def encode(self, written: str) -> bytes:
        """The bytes that `written` would have in this file.

        Raises UnicodeEncodeError where the file's encoding has no bytes for it.
        """
        return (codecs.BOM_UTF8 if self.bom else b"") + written.encode(self.encoding)

    @functools.cached_property
    def row_starts(self) -> list[int]:
        """The offset in `text` at which each row begins; the last row may be empty."""
        return [0, *(match.end() for match in _LF.finditer(self.text))]

    @functools.cached_property
    def written_row_starts(self) -> list[int]:
        """The offset in `written` at which each row begins."""
        if len(self.written) == len(self.text):
            return self.row_starts
        return [0, *(match.end() for match in _NEWLINE.finditer(self.written))]

    @functools.cached_property
    def newline(self) -> str:
        """What ends the first row, "\\n" where there is only one row."""
        match = _NEWLINE.search(self.written)
        return match.group() if match else "\n"

    @functools.cached_property
    def lines(self) -> list[str]:
        """All rows without their line ends, as Python counts them."""
        return self.text.split("\n")

    def line(self, row: int) -> str:
        """Row `row`, from 1, without its line end; empty past the last one."""
        return self.lines[row - 1] if row <= len(self.lines) else ""

    def position(self, offset: int) -> Position:
        """Where the character at `offset` of `text` stands."""
        row = bisect.bisect_right(self.row_starts, offset)
        return Position(row, offset - self.row_starts[row - 1] + 1)

    def offset(self, position: Position) -> int:
        """The offset in `text` of a position; past the end of a row, that of the row's end."""
        if position.row > len(self.lines):
            return len(self.text)
        return self.row_starts[position.row - 1] + min(position.column - 1, len(self.lines[position.row - 1]))

    def edit(self, start: int, end: int, content: str) -> Edit:
        """The edit that replaces `text[start:end]`."""
        return Edit(self.position(start), self.position(end), content)


def _row_of(body: bytes, offset: int) -> int:
    return len(_NEWLINE_BYTES.findall(body, 0, offset)) + 1


def _encoding(body: bytes, bom: bool) -> str:
    """The encoding that the first two rows declare, as Python names it."""
    declared, row = None, 0
    start = 0
    while row < 2:
        row += 1
        newline = _NEWLINE_BYTES.search(body, start)
        end = newline.start() if newline else len(body)
        if cookie := _COOKIE.match(body, start, end):
            declared = cookie[1].decode("ascii", "replace")
            break
        if newline is None or not _NO_CODE.match(body, start, end):
            break
        start = newline.end()
    if declared is None:
        return "utf-8"
    if (known := _known(declared)) == "utf-8":
        return known
    if bom:
        raise UnreadableError(f"encoding problem: {declared} with a byte order mark of UTF-8", row)
    if known is not None:
        return known
    try:
        codec = codecs.lookup(declared)
    except (LookupError, ValueError) as error:
        shown = declared if len(declared) <= _LONGEST_NAME else f"{declared[:_LONGEST_NAME]}..."
        raise UnreadableError(f"unknown encoding: {shown}", row) from error
    if not getattr(codec, "_is_text_encoding", True):
        raise UnreadableError(f"encoding not supported: {declared} is not a text encoding", row)
    try:
        plain = _ASCII.encode(declared) == _ASCII.encode("ascii")
    except (UnicodeError, ValueError, LookupError):
        plain = False
    if not plain:
        raise UnreadableError(f"encoding not supported: {declared} does not keep ASCII as it is", row)
    return declared


_KNOWN = {"utf-8": "utf-8", "latin-1": "iso-8859-1", "iso-8859-1": "iso-8859-1", "iso-latin-1": "iso-8859-1"}


def _known(name: str) -> str | None:
    """The encoding that CPython takes a cookie for without asking its codecs; Emacs names line ends as well."""
    normal = f"{name[:12].lower().replace('_', '-')}-"
    return next((encoding for start, encoding in _KNOWN.items() if normal.startswith(f"{start}-")), None)


def _decode(body: bytes, encoding: str) -> str:
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        byte = body[error.start] if error.start < len(body) else 0
        marked = next((name for name, mark in _MARKS if body.startswith(mark)), None)
        hint = f"; it looks like {marked}" if marked else "" if encoding != "utf-8" else " and no encoding is declared"
        raise UnreadableError(
            f"cannot be decoded as {encoding}: byte 0x{byte:02x}{hint}", _row_of(body, error.start)
        ) from error
    except Exception as error:  # codecs raise whatever they like
        raise UnreadableError(f"cannot be decoded as {encoding}") from error
    if encoding != "utf-8":
        try:
            same = text.encode(encoding) == body
        except Exception:
            same = False
        if not same:
            raise UnreadableError(f"encoding not supported: {encoding} does not encode back to the same bytes")
    return text

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.findings import Position
from torchlint.source.text import SourceFile, UnreadableError


def read(data: bytes) -> SourceFile:
    return SourceFile.from_bytes(data, "a.py")


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8"),
        ("é = 1\n".encode(), "é = 1\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\ns = '\xe9'\n", "# -*- coding: latin-1 -*-\ns = 'é'\n", "iso-8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\ns='\x80'\n", None, "cp1252"),
        (b"# coding: utf-8\n# coding: latin-1\ns='\xc3\xa9'\n", "# coding: utf-8\n# coding: latin-1\ns='é'\n", "utf-8"),
        (b"x = 1\n# coding: latin-1\n", None, "utf-8"),  # not below code
        (b"# a\r# coding: latin-1\rs='\xe9'\r", "# a\n# coding: latin-1\ns='é'\n", "iso-8859-1"),
        (b"\n\n# coding: latin-1\n", None, "utf-8"),  # the third row is too late
        (b"\xef\xbb\xbf# coding: utf-8\nx\n", "# coding: utf-8\nx\n", "utf-8"),
        (b"# coding: UTF_8-unix\nx\n", None, "utf-8"),
        (b"# coding: Latin_1-unix\ns='\xe9'\n", "# coding: Latin_1-unix\ns='é'\n", "iso-8859-1"),
        (b"# coding: iso-8859-15\ns='\xa4'\n", "# coding: iso-8859-15\ns='€'\n", "iso-8859-15"),
    ],
)
def test_bytes_are_decoded_as_declared(data: bytes, text: str | None, encoding: str) -> None:
    source = read(data)
    assert source.encoding == encoding
    assert text is None or source.text == text
    assert source.encode(source.written) == data


@pytest.mark.parametrize(
    ("data", "row", "says"),
    [
        (b"a = 1\nb = '\x80'\n", 2, "utf-8"),
        (b"a\r\nb\rc = '\xff'\n", 3, "utf-8"),
        (b"# coding: rot13\nx = 1\n", 1, "rot13"),
        (b"# coding: utf-7\nx = 1\n", 1, "utf-7"),
        (b"#\n# coding: utf-16\nx = 1\n", 2, "utf-16"),
        (b"# coding: cp037\nx = 1\n", 1, "cp037"),
        (b"# coding: nonsense\nx = 1\n", 1, "nonsense"),
        (b"\xef\xbb\xbf# coding: latin-1\nx\n", 1, "latin-1"),
        (b"\xef\xbb\xbf\xef\xbb\xbfx = 1\n", 1, "U+FEFF"),
        (b"x = 1\r\n\0\0", 2, "null"),
        ("x = 1\n".encode("utf-16"), 1, "UTF-16"),
        ("x = 1\n".encode("utf-32"), 1, "UTF-32"),
        (b"# coding: " + b"a" * 100_000, 1, f"unknown encoding: {'a' * 40}..."),
        (b"# coding: shift_jis\ns = '\x80'\n", 2, "shift_jis"),
    ],
)
def test_what_python_does_not_decode_is_refused_with_its_row(data: bytes, row: int, says: str) -> None:
    with pytest.raises(UnreadableError, match=re.escape(says)) as refused:
        read(data)
    assert refused.value.row == row


def test_rows_end_where_python_ends_them() -> None:
    source = read("a\r\nb\rc = '\v\f\x1c\x85\u2028'\n\nd".encode())
    assert source.lines == ["a", "b", "c = '\v\f\x1c\x85\u2028'", "", "d"]
    assert source.newline == "\r\n"
    assert source.position(source.text.index("d")) == Position(5, 1)


def test_columns_count_code_points() -> None:
    source = read("s = '𝕏é'; x\n".encode())
    assert source.position(source.text.index("x")) == Position(1, 11)


@given(st.text(alphabet=st.sampled_from("ab\n\r\té𝕏")))
def test_positions_and_offsets_are_inverse(text: str) -> None:
    source = SourceFile.from_text(text, "a.py")
    for offset in range(len(source.text) + 1):
        assert source.offset(source.position(offset)) == offset
    assert source.encode(source.written) == source.data


def test_text_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(UnreadableError, match="cannot be encoded as utf-8"):
        SourceFile.from_text("x = 1\ny = '\ud800'", "a.py")

"""Text that is safe to print and fits."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.report.text import clip, frame_line, plural, utf16_length, visible, width

ANY_TEXT = st.text(st.characters(exclude_categories=()))
LINES = st.text(st.one_of(st.sampled_from(" \tab漢😀\u0301\u202e\x1b\ud800"), st.characters(exclude_categories=())))


@given(ANY_TEXT)
def test_nothing_invisible_is_left(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 😀", "plain é 漢 😀"),
        ("a\tb\r\n", "a\\tb\\r\\n"),
        ("\x1b[31m\x07\x9b\x7f\x00", "\\x1b[31m\\x07\\x9b\\x7f\\x00"),
        ("\u202e\u2066\u200b\u2028\ufeff", "\\u202e\\u2066\\u200b\\u2028\\ufeff"),
        ("\ud83d\U000e0001", "\\ud83d\\U000e0001"),
    ],
)
def test_what_is_invisible_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(LINES, st.integers(0, 80), st.integers(0, 80), st.integers(8, 60))
def test_a_line_of_a_frame_fits_and_its_mark_stays_in_view(line: str, a: int, b: int, columns: int) -> None:
    start, end = sorted((min(a, len(line)), min(b, len(line))))
    cut = frame_line(line, start, end, columns)
    assert width(cut.text) <= columns
    assert cut.text.isprintable()
    assert cut.length >= 1
    assert 0 <= cut.start < columns
    assert cut.start + cut.length <= columns + 1


@given(st.text("abc (", max_size=60), st.text("xyz", min_size=1, max_size=10), st.text("def )", max_size=60))
def test_the_mark_stands_below_what_it_marks(before: str, marked: str, after: str) -> None:
    line = before + marked + after
    cut = frame_line(line, len(before), len(before) + len(marked), 40)
    assert cut.text[cut.start : cut.start + cut.length] == marked


@given(ANY_TEXT, st.integers(1, 40))
def test_clipped_text_fits(text: str, columns: int) -> None:
    clipped = clip(visible(text), columns)
    assert width(clipped) <= columns
    assert clipped == visible(text) or clipped.endswith("…")


@given(ANY_TEXT)
def test_utf16_units(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_width_counts_what_a_terminal_shows() -> None:
    assert (width("abc"), width("漢字"), width("e\u0301")) == (3, 4, 1)
    assert all(unicodedata.east_asian_width(char) in "WF" for char in "漢字")


def test_plural() -> None:
    assert (plural(1, "file"), plural(0, "file")) == ("1 file", "0 files")

"""Edits on texts: whatever meets what, nothing else changes."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from torchlint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Position
from torchlint.fixes.apply import apply, apply_edits
from torchlint.source.text import SourceFile

TEXTS = st.text(alphabet=st.sampled_from("ab é𝕏\n\r\t"), max_size=40)


def finding(*edits: Edit, code: str = "TL101") -> Finding:
    return Finding(
        code=code,
        name="fake",
        message="m",
        filename="a.py",
        start=min((edit.start for edit in edits), default=Position(1, 1)),
        end=max((edit.end for edit in edits), default=Position(1, 1)),
        bottleneck="sync",
        confidence=Confidence.SURE,
        impact=Impact.LOW,
        fingerprint="",
        fix=Fix(Applicability.SAFE, "m", edits),
    )


@st.composite
def sources_and_spans(draw: Any) -> tuple[SourceFile, list[tuple[int, int]]]:
    source = SourceFile.from_text(draw(TEXTS), "a.py")
    offsets = st.integers(0, len(source.text))
    spans = draw(st.lists(st.tuples(offsets, offsets).map(lambda pair: (min(pair), max(pair))), max_size=8))
    return source, spans


@given(sources_and_spans())
def test_what_is_not_edited_stays_byte_for_byte(case: tuple[SourceFile, list[tuple[int, int]]]) -> None:
    source, spans = case
    findings = [finding(source.edit(start, end, f"<{number}>")) for number, (start, end) in enumerate(spans)]
    applied = apply(source, findings)
    # The edits leave marks; what stands between them are pieces of the file, in its order.
    pieces = re.split(r"<\d+>", applied.written)
    assert len(pieces) == len(applied.findings) + 1
    position = 0
    for piece in pieces:
        position = source.written.index(piece, position) + len(piece)
    if not applied.findings:
        assert applied.written == source.written
    assert bool(applied.findings) == bool(spans)


@given(sources_and_spans())
def test_the_result_does_not_depend_on_the_order_of_findings(case: tuple[SourceFile, list[tuple[int, int]]]) -> None:
    source, spans = case
    findings = [finding(source.edit(*span, f"<{span}>"), code=f"TL{number}") for number, span in enumerate(spans)]
    assert apply(source, findings).written == apply(source, findings[::-1]).written


@given(st.text(alphabet=st.sampled_from("ab é𝕏\n\t"), max_size=40), st.data())
def test_an_edit_does_what_slicing_does(text: str, data: Any) -> None:
    source = SourceFile.from_text(text, "a.py")
    start = data.draw(st.integers(0, len(source.text)))
    end = data.draw(st.integers(start, len(source.text)))
    assert apply_edits(source, [source.edit(start, end, "X\n")]) == text[:start] + "X\n" + text[end:]


def test_edits_of_one_fix_are_applied_together_or_not_at_all() -> None:
    source = SourceFile.from_text("abcdef\n", "a.py")
    both = finding(source.edit(0, 1, "X"), source.edit(4, 5, "Y"))
    other = finding(source.edit(1, 2, "Z"), source.edit(4, 6, "W"))
    applied = apply(source, [both, other])
    assert applied.written == "XbcdYf\n"
    assert applied.findings == (both,)


def test_an_edit_that_two_fixes_share_is_made_once() -> None:
    source = SourceFile.from_text("abcdef\n", "a.py")
    needed = source.edit(0, 0, "import x\n")
    applied = apply(source, [finding(needed, source.edit(2, 3, "X")), finding(needed, source.edit(4, 5, "Y"))])
    assert applied.written == "import x\nabXdYf\n"


def test_new_rows_end_as_the_row_they_are_put_in() -> None:
    source = SourceFile.from_text("a\r\nb\rc\nd", "a.py")
    edits = [source.edit(offset, offset, "+\n") for offset in (0, 2, 4, 6)]
    assert apply_edits(source, edits) == "+\r\na\r\n+\rb\r+\nc\n+\r\nd"

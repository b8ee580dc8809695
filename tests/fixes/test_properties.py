"""Repairs of pages' examples, written in many ways: what is fixed parses, stays fixed, and computes the same."""

from __future__ import annotations

import ast
import functools
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.fixes.variants import VARIATIONS, Variation
from tests.linting import repair
from tests.pages.test_pages import DEFAULT, FIXABLE, PAGES, assert_equal_results
from torchlint.engine.lint import lint_source
from torchlint.engine.settings import Settings
from torchlint.fixes.apply import apply, is_applicable
from torchlint.rules.pages import Page
from torchlint.source.text import SourceFile

REPAIRED = [page for page in PAGES if page.code in FIXABLE]
# Their entries start processes, read a clock, or need a device.
_NOT_RUN = frozenset("TL110 TL404 TL501 TL502 TL503 TL507 TL701 TL703 TL705 TL902".split())
RUN = [page for page in REPAIRED if page.pair is not None and page.code not in _NOT_RUN]

pages = st.sampled_from(REPAIRED)
ways = st.lists(st.sampled_from(range(len(VARIATIONS))), unique=True, max_size=4).map(sorted)
few = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@functools.cache
def sources(code: str) -> tuple[str, ...]:
    page = next(page for page in PAGES if page.code == code)
    return tuple(block.source for block in page.of_kind("bad"))


def vary(source: str, chosen: list[int], seed: int) -> str:
    draw = random.Random(seed)
    for index in chosen:
        variation: Variation = VARIATIONS[index]
        source = variation(source, draw)
    ast.parse(source)  # else the variation is at fault
    return source


def fixed(source: str, code: str) -> str:
    return repair(source, *DEFAULT, code)


@few
@given(pages, ways, st.integers(0, 10**6), st.data())
def test_fixed_files_parse_and_stay_as_they_are(page: Page, chosen: list[int], seed: int, data: st.DataObject) -> None:
    source = vary(data.draw(st.sampled_from(sources(page.code))), chosen, seed)
    after = fixed(source, page.code)
    ast.parse(after)
    assert fixed(after, page.code) == after


@few
@given(pages, ways, st.integers(0, 10**6), st.data())
def test_rows_without_an_edit_stay_byte_for_byte(page: Page, chosen: list[int], seed: int, data: st.DataObject) -> None:
    source = SourceFile.from_bytes(
        vary(data.draw(st.sampled_from(sources(page.code))), chosen, seed).encode(), "page.py"
    )
    codes = frozenset(DEFAULT | {page.code})
    wanted = Settings(root=Path(), rules=codes, fixable=codes, unsafe_fixes=True)
    found = [finding for finding in lint_source(source, wanted).findings if is_applicable(finding, wanted)]
    assume(found)
    applied = apply(source, found)
    touched = {
        row
        for finding in applied.findings
        for edit in finding.fix.edits  # type: ignore[union-attr]
        for row in range(edit.start.row, edit.end.row + 1)
    }
    rows = source.written.splitlines(keepends=True)
    left = iter(applied.written.splitlines(keepends=True))
    for number, row in enumerate(rows, start=1):
        if number not in touched:
            assert any(row == other for other in left), f"row {number} is gone or changed: {row!r}"


@settings(few, max_examples=8)
@given(st.sampled_from(RUN), ways.map(lambda chosen: [index for index in chosen if index < 5]), st.integers(0, 10**6))
def test_fixed_code_computes_the_same(page: Page, chosen: list[int], seed: int) -> None:
    pytest.importorskip("torch")
    source = vary(sources(page.code)[0], chosen, seed)
    after = fixed(source, page.code)
    assume(after != source)
    assert page.pair is not None
    assert_equal_results(_results(after, page.pair[2].source), _results(source, page.pair[2].source))


def _results(source: str, inputs: str) -> Any:
    import torch

    modules = []
    for name, text in (("variant", source), ("inputs", inputs)):
        module = ModuleType(name)
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)
        modules.append(module)
    variant, hints = modules
    arguments = hints.inputs(torch.device("cpu"), torch.float32, **hints.SIZES["small"])
    torch.manual_seed(0)
    return getattr(variant, hints.ENTRY)(*arguments)

"""Every rule's page, executed: its blocks are the rule's test cases, and its pair is the rule's experiment."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.linting import lint, repair
from torchlint.engine.selection import META_RULES, catalogue
from torchlint.rules import pages
from torchlint.rules.pages import Block, Page

# The rules that look at code; those of the engine itself look at comments and bytes, beside the findings of others.
RULES = {rule.code for rule in catalogue()} - {rule.code for rule in META_RULES}
FIXABLE = {rule.code for rule in catalogue() if rule.fix != "none"} & RULES
ALWAYS_FIXED = {rule.code for rule in catalogue() if rule.fix == "always"}
DEFAULT = {rule.code for rule in catalogue() if rule.default}
PAGES: tuple[Page, ...] = tuple(pages.load(code) for code in pages.codes())

_MARK = re.compile(r"#\s*(?P<codes>TL\d{3}(?:,\s*TL\d{3})*)\s*$")
_MEASURED = re.compile(r"<!-- measured: begin -->\n.+\n<!-- measured: end -->", re.DOTALL)
_REFERENCE = re.compile(r"- \[[^\]]+\]\(https://\S+\)")
# What "What it trades" says something of, in this order.
_TRADES = ["Saves", "Memory", "Numerics", "Shapes", "Compilation or start-up"]


def name(page: Page) -> str:
    return f"{page.code}-{page.name}"


def each_page(wanted: Callable[[Page], object] = bool) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", list(filter(wanted, PAGES)), ids=name)


def has_rule(page: Page) -> bool:
    return page.code in RULES


def has_pair(page: Page) -> bool:
    return page.pair is not None


def marks(source: str) -> set[tuple[int, str]]:
    """The rows, from 1, that say in a comment which codes must be reported there."""
    found = enumerate((_MARK.search(line) for line in source.splitlines()), start=1)
    return {(row, code) for row, mark in found if mark for code in re.split(r",\s*", mark["codes"])}


def linted(page: Page) -> list[Block]:
    return [block for kind in ("bad", "good", "ok") for block in page.of_kind(kind)]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Block], ModuleType]:
    """Imports a block as a module with a file of its own, so that a loader's workers can import it as well."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(block: Block) -> ModuleType:
        module = f"{tmp_path.name}_{block.kind}_{block.row}"
        (tmp_path / f"{module}.py").write_text(block.source, encoding="utf-8")
        importlib.invalidate_caches()
        return importlib.import_module(module)

    return load


def assert_equal_results(got: Any, wanted: Any) -> None:
    """Compare what two entries return, tensors and numbers with a tolerance that follows the dtype."""
    torch = pytest.importorskip("torch")
    if isinstance(wanted, Mapping):
        assert got.keys() == wanted.keys()
        assert_equal_results(list(got.values()), list(wanted.values()))
    elif isinstance(wanted, Sequence) and not isinstance(wanted, str):
        assert len(got) == len(wanted)
        for ours, theirs in zip(got, wanted, strict=True):
            assert_equal_results(ours, theirs)
    elif isinstance(wanted, float):
        # A number read from a float32 tensor, or summed on the host in float64 where the other summed on the device.
        assert math.isclose(got, wanted, rel_tol=1e-5, abs_tol=1e-6)
    elif isinstance(wanted, torch.Tensor):
        torch.testing.assert_close(got, wanted, equal_nan=True)
    else:
        assert got == wanted


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert {(rule.code, rule.name) for rule in catalogue()} == {(page.code, page.name) for page in PAGES}


@each_page()
def test_structure(page: Page) -> None:
    assert tuple(page.sections) == pages.SECTIONS
    assert all(page.sections.values()), "a section is empty"
    assert page.summary.endswith(".")
    assert {block.section for block in page.of_kind("bad")} == {"Example"}
    assert {block.section for block in page.of_kind("good")} == {"Use instead"}
    assert "When it is fine" in {block.section for block in page.of_kind("ok")}
    assert _MEASURED.search(page.sections["Measured"])
    assert re.findall(r"^- \*\*(.+?)\*\*", page.sections["What it trades"], re.MULTILINE) == _TRADES
    assert all(_REFERENCE.fullmatch(line) for line in page.sections["References"].splitlines())
    # What costs on a device is PyTorch's own word; of suppressions and files that do not parse it says nothing.
    assert page.code.startswith("TL0") or "pytorch.org/" in page.sections["References"]
    assert page.sections["Measured"].startswith("No pair is run: ") == (page.pair is None)


@each_page(has_rule)
def test_fires_exactly_where_marked(page: Page) -> None:
    for block in linted(page):
        wanted = {(row, code) for row, code in marks(block.source) if code == page.code}
        assert bool(wanted) == (block.kind == "bad"), f"marks in the block at line {block.row}"
        assert lint(block.source, page.code) == wanted, f"the {block.kind} block at line {block.row}"


@each_page()
def test_no_other_default_rule_fires(page: Page) -> None:
    chosen = DEFAULT | {page.code} if has_rule(page) else DEFAULT
    for block in linted(page):
        wanted = {(row, code) for row, code in marks(block.source) if code in chosen}
        assert lint(block.source, *chosen) == wanted, f"the {block.kind} block at line {block.row}"


@each_page(lambda page: page.code in FIXABLE)
def test_the_fixes_turn_bad_into_good(page: Page) -> None:
    bad, good = (page.of_kind(kind)[0].source for kind in ("bad", "good"))
    repaired = repair(bad, *DEFAULT, page.code)
    if repaired == bad and page.code not in ALWAYS_FIXED:
        pytest.skip("what the example needs is only shown")
    # Comments and layout are the writer's: `bad` carries marks, `good` may carry an explanation.
    assert ast.unparse(ast.parse(repaired)) == ast.unparse(ast.parse(good))


@each_page(has_rule)
def test_blocks_import(page: Page, load: Callable[[Block], ModuleType]) -> None:
    pytest.importorskip("torch")
    for block in linted(page):
        load(block)


@each_page(has_pair)
def test_sizes_are_those_of_the_inputs(page: Page, load: Callable[[Block], ModuleType]) -> None:
    pytest.importorskip("torch")
    assert page.pair is not None
    hints = load(page.pair[2])
    assert list(hints.SIZES) == ["small", "medium", "large"]
    accepted = list(inspect.signature(hints.inputs).parameters)
    for size in hints.SIZES.values():
        assert accepted == ["device", "dtype", *size]


@each_page(has_pair)
def test_pair_gives_equal_results(page: Page, load: Callable[[Block], ModuleType]) -> None:
    torch = pytest.importorskip("torch")
    assert page.pair is not None
    bad, good, inputs = map(load, page.pair)
    results = []
    for module in (bad, good):
        arguments = inputs.inputs(torch.device("cpu"), torch.float32, **inputs.SIZES["small"])
        torch.manual_seed(0)
        results.append(getattr(module, inputs.ENTRY)(*arguments))
    assert results[0] is not None, "an entry returns what matters"
    assert_equal_results(results[1], results[0])

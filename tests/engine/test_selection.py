"""Which rules run: selectors and their precedence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from torchlint.engine import selection
from torchlint.engine.selection import RuleInfo, Selection, UnknownSelectorError, expand, resolve

RULES = tuple(
    RuleInfo(code, name, bottleneck, "", default=default)
    for code, name, bottleneck, default in (
        ("TL001", "unused-suppression", "suppression", True),
        ("TL101", "sync-scalar-read", "sync", True),
        ("TL102", "sync-branch", "sync", True),
        ("TL201", "loop-over-tensor", "python", True),
        ("TL210", "table-rebuilt-per-call", "python", False),
        ("TL601", "retained-graph-sum", "memory", True),
    )
)
ALL = {rule.code for rule in RULES}
DEFAULT = {rule.code for rule in RULES if rule.default}


@pytest.fixture(autouse=True)
def _few_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(selection, "catalogue", lambda: RULES)
    selection._selectors.cache_clear()
    yield
    selection._selectors.cache_clear()


def chosen(*selections: Selection) -> set[str]:
    return set(resolve(selections, DEFAULT))


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("ALL", ALL),
        ("TL", ALL),
        ("TL1", {"TL101", "TL102"}),
        ("TL10", {"TL101", "TL102"}),
        ("TL102", {"TL102"}),
        ("sync-branch", {"TL102"}),
        ("sync", {"TL101", "TL102"}),
        ("python", {"TL201", "TL210"}),
    ],
)
def test_what_a_selector_selects(selector: str, codes: set[str]) -> None:
    assert expand(selector) == codes


@pytest.mark.parametrize(
    ("selector", "hint"),
    [("tl101", "'TL101'"), ("TL1O1", "'TL101'"), ("sync-brunch", "'sync-branch'"), ("snyc", "'sync'")],
)
def test_an_unknown_selector_names_the_nearest(selector: str, hint: str) -> None:
    with pytest.raises(UnknownSelectorError, match=f"no rule is called '{selector}'; did you mean {hint}"):
        expand(selector)


@pytest.mark.parametrize("selector", ["", "?", "xyzzy-quux"])
def test_what_is_like_nothing_gets_no_hint(selector: str) -> None:
    with pytest.raises(UnknownSelectorError) as failure:
        expand(selector)
    assert "did you mean" not in str(failure.value)


def test_nothing_said_is_the_default_set() -> None:
    assert chosen(Selection()) == DEFAULT
    assert chosen() == DEFAULT


def test_select_replaces_the_default_set_and_extend_adds_to_it() -> None:
    assert chosen(Selection(select=("TL210",))) == {"TL210"}
    assert chosen(Selection(extend_select=("TL210",))) == DEFAULT | {"TL210"}
    assert chosen(Selection(select=("sync",), extend_select=("TL601",))) == {"TL101", "TL102", "TL601"}
    assert chosen(Selection(select=())) == set()


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        ("ALL", "TL1", ALL - {"TL101", "TL102"}),
        ("TL101", "TL1", {"TL101"}),
        ("TL1", "TL101", {"TL102"}),
        ("sync-branch", "sync", {"TL102"}),
        ("TL10", "TL1", {"TL101", "TL102"}),
        # Equally specific: the ignore wins.
        ("TL1", "TL1", set()),
        ("sync", "TL1", set()),
        ("TL101", "sync-scalar-read", set()),
    ],
)
def test_the_more_specific_selector_wins(select: str, ignore: str, codes: set[str]) -> None:
    assert chosen(Selection(select=(select,), ignore=(ignore,))) == codes


def test_the_command_line_is_laid_over_the_file() -> None:
    file = Selection(select=("TL1",), ignore=("TL101",))
    assert chosen(file, Selection(select=("TL2",))) == {"TL201", "TL210"}
    assert chosen(file, Selection(select=("TL101",))) == {"TL101"}
    assert chosen(file, Selection(extend_select=("TL601",))) == {"TL102", "TL601"}
    assert chosen(file, Selection(ignore=("TL102",))) == set()
    assert chosen(file, Selection()) == {"TL102"}


def test_a_file_that_only_ignores_still_does_when_the_command_line_selects() -> None:
    file = Selection(ignore=("TL101",))
    assert chosen(file, Selection(select=("TL1",))) == {"TL102"}
    assert chosen(file, Selection(select=("TL101",), ignore=())) == set()

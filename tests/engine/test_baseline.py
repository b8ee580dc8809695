"""The baseline: what it accepts, what it drops, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from torchlint.engine.baseline import Baseline, BaselineError
from torchlint.findings import Confidence, Finding, Impact, Position


class Tree:
    """Files in memory, and findings of TL101 at each line that calls `item`."""

    def __init__(self, **files: str) -> None:
        self.files = {f"{name}.py": text.split("\n") for name, text in files.items()}

    def source(self, filename: str, _cell: int | None) -> Sequence[str]:
        return self.files[filename]

    def findings(self, *names: str, code: str = "TL101") -> list[Finding]:
        return [
            Finding(
                code, "sync-scalar-read", "reads", name, Position(row, 1), Position(row, 2), "sync",
                Confidence.SURE, Impact.LOW, f"{name}{row}",
            )
            for name in names or self.files
            for row, line in enumerate(self.files[name], start=1)
            if ".item()" in line
        ]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def accepting(tree: Tree) -> Baseline:
    return Baseline(Path("base.json")).updated(tree.findings(), tree.source, tree.files)


RULES = frozenset({"TL001", "TL101"})


def test_accepts_what_it_was_made_of() -> None:
    tree = Tree(a="x = a.item()\ny = b.item()")
    split = accepting(tree).split(tree.findings(), tree.source, tree.files, RULES)
    assert (split.new, split.unused) == ([], [])
    assert len(split.known) == 2


def test_moved_and_reformatted_lines_stay_accepted() -> None:
    baseline = accepting(Tree(a="x = a.item()"))
    moved = Tree(a="import torch\n\n\nif True:\n    x  =  a . item()\n    x=a.item()".replace(" . ", "."))
    split = baseline.split(moved.findings(), moved.source, moved.files, RULES)
    # One was accepted, so the second of two is new.
    assert [finding.start.row for finding in split.known] == [5]
    assert [finding.start.row for finding in split.new] == [6]


def test_another_rule_line_or_file_is_new() -> None:
    tree = Tree(a="x = a.item()")
    baseline = accepting(tree)
    assert baseline.split(tree.findings(code="TL102"), tree.source, [], RULES).new
    for other in (Tree(a="z = a.item()"), Tree(b="x = a.item()")):
        assert len(baseline.split(other.findings(), other.source, [], RULES).new) == 1


def test_an_entry_that_matches_nothing_is_reported_where_it_stands() -> None:
    baseline = accepting(Tree(a="x = a.item()\ny = b.item()", b="z = c.item()"))
    Path("base.json").write_text(baseline.text())
    now = Tree(a="x = a.item()", b="")
    (unused,) = baseline.split(now.findings(), now.source, ["a.py"], RULES).unused
    assert (unused.code, unused.filename) == ("TL001", "base.json")
    assert "y=b.item()" in Path("base.json").read_text().split("\n")[unused.start.row - 1]


@pytest.mark.parametrize(
    ("visited", "rules"),
    [([], RULES), (["b.py"], RULES), (["a.py"], RULES - {"TL101"}), (["a.py"], RULES - {"TL001"})],
)
def test_nothing_is_said_of_files_that_were_not_visited_and_rules_that_did_not_run(
    visited: list[str], rules: frozenset[str]
) -> None:
    baseline = accepting(Tree(a="x = a.item()"))
    assert baseline.split([], Tree(a="").source, visited, rules).unused == []


def test_an_update_changes_what_it_visited_alone() -> None:
    before = accepting(Tree(a="x = a.item()", b="y = b.item()"))
    now = Tree(a="", b="other = b.item()")
    after = before.updated(now.findings("a.py"), now.source, ["a.py"])
    assert {entry.file for entry in after.counts} == {"b.py"}
    assert {entry.line for entry in after.counts} == {"y=b.item()"}


def test_files_that_are_gone_are_those_below_what_was_linted(tmp_path: Path) -> None:
    tree = Tree(a="x = a.item()", b="y = b.item()")
    baseline = accepting(tree)
    Path("a.py").write_text("x = a.item()")
    assert list(baseline.gone([Path("other")])) == []
    after = baseline.updated([], tree.source, baseline.gone([Path(".")]))
    assert {entry.file for entry in after.counts} == {"a.py"}


def test_is_written_sorted_with_one_line_an_entry_and_read_back() -> None:
    tree = Tree(b="y = b.item()\ny = b.item()", a='s = "漢\u202e", a.item()')
    baseline = accepting(tree)
    text = baseline.text()
    Path("base.json").write_text(text)
    assert Baseline.read(Path("base.json")).counts == baseline.counts
    assert json.loads(text) == {
        "version": 1,
        "files": {
            "a.py": [{"code": "TL101", "line": 's="漢\u202e",a.item()'}],
            "b.py": [{"code": "TL101", "line": "y=b.item()", "count": 2}],
        },
    }
    assert text.isascii()
    assert (
        accepting(Tree(**{name[:-3]: "\n".join(lines) for name, lines in reversed(tree.files.items())})).text() == text
    )


def test_names_are_relative_to_the_baseline(tmp_path: Path) -> None:
    tree = Tree(a="x = a.item()")
    baseline = Baseline(tmp_path / "ci/base.json").updated(tree.findings(), tree.source, tree.files)
    assert [entry.file for entry in baseline.counts] == ["../a.py"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "{", '{"version": 2, "files": {}}', '{"version": 1, "files": []}',
     '{"version": 1, "files": {"a": [1]}}', '{"version": 1, "files": {"a": [{"code": "TL101"}]}}',
     '{"version": 1, "files": {"a": [{"code": "TL101", "line": "x", "count": "many"}]}}', "[" * 100_000,
     '{"version": 1, "files": {"a": [{"code": "TL101", "line": "x", "count": Infinity}]}}'],
)  # fmt: skip
def test_what_is_no_baseline_is_said_in_one_line(text: str) -> None:
    Path("base.json").write_text(text)
    with pytest.raises(BaselineError, match=r"^base.json: is ") as failure:
        Baseline.read(Path("base.json"))
    assert "\n" not in str(failure.value)


def test_a_missing_one_says_how_to_make_it() -> None:
    with pytest.raises(BaselineError, match="'torchlint baseline create' makes one"):
        Baseline.read(Path("base.json"))

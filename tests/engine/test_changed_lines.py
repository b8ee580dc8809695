"""Lines that changed since a git revision."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.engine.changed_lines import GitError, changed_since
from torchlint.findings import Confidence, Finding, Impact, Position

LINES = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs git in a new repository, whose first commit, `base`, holds `a.py` with ten lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")

    def run(*arguments: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    run("init", "-b", "main")
    Path("a.py").write_text(LINES)
    run("add", "-A")
    run("commit", "-m", "base")
    run("tag", "base")
    return run


def touched(name: str, revision: str = "base", rows: int = 12, cell: int | None = None) -> list[int]:
    """The rows of the file `name` at which a finding would be reported."""
    changed = changed_since(revision, Path.cwd())
    return [
        row
        for row in range(1, rows)
        if changed.touches(
            Finding(
                "TL101",
                "n",
                "m",
                name,
                Position(row, 1),
                Position(row, 5),
                "sync",
                Confidence.SURE,
                Impact.LOW,
                "f",
                cell,
            )
        )
    ]


def test_changed_and_added_lines_count_and_others_do_not(git: Callable[..., None]) -> None:
    lines = LINES.splitlines(keepends=True)
    lines[2] = "changed\n"
    lines.insert(6, "added\n")
    del lines[9]
    Path("a.py").write_text("".join(lines))
    assert touched("a.py") == [3, 7]


def test_committed_and_staged_changes_count_too(git: Callable[..., None]) -> None:
    Path("a.py").write_text("first\n" + LINES)
    git("commit", "-am", "one")
    Path("b.py").write_text("x\ny\n")
    git("add", "b.py")
    assert touched("a.py") == [1]
    assert touched("b.py", rows=3) == [1, 2]


def test_a_file_that_git_does_not_know_is_new_as_a_whole(git: Callable[..., None]) -> None:
    Path("new.py").write_text("x\n")
    assert touched("new.py", rows=5) == [1, 2, 3, 4]


def test_what_git_ignores_or_knows_nothing_of_is_new_too(git: Callable[..., None], tmp_path: Path) -> None:
    Path(".gitignore").write_text("ignored.py\n")
    assert touched("ignored.py", rows=2) == [1]
    outside = tmp_path.parent / "outside.py"
    assert touched(str(outside), rows=2) == [1]


def test_a_file_that_was_renamed_keeps_its_lines(git: Callable[..., None]) -> None:
    git("mv", "a.py", "b 'c\".py")
    assert touched("b 'c\".py") == []
    Path("b 'c\".py").write_text(LINES.replace("line 5", "changed"))
    assert touched("b 'c\".py") == [5]


def test_files_of_a_submodule_are_those_of_another_repository(git: Callable[..., None]) -> None:
    inner = Path("inner")
    inner.mkdir()
    git("-C", "inner", "init")
    (inner / "a.py").write_text(LINES)
    git("-C", "inner", "add", "a.py")
    git("-C", "inner", "commit", "-m", "inner")
    assert touched("inner/a.py", rows=2) == [1]
    git("add", "inner")
    assert touched("inner/a.py", rows=2) == []


def test_a_worktree_and_a_shallow_clone_are_repositories(
    git: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("commit", "--allow-empty", "-m", "two")
    origin = Path.cwd()
    git("worktree", "add", str(tmp_path / "tree"), "base")
    git("clone", "--depth=1", origin.as_uri(), str(tmp_path / "shallow"))
    for folder in ("tree", "shallow"):
        monkeypatch.chdir(tmp_path / folder)
        Path("a.py").write_text(LINES + "more\n")
        assert touched("a.py", "HEAD") == [11]
    with pytest.raises(GitError, match="git knows no revision 'HEAD~1'"):
        changed_since("HEAD~1", Path.cwd())


def test_what_the_base_branch_got_meanwhile_is_no_change_of_ours(git: Callable[..., None]) -> None:
    git("checkout", "-b", "topic")
    Path("a.py").write_text(LINES + "ours\n")
    git("commit", "-am", "ours")
    git("checkout", "main")
    Path("a.py").write_text("theirs\n" + LINES)
    git("commit", "-am", "theirs")
    git("checkout", "topic")
    assert touched("a.py", "main") == [11]


@pytest.mark.parametrize("name", ["with space.py", 'tab\tquote".py', "漢字.py", "new\nline.py", "back\\slash.py"])
def test_names_that_git_quotes(name: str, git: Callable[..., None]) -> None:
    Path(name).write_text(LINES)
    git("add", "-A")
    git("commit", "-m", "odd")
    Path(name).write_text(LINES + "more\n")
    assert touched(name, "HEAD") == [11]


def test_lines_that_look_like_headers_do_not_confuse(git: Callable[..., None]) -> None:
    Path("other.py").write_text(LINES)
    git("add", "other.py")
    git("commit", "-m", "other")
    Path("a.py").write_text("++ b/other.py\n@@ -1 +5,3 @@\n" + LINES + "-- a/x\n")
    assert touched("a.py", "HEAD", rows=20) == [1, 2, 13]
    assert touched("other.py", "HEAD") == []


def test_works_from_a_folder_below(git: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub").mkdir()
    Path("sub/b.py").write_text("x\n")
    git("add", "-A")
    git("commit", "-m", "sub")
    Path("sub/b.py").write_text("x\ny\n")
    Path("sub/c.py").write_text("x\n")
    monkeypatch.chdir("sub")
    assert touched("b.py", "HEAD") == [2]
    assert touched("c.py", "HEAD", rows=2) == [1]


def test_a_range_counts_when_one_of_its_lines_changed(git: Callable[..., None]) -> None:
    Path("a.py").write_text(LINES.replace("line 5", "changed"))
    changed = changed_since("base", Path.cwd())

    def finding(first: int, last: int) -> Finding:
        place = (Position(first, 1), Position(last, 1))
        return Finding("TL201", "n", "m", "a.py", *place, "python", Confidence.SURE, Impact.LOW, "f")

    assert changed.touches(finding(3, 6))
    assert not changed.touches(finding(6, 9))


def test_a_notebook_counts_as_a_whole(git: Callable[..., None]) -> None:
    Path("n.ipynb").write_text("{\n}\n")
    git("add", "-A")
    git("commit", "-m", "notebook")
    assert touched("n.ipynb", "HEAD", rows=3, cell=1) == []
    Path("n.ipynb").write_text("{\n\n}\n")
    assert touched("n.ipynb", "HEAD", rows=3, cell=1) == [1, 2]


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "", "base:a.py"])
def test_what_is_no_revision(revision: str, git: Callable[..., None]) -> None:
    with pytest.raises(GitError, match=r"^--diff-base: git knows no revision"):
        changed_since(revision, Path.cwd())
    assert not Path("x").exists()


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitError, match=r"^--diff-base: .*not a git repository"):
        changed_since("HEAD", tmp_path)


def test_programs_that_the_repository_names_do_not_run(git: Callable[..., None], tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.py.command", "diff.py.textconv"):
        git("config", key, str(script))
    Path(".gitattributes").write_text("*.py diff=py\n")
    Path("a.py").write_text(LINES + "more\n")
    assert touched("a.py") == [11]
    assert not canary.exists()

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from torchlint.engine.settings import config_in
from torchlint.source.discovery import discover


@dataclass
class Rules:
    root: Path
    include: tuple[str, ...] = ("*.py", "*.ipynb")
    exclude: tuple[str, ...] = (".venv", "build", "node_modules", "__pycache__")
    force_exclude: bool = False
    respect_gitignore: bool = True


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "a.py",
        "b.txt",
        "n.ipynb",
        "pkg/c.py",
        "pkg/build/d.py",
        ".venv/e.py",
        "env/pyvenv.cfg",
        "env/lib/f.py",
        "pkg/generated_pb2.py",
        ".hidden/g.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


def found(tree: Path, *paths: str, **rules: object) -> list[str]:
    own = Rules(tree, **rules)  # type: ignore[arg-type]
    places = [tree / path for path in paths or (".",)]
    return [os.path.relpath(item.path, tree) for item in discover(places, lambda _: own) if not item.problem]


def test_folders_give_included_files_in_order_of_name(tree: Path) -> None:
    assert found(tree) == [".hidden/g.py", "a.py", "n.ipynb", "pkg/c.py", "pkg/generated_pb2.py"]


def test_a_named_file_is_linted_whatever_it_is_called_and_excluded_by(tree: Path) -> None:
    assert found(tree, "b.txt", "pkg/build/d.py") == ["b.txt", "pkg/build/d.py"]
    assert found(tree, "a.py", "pkg/build/d.py", ".venv/e.py", force_exclude=True) == ["a.py"]


def test_a_named_folder_is_walked_though_excluded(tree: Path) -> None:
    assert found(tree, "pkg/build") == ["pkg/build/d.py"]
    assert found(tree, "pkg/build", force_exclude=True) == []


def test_each_file_comes_once(tree: Path) -> None:
    assert found(tree, "pkg", "pkg/c.py", ".", "pkg/../a.py").count("pkg/c.py") == 1
    assert found(tree, "a.py", "./pkg/../a.py") == ["a.py"]


@pytest.mark.parametrize("pattern", ["pkg/c.py", "/pkg/c.py", "pkg/*.py", "**/c.py", "c.*"])
def test_excludes_are_gitignore_patterns_from_the_root(tree: Path, pattern: str) -> None:
    files = found(tree, exclude=(pattern, ".venv"))
    assert "pkg/c.py" not in files
    assert "a.py" in files


def test_the_last_pattern_that_matches_wins(tree: Path) -> None:
    assert found(tree, exclude=("*.py", "!c.py", ".venv")) == ["n.ipynb", "pkg/c.py"]


def test_gitignore_files_hold_at_every_level(tree: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".gitignore").write_text("# generated\n*_pb2.py\n/a.py\n.hidden/\n")
    (tree / "pkg" / ".gitignore").write_text("!generated_pb2.py\nc.py\n")
    assert found(tree) == ["n.ipynb", "pkg/generated_pb2.py"]
    assert found(tree, "pkg") == ["pkg/generated_pb2.py"]  # from within the repository as well
    assert "a.py" in found(tree, respect_gitignore=False)
    assert found(tree, "a.py") == ["a.py"]


def test_lines_of_gitignore_files_that_are_no_patterns_are_passed_over(tree: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".gitignore").write_bytes(b"\xff\xfe\n!\n[\n[z-a]\n" + b"a" * 1_000_000 + b"\n*_pb2.py\n")
    assert found(tree) == [".hidden/g.py", "a.py", "n.ipynb", "pkg/c.py"]


def test_a_folder_that_may_not_be_entered_is_said_and_the_others_are_walked(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "locked").mkdir()

    def denying(function: Callable[..., Any], locked: str) -> Callable[..., Any]:
        def denied(path: object, *given: object, **named: object) -> object:
            if str(path).startswith(locked):
                raise PermissionError(errno.EACCES, "Permission denied")
            return function(path, *given, **named)

        return denied

    monkeypatch.setattr(os, "scandir", denying(os.scandir, str(tree / "locked")))
    monkeypatch.setattr(os, "stat", denying(os.stat, str(tree / "locked") + os.sep))
    assert config_in(tree / "locked") is None
    items = list(discover([tree], lambda _: Rules(tree)))
    assert [(item.path.name, item.problem) for item in items if item.problem] == [
        ("locked", "cannot be read: Permission denied")
    ]
    assert "c.py" in [item.path.name for item in items]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_gitignore_that_is_no_regular_file_is_not_waited_for(tree: Path) -> None:
    (tree / ".git").mkdir()
    os.mkfifo(tree / ".gitignore")
    assert "a.py" in found(tree)


def test_links_to_files_are_followed_and_links_to_folders_are_not(tree: Path) -> None:
    (tree / "link.py").symlink_to(tree / "pkg" / "c.py")
    (tree / "loop").symlink_to(tree)
    (tree / "self.py").symlink_to(tree / "self.py")
    (tree / "dead.py").symlink_to(tree / "nowhere.py")
    files = found(tree)
    assert "link.py" in files
    assert not [file for file in files if file.startswith(("loop", "self", "dead"))]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_cannot_be_looked_at_is_said(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    problems = {
        item.path.name: item.problem for item in discover([tree / "pipe.py", tree / "gone.py"], lambda _: Rules(tree))
    }
    assert "regular" in problems["pipe.py"]
    assert "No such file" in problems["gone.py"]

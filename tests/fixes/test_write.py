from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from torchlint.fixes.write import WriteError, write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    return path


def test_content_is_replaced_and_mode_kept(file: Path) -> None:
    file.chmod(0o751)
    write(file, b"new", expected=b"old")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert os.listdir(file.parent) == ["a.py"]


def test_a_name_may_be_as_long_as_names_are(tmp_path: Path) -> None:
    path = tmp_path / f"{'é' * 126}.py"
    path.write_bytes(b"old")
    write(path, b"new", expected=b"old")
    assert path.read_bytes() == b"new"


def test_a_link_stays_a_link(file: Path) -> None:
    link = file.parent / "sub" / "link.py"
    link.parent.mkdir()
    link.symlink_to("../a.py")
    write(link, b"new", expected=b"old")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


def refused(path: Path, expected: bytes = b"old") -> str:
    before = sorted(os.listdir(path.parent))
    with pytest.raises(WriteError) as error:
        write(path, b"new", expected=expected)
    assert sorted(os.listdir(path.parent)) == before, "something was left behind"
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_that_changed_meanwhile_is_left(file: Path) -> None:
    assert "was changed" in refused(file, expected=b"older")
    assert file.read_bytes() == b"old"


def test_a_read_only_file_is_left(file: Path) -> None:
    file.chmod(0o444)
    assert "read-only" in refused(file)
    assert file.read_bytes() == b"old"


def test_a_file_that_is_gone_is_not_made_anew(file: Path) -> None:
    file.unlink()
    assert "cannot be written" in refused(file)
    assert not file.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_regular_files_are_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert "regular" in refused(tmp_path / "pipe.py")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_old_file_is_whole_whenever_writing_stops(file: Path, monkeypatch: Any, step: str) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    assert "No space left" in refused(file)
    assert file.read_bytes() == b"old"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process to kill")
def test_a_kill_in_the_middle_leaves_the_old_file_whole(file: Path, monkeypatch: Any) -> None:
    process = os.fork()
    if process == 0:
        os.fsync = lambda _: os.kill(os.getpid(), 9)
        write(file, b"new", expected=b"old")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -9
    assert file.read_bytes() == b"old"

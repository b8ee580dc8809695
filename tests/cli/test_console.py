"""Terminals, pipes and encodings that are less than one hopes for."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from torchlint.cli import console
from torchlint.cli.files import write_atomically
from torchlint.cli.progress import ProgressBar

Process = Callable[..., "subprocess.CompletedProcess[bytes]"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestStyle:
    def test_colours_on_a_terminal_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        assert console.style_for(Terminal()).color
        assert not console.style_for(io.StringIO()).color
        monkeypatch.setenv("TERM", "dumb")
        assert not console.style_for(Terminal()).color

    def test_the_environment_decides_over_the_stream(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert console.style_for(io.StringIO()).color
        monkeypatch.setenv("NO_COLOR", "1")
        assert not console.style_for(Terminal()).color

    @pytest.mark.parametrize(("columns", "used"), [("7", 20), ("20", 20), ("93", 93)])
    def test_columns(self, columns: str, used: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", columns)
        assert console.style_for(Terminal()).columns == used
        assert console.style_for(io.StringIO()).columns == 120


def test_a_closed_pipe_is_quiet(process: Process) -> None:
    command = f"{sys.executable} -m torchlint config --output-format json"
    done = subprocess.run(
        ["bash", "-c", f"{command} | true; echo ${{PIPESTATUS[0]}}"], capture_output=True, timeout=120, check=True
    )
    assert (done.stdout, done.stderr) == (b"0\n", b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("config >/dev/full", 2, b"error: standard output: cannot be written: No space left on device\n"),
        ("config >&-", 0, b""),
        ("check no_such_file.py 2>&-", 2, b""),
        ("check - --stdin-filename a.py <&-", 0, b""),
    ],
)
def test_streams_that_are_full_or_closed(command: str, status: int, said: bytes, tmp_path: Path) -> None:
    shell = ["bash", "-c", f"{sys.executable} -m torchlint {command}"]
    done = subprocess.run(shell, capture_output=True, timeout=120, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (status, said)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_characters_that_the_output_cannot_hold_are_escaped(encoding: str, process: Process) -> None:
    done = process("rule", "漢\udc80字", env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"\\u6f22\\udc80\\u5b57" in done.stderr


def test_writing_stops_when_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    console.write(["a", "b"], Closed())


class TestWriteAtomically:
    def test_replaces_and_keeps_the_mode(self, project: Path) -> None:
        target = project / "report.json"
        target.write_text("old")
        target.chmod(0o640)
        write_atomically(target, "漢字\n")
        assert target.read_bytes() == "漢字\n".encode()
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        assert os.listdir(project) == ["report.json"]

    def test_a_link_stays_one(self, project: Path) -> None:
        (project / "real").write_text("old")
        (project / "link").symlink_to("real")
        write_atomically(project / "link", "new")
        assert (project / "link").is_symlink()
        assert (project / "real").read_text() == "new"

    def test_a_failure_leaves_the_old_file_and_no_other(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        target = project / "report.json"
        target.write_text("old")

        def fail(_descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(click.ClickException, match=r"report\.json: cannot be written: No space left on device"):
            write_atomically(target, "new")
        assert target.read_text() == "old"
        assert os.listdir(project) == ["report.json"]

    def test_a_missing_folder_is_said(self, project: Path) -> None:
        with pytest.raises(click.ClickException, match="cannot be written: No such file or directory"):
            write_atomically(project / "no/report.json", "new")

    def test_a_device_is_written_to(self) -> None:
        write_atomically(Path(os.devnull), "new")
        assert not Path(os.devnull).is_file()


class TestProgressBar:
    @pytest.fixture
    def drawn(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
        """What a bar draws when `seconds` pass before the first file."""

        def draw(seconds: float, stream: io.StringIO, *, enabled: bool = True) -> str:
            clock = iter([0.0])
            monkeypatch.setattr("torchlint.cli.progress.monotonic", lambda: next(clock, seconds))
            monkeypatch.setattr(sys, "stderr", stream)
            monkeypatch.setenv("TERM", "xterm")
            with ProgressBar(enabled=enabled) as bar:
                bar(1, 20)
                bar(2, 20)
            return stream.getvalue()

        return draw

    def test_a_long_run_counts_files(self, drawn: Callable[..., str]) -> None:
        assert "2/20" in drawn(1.1, Terminal())

    def test_a_short_run_and_a_quiet_one_have_none(self, drawn: Callable[..., str]) -> None:
        assert drawn(0.9, Terminal()) == ""
        assert drawn(60, Terminal(), enabled=False) == ""

    def test_what_is_no_terminal_has_none(self, drawn: Callable[..., str]) -> None:
        assert drawn(60, io.StringIO()) == ""

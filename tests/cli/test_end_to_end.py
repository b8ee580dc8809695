"""The whole of it, in processes of its own, on files as they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from torchlint.report.formats import FORMATS

Process = Callable[..., "subprocess.CompletedProcess[bytes]"]

SLOW = """\
import torch


def train(model, loader, optimizer):
    model.cuda()
    for batch in loader:
        loss = model(batch.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""
READ = 11  # the row of SLOW that reads the loss

# The same read beside everything that could forge a report.
FORGERY = "\x1b[2J\x1b]0;owned\x07 \u202e \u2066 ]]></failure> ::error::x %0A <script>"
HOSTILE = SLOW.replace("        print(loss.item())", f'        s = "{FORGERY}"; print(loss.item())  # \x9b \u2069')


@pytest.fixture
def slow(project: Path) -> Path:
    path = project / "slow.py"
    path.write_text(SLOW)
    return path


def rows(done: subprocess.CompletedProcess[bytes]) -> list[tuple[str, int]]:
    """The code and row of each finding of a JSON report."""
    return [(finding["code"], finding["location"]["row"]) for finding in json.loads(done.stdout)]


def test_a_finding_and_its_frame(process: Process, slow: Path) -> None:
    done = process("--select=TL101", ".")
    assert (done.returncode, done.stderr) == (1, b"")
    text = done.stdout.decode()
    assert text.startswith("slow.py:11:15: TL101 ")
    assert "11 |         print(loss.item())\n   |               ^^^^^^^^^^^\n" in text
    assert "Found 1 finding in 1 file.\n" in text


def test_what_is_fine_is_0(process: Process, project: Path) -> None:
    (project / "fine.py").write_text("import torch\n")
    done = process()
    assert (done.returncode, done.stdout) == (0, b"All checks passed in 1 file.\n")


def test_standard_input(process: Process, project: Path) -> None:
    (project / "torchlint.toml").write_text("per-file-ignores = { 'quiet.py' = ['ALL'] }\n")
    arguments = ("--output-format=json", "--select=TL101", "-")
    assert rows(process(*arguments, input=SLOW.encode())) == [("TL101", READ)]
    named = process(*arguments, "--stdin-filename=pkg/slow.py", input=SLOW.encode())
    assert json.loads(named.stdout)[0]["filename"] == "pkg/slow.py"
    assert rows(process(*arguments, "--stdin-filename=quiet.py", input=SLOW.encode())) == []
    frame = process("--select=TL101", "-", input=SLOW.encode())
    assert b"print(loss.item())" in frame.stdout


def test_standard_input_repaired(process: Process) -> None:
    """The repaired text, in its own encoding and with its own line ends, takes standard output; the report does not."""
    text = SLOW.replace("print(loss.item())", "print(loss.item())\n        total += loss  # é")
    text = "# coding: latin-1\r\ntotal = 0\r\n" + text.replace("\n", "\r\n").replace(
        "    for", "    total = 0.0\r\n    for"
    )
    done = process("--select=TL601,TL101", "--fix", "-", "--output-format=concise", input=text.encode("latin-1"))
    assert done.stdout == text.replace("+= loss ", "+= loss.detach() ").encode("latin-1")
    assert b"TL101" in done.stderr
    assert b"Fixed 1 finding in 1 file." in done.stderr
    assert done.returncode == 1


def test_each_file_has_the_configuration_closest_to_it(process: Process, project: Path) -> None:
    for folder in ("a", "b", "b/c"):
        (project / folder).mkdir()
        (project / folder / "slow.py").write_text(SLOW)
    (project / "pyproject.toml").write_text("[tool.torchlint]\nselect = ['TL101']\n")
    (project / "b/torchlint.toml").write_text("ignore = ['ALL']\n")
    found = json.loads(process("--output-format=json").stdout)
    assert [finding["filename"] for finding in found] == ["a/slow.py"]
    (project / "b/torchlint.toml").write_text("selct = []\n")
    broken = process("--output-format=json")
    assert broken.returncode == 2
    assert broken.stderr.decode() == "error: b/torchlint.toml: unknown key 'selct'; did you mean 'select'?\n"


def test_a_path_that_is_not_there(process: Process, slow: Path) -> None:
    done = process("--select=TL101", "--output-format=json", "gone.py", "slow.py")
    assert done.returncode == 2
    assert done.stderr.decode() == "error: gone.py: cannot be read: No such file or directory\n"
    assert rows(done) == [("TL101", READ)]


def test_one_bad_file_stops_no_other(process: Process, slow: Path, project: Path) -> None:
    (project / "bad.py").write_bytes(SLOW.encode() + b"x = (\n")
    (project / "latin.py").write_bytes(b"import torch  # \xe9\n")
    done = process("--select=TL003,TL101", "--output-format=json")
    assert done.returncode == 1
    assert {code for code, _ in rows(done)} == {"TL003", "TL101"}
    assert len(rows(done)) == 3


def test_names_of_commands_and_paths(process: Process, slow: Path, project: Path) -> None:
    (project / "config").mkdir()
    (project / "config/slow.py").write_text(SLOW)
    assert b"select" in process("config").stdout
    assert rows(process("./config", "--select=TL101", "--output-format=json")) == [("TL101", READ)]


def test_show_files(process: Process, slow: Path, project: Path) -> None:
    (project / "notes.txt").write_text("")
    (project / "old").mkdir()
    (project / "old/x.py").write_text("")
    assert process("--show-files", "--extend-exclude=old").stdout == b"slow.py\n"
    gone = process("--show-files", "gone", "slow.py")
    assert (gone.returncode, gone.stdout) == (2, b"slow.py\n")


class TestHostileInput:
    def test_no_format_lets_it_through(self, process: Process, project: Path) -> None:
        (project / os.fsdecode(b"\xff\x1b[31m\n.py")).write_text(HOSTILE)
        to_files = [f"--output-format={name}=report.{name}" for name in FORMATS]
        done = process("--select=TL101", *to_files)
        assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
        for name in FORMATS:
            text = (project / f"report.{name}").read_bytes().decode("utf-8")
            assert not {char for char in text if unicodedata.category(char) in ("Cc", "Cf")} - {"\n"}, name
            assert not [line for line in text.splitlines() if line.startswith("::error::")]
            if name == "junit":
                assert len(ET.fromstring(text).findall(".//testcase")) == 1
            if name in ("json", "gitlab", "lsp", "sarif"):
                assert json.loads(text)

    def test_an_output_that_cannot_hold_it(self, process: Process, project: Path) -> None:
        (project / "hostile.py").write_text(HOSTILE.replace("owned", "漢字"))
        environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
        done = process("--select=TL101", env=environment)
        assert (done.returncode, done.stderr) == (1, b"")
        assert b"\\u6f22\\u5b57" in done.stdout


def test_a_closed_pipe_is_quiet(slow: Path) -> None:
    slow.write_text(SLOW + "        print(loss.item())\n" * 3000)
    command = f"{sys.executable} -m torchlint --select=TL101 slow.py | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=True)
    first, status = done.stdout.splitlines()
    assert first.startswith("slow.py:11:15")
    assert status == "1"
    assert done.stderr == ""


INTERRUPTED = """
import os, signal, time
from torchlint.cli import main
from torchlint.engine.job import Linter
from torchlint.source.stack import call_deep

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin without
lint = Linter.lint

def interrupted(self, job):
    if job.name == "b.py":
        os.kill(os.getpid(), signal.SIGINT)
        call_deep(lambda: time.sleep(600))
    return lint(self, job)

Linter.lint = interrupted
main(["--select=TL101", "--no-cache", "-j1", "--output-format=concise"])
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to itself")
def test_ctrl_c_reports_what_was_found(project: Path) -> None:
    for name in ("a.py", "b.py"):
        (project / name).write_text(SLOW)
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, timeout=120)
    assert done.returncode == 130
    assert done.stdout.startswith(b"a.py:11:15: TL101 ")
    assert b"b.py" not in done.stdout
    assert b"Traceback" not in done.stderr


def test_the_cache_gives_the_same_answer(process: Process, slow: Path, project: Path) -> None:
    arguments = ("--select=TL101", "--output-format=json")
    first, second = process(*arguments), process(*arguments)
    assert first.stdout == second.stdout
    assert (project / ".torchlint_cache").is_dir()
    assert process("clean").returncode == 0
    assert not (project / ".torchlint_cache").exists()


def test_baseline_from_start_to_end(process: Process, slow: Path, project: Path) -> None:
    assert process("baseline", "create").returncode == 0
    (project / "torchlint.toml").write_text("baseline = 'torchlint-baseline.json'\n")
    assert process().returncode == 0
    # The old read moves, and a new one comes in.
    slow.write_text("# moved\n" + SLOW + "        total = float(loss)\n")
    done = process("--select=TL101,TL001", "--output-format=json")
    assert rows(done) == [("TL101", READ + 2)]
    # What is repaired is reported until the baseline forgets it.
    slow.write_text(SLOW.replace("print(loss.item())", "pass"))
    stale = json.loads(process("--select=TL101,TL001", "--output-format=json").stdout)
    assert [(finding["code"], finding["filename"]) for finding in stale] == [("TL001", "torchlint-baseline.json")]
    assert process("baseline", "update").returncode == 0
    assert process().returncode == 0

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.fakes import fake_rule, settings, use_rules
from torchlint.engine import job, pool, run
from torchlint.engine.settings import Configuration
from torchlint.findings import Finding

SLOW = "loader = slow()\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py", "sub/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(SLOW)
    return tmp_path


def places(result: run.RunResult) -> list[tuple[str, str]]:
    return [(finding.filename, finding.code) for finding in result.findings]


EXPECTED = [("a.py", "TL101"), ("b.py", "TL101"), (os.path.join("sub", "c.py"), "TL101")]


def test_findings_come_in_the_order_of_files_named_from_here(project: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    seen: list[tuple[int, int]] = []
    result = run.check([project], settings(project), progress=lambda done, total: seen.append((done, total)))
    assert places(result) == EXPECTED
    assert result.files == [name for name, _ in EXPECTED]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert list(result.source("a.py", None)) == ["loader = slow()", ""]
    monkeypatch.chdir(project / "sub")
    assert places(run.check([project / "a.py"], settings(project))) == [(str(project / "a.py"), "TL101")]


def test_standard_input_takes_the_place_of_files(project: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    result = run.check([Path("-")], settings(project), stdin=b"\n" + SLOW.encode(), stdin_filename="sub/x.py")
    assert places(result) == [(os.path.join("sub", "x.py"), "TL101")]
    assert list(result.source(os.path.join("sub", "x.py"))) == ["", "loader = slow()", ""]
    excluded = settings(project, exclude=("sub",), force_exclude=True)
    assert places(run.check([Path("-")], excluded, stdin=SLOW.encode(), stdin_filename="sub/x.py")) == []


def test_each_file_has_the_settings_closest_to_it(project: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    (project / "torchlint.toml").write_text('select = ["TL101"]\n')
    (project / "sub" / "torchlint.toml").write_text('ignore = ["TL101"]\n')
    result = run.check([project], Configuration({"cache": False}))
    assert places(result) == EXPECTED[:2]


def test_a_file_that_no_memory_holds_is_not_read(project: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    with (project / "b.py").open("wb") as file:
        file.truncate(1 << 40)  # which takes no room on the disk
    result = run.check([project], settings(project))
    assert [(name, code) for name, code in places(result) if name == "b.py"] == [("b.py", "TL003")]
    assert len(places(result)) == len(EXPECTED)


def test_files_that_cannot_be_read_do_not_stop_the_others(project: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())
    (project / "a.py").write_bytes(b"'\xff'\n")
    read = job.read_source

    def vanished(path: Path) -> bytes:
        if path.name == "b.py":
            raise FileNotFoundError(2, "No such file or directory")
        return read(path)

    monkeypatch.setattr(job, "read_source", vanished)
    result = run.check([project, project / "nowhere.py"], settings(project))
    assert places(result) == [("a.py", "TL003"), ("b.py", "TL003"), EXPECTED[2]]
    (error,) = result.errors
    assert error.startswith("nowhere.py: ")


def test_ctrl_c_gives_what_was_found_until_then(project: Path, monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule())

    def interrupt(done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    result = run.check([project], settings(project), progress=interrupt)
    assert result.interrupted
    assert places(result) == EXPECTED[:2]


class TestWorkers:
    """The pool, with rules that the forked workers inherit."""

    pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fakes reach workers by fork alone")

    @pytest.fixture(autouse=True)
    def _always(self, monkeypatch: Any) -> None:
        use_rules(monkeypatch, fake_rule())
        monkeypatch.setattr(run, "_WORTH_WORKERS", 0)
        monkeypatch.setattr(pool.threading, "active_count", lambda: 1)  # the runner's own threads hold no lock of ours

    def test_they_find_what_one_process_finds(self, project: Path) -> None:
        assert places(run.check([project], settings(project, jobs=2))) == EXPECTED

    @pytest.mark.parametrize(
        "victims", [("a.py",), ("b.py",), ("a.py", "b.py"), ("a.py", "b.py", os.path.join("sub", "c.py"))]
    )
    def test_one_that_dies_costs_the_file_it_held(
        self, project: Path, monkeypatch: Any, victims: tuple[str, ...]
    ) -> None:
        lint = job.lint_document

        def deadly(source: Any, *arguments: Any) -> Any:
            if source.path in victims:
                os.kill(os.getpid(), signal.SIGKILL)
            return lint(source, *arguments)

        monkeypatch.setattr(job, "lint_document", deadly)
        result = run.check([project], settings(project, jobs=2))
        assert dict(places(result)) == {name: "TL003" if name in victims else "TL101" for name, _ in EXPECTED}
        assert all("SIGKILL" in finding.message for finding in result.findings if finding.code == "TL003")

    def test_one_that_hangs_costs_the_file_it_held(self, project: Path, monkeypatch: Any) -> None:
        import time

        lint = job.lint_document

        def endless(source: Any, *arguments: Any) -> Any:
            while source.path == "b.py":
                time.sleep(1)
            return lint(source, *arguments)

        monkeypatch.setattr(job, "lint_document", endless)
        monkeypatch.setattr(pool, "_PATIENCE", 3.0)
        assert dict(places(run.check([project], settings(project, jobs=2)))) == dict(EXPECTED) | {"b.py": "TL003"}

    @pytest.mark.parametrize("startable", [0, 1])
    def test_what_no_worker_does_is_done_here(self, project: Path, monkeypatch: Any, startable: int) -> None:
        started: list[object] = []

        class Scarce(pool._Worker):
            def __init__(self, *arguments: Any) -> None:
                if len(started) == startable:
                    raise BlockingIOError("no more processes")
                started.append(self)
                super().__init__(*arguments)

        monkeypatch.setattr(pool, "_Worker", Scarce)
        assert places(run.check([project], settings(project, jobs=2))) == EXPECTED

    def test_ctrl_c_ends_them(self, project: Path) -> None:
        def interrupt(_done: int, _total: int) -> None:
            raise KeyboardInterrupt

        result = run.check([project], settings(project, jobs=2), progress=interrupt)
        assert result.interrupted
        assert len(result.files) == 1
        import multiprocessing

        assert multiprocessing.active_children() == []


def test_workers_can_be_started_beside_threads(project: Path) -> None:
    """By a fresh interpreter then, which knows the real rules alone."""
    script = f"""
import threading, time
from pathlib import Path
from torchlint.engine import run
from torchlint.engine.settings import Configuration
run._WORTH_WORKERS = 0
if __name__ == "__main__":
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
    result = run.check([Path({str(project)!r})], Configuration({{"jobs": 2, "cache": False}}, isolated=True))
    print(len(result.files), result.errors)
"""
    (project / "main.py").write_text(script)
    done = subprocess.run([sys.executable, project / "main.py"], capture_output=True, text=True, timeout=120)
    assert done.stdout == "4 []\n", done.stderr


class TestCache:
    @pytest.fixture(autouse=True)
    def _rules(self, monkeypatch: Any) -> None:
        use_rules(monkeypatch, fake_rule())

    @pytest.fixture
    def linted(self, monkeypatch: Any) -> list[str]:
        """The names of the files that were linted, not looked up."""
        names: list[str] = []
        lint = job.lint_document

        def counted(source: Any, *arguments: Any) -> Any:
            names.append(source.path)
            return lint(source, *arguments)

        monkeypatch.setattr(job, "lint_document", counted)
        return names

    def check(self, project: Path, **changes: Any) -> list[Finding]:
        return run.check([project], settings(project, cache_dir=project / ".cache", **changes)).findings

    def test_only_what_changed_is_linted_again(self, project: Path, linted: list[str]) -> None:
        first = self.check(project)
        assert len(linted) == 3
        assert self.check(project) == first
        assert len(linted) == 3
        (project / "b.py").write_text(SLOW + SLOW)
        assert len(self.check(project)) == 4
        assert linted[3:] == ["b.py"]

    def test_other_settings_have_other_results(self, project: Path, linted: list[str]) -> None:
        self.check(project)
        assert self.check(project, rules=frozenset({"TL102"})) == []
        assert self.check(project, per_file_ignores=(("b.py", frozenset({"TL101"})),)) != []
        assert len(linted) == 9

    def test_damaged_entries_are_made_again(self, project: Path, linted: list[str]) -> None:
        first = self.check(project)
        entries = [path for path in (project / ".cache").rglob("*") if path.is_file() and len(path.name) == 62]
        assert len(entries) == 3
        for entry, damage in zip(entries, ((b"}", b""), (b'"row', b'"raw'), (b"TL101", b"TL102")), strict=True):
            data = entry.read_bytes()
            entry.write_bytes(data[:-1] if damage[0] not in data else data.replace(*damage))
        assert self.check(project) == first
        assert len(linted) == 6

    def test_it_marks_itself_as_a_cache(self, project: Path) -> None:
        self.check(project)
        assert (
            (project / ".cache" / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
        )

    def test_a_cache_that_cannot_be_written_is_no_error(self, project: Path) -> None:
        (project / ".cache").write_text("a file is in the way")
        result = run.check([project], settings(project, cache_dir=project / ".cache"))
        assert places(result) == EXPECTED
        assert result.errors == []

    def test_it_is_bounded(self, project: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr("torchlint.engine.cache._MOST_ENTRIES", 4)
        for number in range(4):
            (project / "a.py").write_text(SLOW + f"x = {number}\n")
            self.check(project)
        entries = [path for path in (project / ".cache").rglob("*") if path.is_file() and len(path.name) == 62]
        assert 0 < len(entries) <= 4

    def test_faults_are_not_kept(self, project: Path, monkeypatch: Any) -> None:
        use_rules(monkeypatch, fake_rule(failing=True))
        for _ in range(2):
            result = run.check([project], settings(project, cache_dir=project / ".cache"))
            assert len(result.errors) == 3

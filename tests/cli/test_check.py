"""check: what is reported where, and the exit status."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Linter, Ran, finding
from torchlint.engine.regions import code_hash
from torchlint.findings import Applicability, Edit, Fix, Impact, Position

Call = Callable[..., Ran]


class TestStatus:
    def test_nothing_found(self, torchlint: Call, linter: Linter) -> None:
        assert torchlint() == Ran(0, "All checks passed in 1 file.\n", "")
        assert linter.asked == [(Path("."),)]

    def test_findings(self, torchlint: Call, linter: Linter) -> None:
        linter.findings = [finding()]
        ran = torchlint("check", "a.py", "--output-format", "concise")
        assert ran == Ran(1, "a.py:3:5: TL101 `loss.item()` waits\nFound 1 finding in 1 file.\n", "")
        assert linter.asked == [(Path("a.py"),)]

    def test_exit_zero(self, torchlint: Call, linter: Linter) -> None:
        linter.findings = [finding()]
        assert torchlint("--exit-zero").status == 0

    def test_an_error_is_2_and_the_rest_is_reported(self, torchlint: Call, linter: Linter) -> None:
        linter.findings, linter.errors = [finding()], ["b.py: TL101 failed: KeyError"]
        ran = torchlint("--exit-zero")
        assert ran.status == 2
        assert "a.py:3:5" in ran.out
        assert ran.err == "error: b.py: TL101 failed: KeyError\n"

    def test_ctrl_c_shows_what_there_is(self, torchlint: Call, linter: Linter) -> None:
        linter.findings, linter.interrupted = [finding()], True
        ran = torchlint()
        assert ran.status == 130
        assert "a.py:3:5" in ran.out

    def test_quiet_prints_findings_alone(self, torchlint: Call, linter: Linter) -> None:
        assert torchlint("-q") == Ran(0, "", "")
        linter.findings = [finding()]
        assert torchlint("-q", "--output-format=concise").out == "a.py:3:5: TL101 `loss.item()` waits\n"


class TestReports:
    def test_several_at_once(self, torchlint: Call, linter: Linter, project: Path) -> None:
        linter.findings = [finding()]
        ran = torchlint("--output-format=concise", "--output-format", "sarif=out.sarif", "--output-format=json=x.json")
        assert ran.out.startswith("a.py:3:5: TL101")
        assert json.loads((project / "x.json").read_text())[0]["code"] == "TL101"
        assert json.loads((project / "out.sarif").read_text())["version"] == "2.1.0"

    def test_an_output_file_leaves_standard_output_empty(self, torchlint: Call, linter: Linter, project: Path) -> None:
        linter.findings = [finding()]
        assert torchlint("--output-format=json", "-o", "x.json") == Ran(1, "", "")
        assert json.loads((project / "x.json").read_text())[0]["code"] == "TL101"

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--output-format=sariff"], "output-format: no format is called 'sariff'; did you mean 'sarif'?"),
            (["--output-format=json", "--output-format=full"], "output-format: json and full would go to the same "
             "place; write FORMAT=FILE for all but one"),
            (["--output-file=no/x.json"], "no/x.json: cannot be written: No such file or directory"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_done_is_said(
        self, arguments: list[str], said: str, torchlint: Call, linter: Linter
    ) -> None:
        ran = torchlint(*arguments)
        assert (ran.status, ran.err) == (2, f"error: {said}\n")

    def test_the_configuration_names_the_format(self, torchlint: Call, linter: Linter, project: Path) -> None:
        (project / "torchlint.toml").write_text("output-format = ['json']\n")
        assert torchlint().out == "[]\n"
        assert torchlint("--output-format=json-lines").out == ""

    def test_statistics_replace_the_findings(self, torchlint: Call, linter: Linter) -> None:
        linter.findings = [finding(1), finding(2)]
        assert torchlint("--statistics", "-q").out == "2  TL101  sync-scalar-read\n"
        data = json.loads(torchlint("--statistics", "--output-format=json").out)
        assert data == [{"code": "TL101", "name": "sync-scalar-read", "count": 2, "fixable": 0}]

    def test_the_source_is_shown(self, torchlint: Call, linter: Linter) -> None:
        linter.findings = [finding(3, advice="read it once")]
        out = torchlint().out
        assert "3 | x2 = loss.item()" in out
        assert "= help: read it once" in out


class TestConfiguration:
    def settings(self, linter: Linter, project: Path):  # type: ignore[no-untyped-def]
        assert linter.configuration is not None
        return linter.configuration.for_folder(project)

    def test_options_reach_the_engine(self, torchlint: Call, linter: Linter, project: Path) -> None:
        torchlint(
            "--select=TL1,TL601", "--ignore", "TL102", "--extend-select=loop-over-tensor", "--min-impact=high",
            "--per-file-ignores", "tests/*:TL1,TL601,docs/:sync", "--no-cache", "-j2", "--no-respect-gitignore",
            "--extend-exclude=a,b", "--config", "min-confidence = 'sure'" + " " * 300,  # no name of a file is as long
        )  # fmt: skip
        settings = self.settings(linter, project)
        assert {"TL101", "TL601", "TL201"} <= settings.rules
        assert not {"TL102", "TL301"} & settings.rules
        assert settings.min_impact is Impact.HIGH
        assert str(settings.min_confidence) == "sure"
        assert settings.cache_dir is None
        assert settings.jobs == 2
        assert settings.respect_gitignore is False
        assert settings.exclude[-2:] == ("a", "b")
        patterns = dict(settings.per_file_ignores)
        assert {"TL101", "TL601"} <= patterns["tests/*"]
        assert "TL101" in patterns["docs/"]
        assert "TL601" not in patterns["docs/"]

    def test_a_pattern_needs_its_rules(self, torchlint: Call, linter: Linter) -> None:
        ran = torchlint("--per-file-ignores", "tests/*")
        assert ran.status == 2
        assert "must be PATTERN:RULE" in ran.err

    def test_a_wrong_one_is_one_line(self, torchlint: Call, linter: Linter, project: Path) -> None:
        (project / "pyproject.toml").write_text("[tool.torchlint]\nselct = []\n")
        said = "error: pyproject.toml: unknown key 'selct'; did you mean 'select'?\n"
        assert torchlint() == Ran(2, "", said)
        assert torchlint("--isolated").status == 0
        assert linter.asked == [(Path("."),)]

    def test_isolated_and_a_file_contradict(self, torchlint: Call, linter: Linter) -> None:
        assert torchlint("--isolated", "--config=x.toml").status == 2
        assert torchlint("--config=x.toml").err == "error: x.toml: cannot be read: No such file or directory\n"

    def test_verbose_says_what_holds(self, torchlint: Call, linter: Linter, project: Path) -> None:
        (project / "torchlint.toml").write_text("select = ['TL101', 'TL601']\n")
        ran = torchlint("-v", "--no-cache")
        assert ran.err == "configuration: torchlint.toml\nrules: 2\ncache: none\nfiles: 1, suppressed findings: 0\n"
        assert torchlint("-v", "--isolated").err.startswith("configuration: defaults\n")

    def test_show_settings(self, torchlint: Call, linter: Linter) -> None:
        out = torchlint("--show-settings", "--select=TL101,TL601").out
        assert "rules = ['TL101', 'TL601']\n" in out
        assert linter.asked == []


class TestGates:
    def evidence(self, project: Path, **verdicts: tuple[str, float]) -> str:
        lines = Linter().lines["a.py"]
        findings = [
            {"fingerprint": name, "verdict": verdict, "code_hash": code_hash(lines, int(name.removeprefix("print"))),
             "ratio": {"median": low + 0.1, "low": low, "high": low + 0.2}}
            for name, (verdict, low) in verdicts.items()
        ]  # fmt: skip
        data = {"version": 1, "environment": {"name": "NVIDIA H200", "torch": "2.11"}, "findings": findings}
        (project / "evidence.json").write_text(json.dumps(data))
        return "--evidence=evidence.json"

    @pytest.mark.parametrize("gate", ["--fail-on=confirmed", "--min-speedup=1.1"])
    def test_a_gate_on_what_was_measured_needs_it(self, gate: str, torchlint: Call, linter: Linter) -> None:
        ran = torchlint(gate)
        assert (ran.status, ran.out, linter.asked) == (2, "", [])
        assert "judge what was measured" in ran.err

    def test_evidence_is_shown(self, torchlint: Call, linter: Linter, project: Path) -> None:
        linter.findings = [finding(3)]
        out = torchlint(self.evidence(project, print3=("confirmed", 1.25))).out
        assert "= measured: confirmed, x1.35 [1.25, 1.45], NVIDIA H200, torch 2.11" in out

    def test_only_confirmed_findings_fail(self, torchlint: Call, linter: Linter, project: Path) -> None:
        linter.findings = [finding(3), finding(4)]
        shown = self.evidence(project, print3=("no measurable cost", 1.0))
        assert torchlint(shown, "--fail-on=confirmed").status == 0
        assert torchlint(shown).status == 1
        assert torchlint(self.evidence(project, print4=("confirmed", 1.1)), "--fail-on=confirmed").status == 1

    def test_only_large_gains_fail(self, torchlint: Call, linter: Linter, project: Path) -> None:
        linter.findings = [finding(3)]
        shown = self.evidence(project, print3=("confirmed", 1.25))
        assert torchlint(shown, "--min-speedup=1.2").status == 1
        assert torchlint(shown, "--min-speedup=1.3").status == 0

    def test_a_baseline_takes_out_what_it_knows(self, torchlint: Call, linter: Linter) -> None:
        linter.findings = [finding(3)]
        assert torchlint("baseline", "create").status == 0
        linter.findings = [finding(3), finding(5)]
        ran = torchlint("--baseline=torchlint-baseline.json", "--output-format=concise")
        assert ran.out.splitlines()[0] == "a.py:5:5: TL101 `loss.item()` waits"
        assert "Found 1 finding in 1 file (1 suppressed)." in ran.out

    def test_a_baseline_that_is_not_there(self, torchlint: Call, linter: Linter, project: Path) -> None:
        ran = torchlint("--baseline=none.json")
        assert ran.status == 2
        assert "'torchlint baseline create' makes one" in ran.err

    def test_diff_base_takes_unchanged_lines_out(self, torchlint: Call, linter: Linter, project: Path) -> None:
        def git(*arguments: str) -> None:
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", *arguments], check=True)

        (project / "a.py").write_text("1\n2\n3\n4\n")
        git("init", "-q")
        git("add", "a.py")
        git("commit", "-q", "-m", "one")
        (project / "a.py").write_text("1\n2\n3\nchanged\n")
        linter.findings = [finding(3), finding(4)]
        ran = torchlint("--diff-base=HEAD", "--output-format=concise", "-q")
        assert ran.out == "a.py:4:5: TL101 `loss.item()` waits\n"
        assert torchlint("--diff-base=nowhere").status == 2


class TestBaselineCommand:
    def test_create_refuses_to_replace(self, torchlint: Call, linter: Linter, project: Path) -> None:
        linter.findings = [finding(3)]
        ran = torchlint("baseline", "create")
        said, how = ran.out.splitlines()
        assert (ran.status, said) == (0, "torchlint-baseline.json: accepts 1 finding, before 0.")
        (project / "torchlint.toml").write_text(how.partition(": ")[2])
        assert torchlint("-q") == Ran(0, "", "")
        assert torchlint("baseline", "update").out == "torchlint-baseline.json: accepts 1 finding, before 1.\n"
        before = (project / "torchlint-baseline.json").read_text()
        assert torchlint("baseline", "create").status == 2
        assert (project / "torchlint-baseline.json").read_text() == before

    def test_update_and_show(self, torchlint: Call, linter: Linter) -> None:
        linter.findings = [finding(3)]
        torchlint("baseline", "create")
        linter.findings = [finding(3), finding(4), finding(5, code="TL601")]
        assert torchlint("baseline", "update", "-q") == Ran(0, "", "")
        assert torchlint("baseline", "show").out == "a.py: TL101 2\na.py: TL601 1\n3 findings accepted.\n"

    @pytest.mark.parametrize(("trouble", "status"), [({"errors": ["b.py: broke"]}, 2), ({"interrupted": True}, 130)])
    def test_an_incomplete_run_writes_nothing(
        self, trouble: dict[str, object], status: int, torchlint: Call, linter: Linter, project: Path
    ) -> None:
        linter.findings = [finding(3)]
        for name, value in trouble.items():
            setattr(linter, name, value)
        ran = torchlint("baseline", "create")
        assert ran.status == status
        assert "not written" in ran.err
        assert list(project.iterdir()) == []

    def test_update_needs_one(self, torchlint: Call, linter: Linter) -> None:
        assert torchlint("baseline", "update").status == 2


class TestFixes:
    def test_the_summary_says_what_could_be_fixed(self, torchlint: Call, linter: Linter) -> None:
        edit = Edit(Position(3, 5), Position(3, 16), "loss.detach()")
        linter.findings = [
            finding(3, fix=Fix(Applicability.SAFE, "detach", (edit,))),
            finding(4, fix=Fix(Applicability.UNSAFE, "detach", (edit,))),
            finding(5, fix=Fix(Applicability.DISPLAY, "think", (edit,))),
        ]
        assert torchlint().out.endswith("[*] 1 fixable with --fix (1 more with --unsafe-fixes).\n")

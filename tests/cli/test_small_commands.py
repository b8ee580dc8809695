"""rule, config, init, clean."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml
from packaging.requirements import Requirement
from pre_commit.clientlib import load_config

from tests.cli.conftest import Ran
from torchlint import __version__
from torchlint.engine.settings import OPTIONS, Configuration
from torchlint.rules import pages

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Call = Callable[..., Ran]
ROOT = Path(__file__).parents[2]


class TestRule:
    def test_prints_the_page(self, torchlint: Call) -> None:
        assert torchlint("rule", "TL101") == Ran(0, pages.load("TL101").text, "")
        assert torchlint("rule", "sync-scalar-read").out == pages.load("TL101").text

    def test_a_selector_prints_several(self, torchlint: Call) -> None:
        out = torchlint("rule", "TL101", "sync-branch").out
        assert out.index("# sync-scalar-read (TL101)") < out.index("# sync-branch (TL102)")

    def test_rules_of_the_engine_have_a_page_too(self, torchlint: Call) -> None:
        assert torchlint("rule", "TL003").out == pages.load("TL003").text

    def test_all_is_a_table(self, torchlint: Call) -> None:
        lines = torchlint("rule", "--all").out.splitlines()
        assert lines[0].startswith("TL001  unused-suppression")
        assert [line[:5] for line in lines] == sorted(line[:5] for line in lines)

    def test_json(self, torchlint: Call) -> None:
        rules = json.loads(torchlint("rule", "--all", "--output-format", "json").out)
        first = next(rule for rule in rules if rule["code"] == "TL101")
        assert first["set"] == "default"
        assert first["bottleneck"] == "sync"
        assert first["explanation"] == pages.load("TL101").text
        assert json.loads(torchlint("rule", "TL101", "--output-format", "json").out) == first

    def test_a_terminal_gets_it_rendered(self, torchlint: Call, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        out = torchlint("rule", "TL101").out
        assert "sync-scalar-read (TL101)" in out
        assert "```python" not in out


class TestConfig:
    def test_lists_every_key(self, torchlint: Call) -> None:
        assert torchlint("config").out.split() == list(OPTIONS)

    def test_explains_a_key(self, torchlint: Call) -> None:
        out = torchlint("config", "min-confidence").out
        assert OPTIONS["min-confidence"].help in out
        assert 'Default value: "likely"' in out
        assert 'Type: "possible" | "likely" | "sure"' in out

    def test_json_and_schema(self, torchlint: Call) -> None:
        data = json.loads(torchlint("config", "--output-format", "json").out)
        assert data["select"]["default"] is None
        schema = json.loads(torchlint("config", "--schema").out)
        jsonschema.validate({"select": ["TL1"]}, schema)


class TestInit:
    def test_what_it_writes_is_read_and_changes_nothing(self, torchlint: Call, project: Path) -> None:
        ran = torchlint("init")
        assert (ran.status, ran.out.splitlines()[0]) == (0, "Wrote torchlint.toml.")
        written = Configuration(cwd=project).for_folder(project)
        assert written.config_file == project / "torchlint.toml"
        assert written.rules == Configuration(cwd=project, isolated=True).for_folder(project).rules

    def test_its_examples_are_right_when_they_are_uncommented(self, torchlint: Call, project: Path) -> None:
        torchlint("init")
        lines = (project / "torchlint.toml").read_text().splitlines()
        examples = [line.removeprefix("# ") for line in lines if line.startswith("# ") and " = " in line]
        assert len(examples) >= 5
        assert set(tomllib.loads("\n".join(examples))) <= set(OPTIONS)

    def test_the_hook_is_what_pre_commit_reads(self, torchlint: Call, project: Path) -> None:
        torchlint("init")
        (repository,) = load_config(str(project / ".pre-commit-config.yaml"))["repos"]
        (entry,) = repository["hooks"]
        (published,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
        common = ("id", "name", "entry", "language", "types_or", "require_serial")
        assert [entry[key] for key in common] == [published[key] for key in common]

    @pytest.mark.parametrize(
        ("recorded", "source", "is_shared"),
        [
            (None, f"torchlint=={__version__}", True),
            ({"url": "file:///my%20clone", "dir_info": {"editable": True}}, "torchlint @ file:///my%20clone", False),
            (
                {"url": "https://a.b/torchlint", "vcs_info": {"vcs": "git", "commit_id": "0123abc"}},
                "torchlint @ git+https://a.b/torchlint@0123abc",
                True,
            ),
            (
                {"url": "ssh://git@a.b/all.git", "vcs_info": {"vcs": "git", "commit_id": "0"}, "subdirectory": "lint"},
                "torchlint @ git+ssh://git@a.b/all.git@0#subdirectory=lint",
                True,
            ),
        ],
    )
    def test_the_hook_installs_torchlint_from_where_it_came(
        self,
        torchlint: Call,
        project: Path,
        monkeypatch: pytest.MonkeyPatch,
        recorded: dict[str, object] | None,
        source: str,
        is_shared: bool,
    ) -> None:
        metadata = project / f"torchlint-{__version__}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torchlint\nVersion: {__version__}\n")
        if recorded is not None:
            (metadata / "direct_url.json").write_text(json.dumps(recorded))
        monkeypatch.syspath_prepend(project)
        ran = torchlint("init")
        (repository,) = load_config(str(project / ".pre-commit-config.yaml"))["repos"]
        assert repository["hooks"][0]["additional_dependencies"] == [source]
        assert Requirement(source).name == "torchlint"
        assert ("only this machine" in ran.err) == (not is_shared)

    def test_hooks_that_are_there_stay(self, torchlint: Call, project: Path) -> None:
        hooks = project / ".pre-commit-config.yaml"
        hooks.write_text("repos: []\n")
        ran = torchlint("init")
        assert hooks.read_text() == "repos: []\n"
        assert "- id: torchlint" in ran.out

    def test_it_replaces_nothing_unasked(self, torchlint: Call, project: Path) -> None:
        (project / "torchlint.toml").write_text("select = ['TL1']\n")
        ran = torchlint("init")
        assert ran.status == 0
        assert ran.out.startswith("torchlint.toml configures torchlint here already, and stays as it is.\n")
        assert (project / "torchlint.toml").read_text() == "select = ['TL1']\n"
        assert torchlint("init", "--force").out.startswith("Wrote torchlint.toml.\n")

    def test_it_leaves_a_pyproject_alone(self, torchlint: Call, project: Path) -> None:
        (project / "pyproject.toml").write_text("[tool.torchlint]\n")
        assert torchlint("init", "--force").status == 0
        assert (project / "pyproject.toml").read_text() == "[tool.torchlint]\n"
        assert not (project / "torchlint.toml").exists()
        assert (project / ".pre-commit-config.yaml").exists()


class TestClean:
    def test_removes_caches_and_nothing_else(self, torchlint: Call, project: Path) -> None:
        for name in (".torchlint_cache", "sub/.torchlint_cache", "other"):
            (project / name).mkdir(parents=True)
            (project / name / "x").write_text("")
        ran = torchlint("clean")
        assert ran.status == 0
        assert sorted(path.name for path in project.rglob("*")) == ["other", "sub", "x"]

    def test_a_folder_that_is_no_cache_is_left_alone(self, torchlint: Call, project: Path) -> None:
        (project / "precious").mkdir()
        (project / "torchlint.toml").write_text("cache-dir = 'precious'\n")
        ran = torchlint("clean")
        assert "does not look like a cache" in ran.err
        assert (project / "precious").is_dir()

    def test_a_run_that_writes_meanwhile_is_no_obstacle(
        self, torchlint: Call, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (project / ".torchlint_cache").mkdir()
        removals = [OSError(errno.ENOTEMPTY, "Directory not empty"), None]

        def remove(folder: Path) -> None:
            if (error := removals.pop(0)) is not None:
                raise error
            folder.rmdir()

        monkeypatch.setattr("shutil.rmtree", remove)
        assert torchlint("clean").status == 0
        assert not (project / ".torchlint_cache").exists()

    def test_nothing_to_do(self, torchlint: Call) -> None:
        assert torchlint("clean") == Ran(0, "", "")

"""The GitHub action and the GitLab job, run as far as a machine without those services can."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
PYTHON = Path(sys.executable)

BAD = """\
import torch

model = torch.nn.Linear(4, 1).cuda()
total = 0.0
for x in [torch.ones(4, 4)] * 8:
    loss = model(x).mean()
    loss.backward()
    total += loss
"""


def test_every_input_is_described_and_used() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
    assert all(given["description"] and "default" in given for given in ACTION["inputs"].values())
    assert all(re.fullmatch(r"[\w.-]+/[\w./-]+@v\d+", step["uses"]) for step in STEPS if "uses" in step)


def test_no_input_reaches_a_script_as_code() -> None:
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        assert "uses" in step or step["shell"] == "bash"


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    """What the runner sets, and a virtual environment that is there already, so that nothing is installed."""
    scripts = tmp_path / "temp" / "torchlint" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "torchlint").symlink_to(PYTHON.parent / "torchlint")
    for name in ("python", "set-up-python"):  # -m venv, -m pip
        (scripts / name).write_text("#!/bin/sh\n")
        (scripts / name).chmod(0o755)
    return {
        **os.environ,
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "RUNNER_OS": "Linux",
        "PYTHON": str(scripts / "set-up-python"),
        "SOURCE": str(ROOT),
        "PATHS": "src",
        "ARGUMENTS": "",
        "SARIF": "torchlint.sarif",
    }


def lint(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (script,) = [step["run"] for step in STEPS if "run" in step]
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_annotates_reports_and_fails(tmp_path: Path, runner: dict[str, str]) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(BAD)
    run = lint(tmp_path, runner)
    assert run.returncode == 1, run.stderr
    assert re.search(r"^::\w+ .*file=src/a\.py,.*line=8", run.stdout, re.MULTILINE)
    report = json.loads((tmp_path / "torchlint.sarif").read_text())
    assert [result["ruleId"] for result in report["runs"][0]["results"]] == ["TL601"]

    run = lint(tmp_path, {**runner, "ARGUMENTS": "--ignore TL6"})
    assert run.returncode == 0, run.stderr
    assert json.loads((tmp_path / "torchlint.sarif").read_text())["runs"][0]["results"] == []


def test_what_stands_in_an_input_is_never_run(tmp_path: Path, runner: dict[str, str]) -> None:
    (tmp_path / "src").mkdir()
    for name in ("PATHS", "ARGUMENTS", "SARIF"):
        lint(tmp_path, {**runner, name: "$(touch hit) `touch hit` ; touch hit"})
    assert not (tmp_path / "hit").exists()


@pytest.mark.parametrize("page", ["README.md", "docs/guide/ci.md"])
def test_the_copy_for_a_job_lies_where_the_jobs_look_and_holds_what_builds_it(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    (prefix, names), *more = re.findall(r"git -C \S+ archive --prefix=(\S+)/ HEAD \\\n +(.+) \| tar -x", text)
    assert not more
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"action.yml", "pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    assert set(names.split()) == needed | {*wheel["packages"], *wheel["force-include"]}
    github, gitlab = (
        yaml.safe_load((ROOT / "docs" / "snippets" / name).read_text(encoding="utf-8"))
        for name in ("github.yml", "gitlab.yml")
    )
    assert [step["uses"] for step in github["jobs"]["torchlint"]["steps"]][1:] == [f"./{prefix}"]
    assert gitlab["torchlint"]["script"][0] == f"pip install --quiet ./{prefix}"


def test_the_gitlab_job_writes_what_it_uploads(tmp_path: Path) -> None:
    job = yaml.safe_load((ROOT / "docs" / "snippets" / "gitlab.yml").read_text(encoding="utf-8"))["torchlint"]
    _, command = job["script"]
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(BAD)
    run = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    (issue,) = json.loads((tmp_path / job["artifacts"]["reports"]["codequality"]).read_text())
    assert (issue["check_name"], issue["location"]["path"]) == ("TL601", "src/a.py")

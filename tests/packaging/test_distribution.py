"""The package as others get it: a wheel in an environment of its own, and a hook of pre-commit."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = "Scripts" if os.name == "nt" else "bin"

BAD = """\
import torch


def train(model, batches, optimizer):
    for inputs in batches:
        loss = model(inputs).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


def run(*command: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd, check=False)


def git(*arguments: object, cwd: Path) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    done = run("git", *identity, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("torchlint-*.whl")
    return built


@pytest.mark.network
def test_the_pages_travel_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"torchlint/rules_docs/{page.name}" for page in (ROOT / "rules_docs").glob("TL*.md")} <= names
    assert not [name for name in names if name.startswith(("tests/", "examples/", "benchmarks/", "rules_docs/"))]


@pytest.mark.network
def test_an_installed_wheel_lints_and_explains_without_torch(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / SCRIPTS
    installed = run(programs / "python", "-m", "pip", "install", "--quiet", wheel)
    assert installed.returncode == 0, installed.stderr
    assert run(programs / "python", "-c", "import torch").returncode != 0

    page = run(programs / "torchlint", "rule", "TL101", cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    assert "sync-scalar-read" in page.stdout

    (tmp_path / "train.py").write_text(BAD, encoding="utf-8")
    checked = run(programs / "torchlint", "--output-format", "concise", "train.py", cwd=tmp_path)
    assert checked.returncode == 1, checked.stderr
    assert "train.py:10:15: TL101" in checked.stdout


@pytest.mark.network
def test_the_hook_runs_through_pre_commit(tmp_path: Path) -> None:
    # A clone of what is committed with the working tree laid over it, so that the test sees what is being changed.
    hooks, project = tmp_path / "hooks", tmp_path / "project"
    git("clone", "--quiet", ROOT, hooks, cwd=tmp_path)
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.stdout.splitlines()):
        if (ROOT / name).is_file():
            (hooks / name).parent.mkdir(parents=True, exist_ok=True)
            (hooks / name).write_bytes((ROOT / name).read_bytes())
    git("add", "--all", cwd=hooks)
    git("commit", "--quiet", "--allow-empty", "--message", "As it stands", cwd=hooks)

    project.mkdir()
    git("init", "--quiet", cwd=project)
    (project / "train.py").write_text(BAD, encoding="utf-8")
    (project / "notes.txt").write_text("no Python\n", encoding="utf-8")
    git("add", "--all", cwd=project)

    def hook() -> subprocess.CompletedProcess[str]:
        command = (
            sys.executable,
            "-m",
            "pre_commit",
            "try-repo",
            hooks,
            "torchlint",
            "--all-files",
            "--color",
            "never",
        )
        return run(*command, cwd=project)

    found = hook()
    assert found.returncode == 1, found.stdout + found.stderr
    assert "TL101" in found.stdout
    (project / "train.py").write_text(BAD.replace("        print(loss.item())\n", ""), encoding="utf-8")
    clean = hook()
    assert clean.returncode == 0, clean.stdout + clean.stderr
    assert "Passed" in clean.stdout

"""The plugin in real flake8."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOOP = """\
import torch

model = torch.nn.Linear(4, 1).cuda()
loader = [torch.ones(4, 4)] * 8
total = 0.0
for x in loader:
    loss = model(x).mean()
    loss.backward()
    total += loss
"""


def flake8(folder: Path, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def found(run: subprocess.CompletedProcess[str]) -> list[str]:
    """`file:row:column: code` of each line."""
    assert run.returncode in (0, 1), run.stderr
    assert "Traceback" not in run.stderr
    return [" ".join(line.split(" ")[:2]) for line in run.stdout.splitlines()]


def test_it_is_installed_under_its_letters() -> None:
    run = flake8(Path(), "--version")
    assert "torchlint: " in run.stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOOP, ["./a.py:9:5: TL601"]),
        (LOOP.replace("\n    total", "\n    'é𝕏'; total"), ["./a.py:9:11: TL601"]),
        ("# -*- coding: latin-1 -*-\n" + LOOP, ["./a.py:10:5: TL601"]),
        ("\ufeff" + LOOP, ["./a.py:9:5: TL601"]),
        (LOOP.replace("+= loss", "+= loss  # noqa: TL601"), []),
        (LOOP.replace("+= loss", "+= loss  # torchlint: ignore[TL601]"), []),
        ("total = 0\n", []),
        (LOOP + "x = (\n", []),  # flake8 itself says why
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_findings_are_flake8s_own(tmp_path: Path, text: str, expected: list[str], jobs: str) -> None:
    (tmp_path / "a.py").write_bytes(text.encode("latin-1" if "latin-1" in text else "utf-8"))
    (tmp_path / "b.py").write_text("")
    assert found(flake8(tmp_path, "--select=TL", "-j", jobs, ".")) == expected


def test_flake8_decides_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LOOP)
    assert "a.py:9:5: TL601" in found(flake8(tmp_path, "a.py"))
    assert found(flake8(tmp_path, "--extend-ignore=TL6", "a.py")) == []
    assert found(flake8(tmp_path, "-", text=LOOP)) == ["stdin:9:5: TL601"]


def test_torchlints_configuration_holds(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LOOP)
    (tmp_path / "gen").mkdir()
    (tmp_path / "gen" / "b.py").write_text(LOOP)
    config = tmp_path / "torchlint.toml"
    config.write_text('exclude = ["gen"]\n')
    assert found(flake8(tmp_path, ".")) == ["./a.py:9:5: TL601"]
    config.write_text('ignore = ["TL601"]\n')
    assert found(flake8(tmp_path, ".")) == []
    config.write_text("ignor = []\n")
    run = flake8(tmp_path, ".")
    assert run.returncode == 1
    assert "torchlint.toml" in run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr

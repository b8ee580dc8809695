"""torchlint verify, as a user sees it: plans, runs, merges, tables, exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from tests.verify.experiments import experiment, plan
from torchlint.verify import evidence, supervise
from torchlint.verify.cli import verify

CODE = """\
import torch


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(verify, list(arguments), standalone_mode=False, catch_exceptions=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_gpu_it_says_so_in_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "gpu_count", lambda: 0)
    done = run("--isolated", ".")
    assert "no CUDA device here" in str(done.exception)
    assert "\n" not in str(done.exception)


def test_without_torch_it_says_what_to_install(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "gpu_count", lambda: None)
    assert "torchlint[verify]" in str(run("--isolated", ".").exception)


def test_a_plan_is_made_without_torch_and_comes_with_its_worker(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "gpu_count", lambda: None)
    done = run("--isolated", "--no-cache", "--select", "TL101", "--plan", "plan.json", "train.py")
    assert done.return_value == 0, done.output
    made = json.loads((project / "plan.json").read_text(encoding="utf-8"))
    rungs = {e["id"]: e["rung"] for e in made["experiments"]}
    (finding,) = made["findings"]
    ladder = [rungs[identity] for identity in finding["ladder"]]
    assert list(dict.fromkeys(ladder)) == ["in place", "extracted", "template"]
    assert ladder == sorted(ladder, key=["in place", "extracted", "template"].index)
    compile((project / "worker.py").read_text(encoding="utf-8"), "worker.py", "exec")

    again = ("--isolated", "--no-cache", "--select", "TL101", "train.py", "--plan")
    assert run(*again, "plan.json").return_value == 0
    assert "worker.py: the worker goes there" in str(run(*again, "worker.py").exception)
    (project / "worker.py").write_text("mine = 1\n", encoding="utf-8")
    assert "worker.py: is there, and is no worker" in str(run(*again, "plan.json").exception)
    assert (project / "worker.py").read_text(encoding="utf-8") == "mine = 1\n"


def finished() -> dict[str, Any]:
    """A plan of one finding with two rungs, the first of which fails."""
    fails = experiment("def flagged(x):\n    raise ValueError\n", id="fails")
    works = experiment("def flagged(x):\n    return x * 2\n", id="works", rung="extracted")
    made = plan(fails, works, unheard_of=1.0)
    made["findings"] = [
        {"fingerprint": "f", "code": "TL101", "name": "sync-scalar-read", "filename": "train.py", "row": 11,
         "column": 18,
         "code_hash": "0", "ladder": ["fails", "works"], "tried": [], "reason": ""}
    ]  # fmt: skip
    return made


def test_a_plan_is_run_and_its_results_merged(project: Path) -> None:
    (project / "plan.json").write_text(json.dumps(finished()), encoding="utf-8")
    ran = run("--run", "plan.json", "--verify-device", "cpu", "-o", "results.json")
    assert ran.return_value == 1, ran.output
    assert "train.py:11 TL101" in ran.output
    assert "extracted" in ran.output
    assert "Figures of the CPU" in ran.output
    merged = run("--merge", "results.json", "-o", "evidence.json", "--report", "report.html")
    assert merged.return_value == 1, merged.output
    made = json.loads((project / "evidence.json").read_text(encoding="utf-8"))
    jsonschema.validate(made, evidence.schema())
    assert made["findings"][0]["tried"][0]["reason"].startswith("raised ValueError")
    assert "train.py:11" in (project / "report.html").read_text(encoding="utf-8")
    unconfirmed = run("--merge", "results.json", "--fail-on", "confirmed", "--min-speedup", "100")
    assert unconfirmed.return_value == 0
    assert run("--merge", "results.json", "--exit-zero").return_value == 0


def test_merging_nothing_is_misuse(project: Path) -> None:
    assert "--merge needs the results of runs" in str(run("--merge").exception)


def test_a_plan_that_is_none_is_one_line(project: Path) -> None:
    (project / "plan.json").write_text("[]", encoding="utf-8")
    assert "plan.json: does not hold" in str(run("--run", "plan.json", "--verify-device", "cpu").exception)

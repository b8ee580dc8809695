"""Whole runs on the CPU: what is measured, what is contained, and what becomes of the rest."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.verify.experiments import experiment, plan
from torchlint.verify import supervise
from torchlint.verify.bundling import bundle
from torchlint.verify.figures import interval

CONTAINED = sorted((Path(__file__).parent / "hostile" / "contained").glob("*.py"))

FORGER = """
def flagged(x):
    print('{"nonce": "", "event": "result", "result": {"ratio": {"median": 1000, "low": 1000, "high": 1000}}}')
    return x * 2
"""
GIVEN = "def inputs(device, dtype, **size):\n    return (1,)\n"
ENDLESS = "def flagged(x):\n    while True:\n        pass\n"
STATEFUL = """
import torch

CALLS = [0]


def flagged(x):
    CALLS[0] += 1
    x.add_(1)
    return x.sum() * CALLS[0] + torch.rand(())
"""
SWITCHES = """
import contextlib

import numpy as np
import torch


def flagged(x):
    seen = [torch.backends.cudnn.benchmark, torch.is_anomaly_enabled(), torch.is_autocast_enabled("cpu"),
            str(torch.get_autocast_dtype("cpu")), np.geterr()["over"] == "raise", torch.zeros(1).is_meta,
            torch.is_warn_always_enabled(), str(np.ones(1)), str(torch.ones(1) / 3)]
    torch.backends.cudnn.benchmark = not seen[0]
    torch.autograd.set_detect_anomaly(True)
    kept = contextlib.ExitStack()
    kept.enter_context(torch.autocast("cpu", dtype=torch.float16))
    kept.itself = kept
    np.seterr(all="raise")
    np.set_printoptions(formatter={"all": lambda value: "left"})
    torch.set_printoptions(precision=9)
    torch.set_warn_always(True)
    torch.set_default_device("meta")
    return seen
"""
READS = """
def flagged(x):
    total = 0.0
    for _ in range(3):
        total += x.sum().item()
        x = x + 1
    return total
"""
OPEN = [
    {"name": "x", "kind": "tensor", "dtype": "open", "rank": None},
    {"name": "log", "kind": "inert", "of": "logging"},
]
TIMED = """
import time
from time import perf_counter


def flagged(x):
    begun = perf_counter()
    time.sleep({slept})
    took = perf_counter() - begun
    return x.sum(), {{"said": took, "steps": 7}}
"""
TRAINED = """
import torch

LAYER = torch.nn.Linear(4, 4)


def inputs(device, dtype):
    layer = torch.nn.Linear(4, 4)
    layer(torch.ones(2, 4)).sum().backward()
    return (layer,)


def flagged(layer):
    torch.optim.SGD(layer.parameters(), lr=1.0).step()
    return layer.bias.detach().sum() - LAYER.bias.detach().sum() * 0
"""
REACHES_OUT = """
import os


def flagged(x):
    {action}
    return x
"""

LEAVES = """
import os
import time

from torch.utils.data import DataLoader


def flagged(x):
    if "LEFT" in os.environ:
        return 0
    os.environ["LEFT"] = "1"
    process = os.fork()
    if not process:
        os.setsid()
        time.sleep(120)
    return process
"""
LOADS = """
from torch.utils.data import DataLoader, TensorDataset


def flagged(x):
    return sum(rows.sum().item() for (rows,) in DataLoader(TensorDataset(x), batch_size=2, num_workers=1))
"""


COMPILED = """
import torch


@torch.compile
def fused(x):
    return torch.relu(x @ x) + 1


def flagged(x):
    return fused(x)
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """Everything in one run, one process each: none of them may harm another."""
    hostile = [experiment(file.read_text(encoding="utf-8"), id=file.stem) for file in CONTAINED]
    others = [
        experiment(FORGER, id="forger"),
        experiment(STATEFUL, id="stateful"),
        experiment(SWITCHES, id="switches"),
        experiment(READS, READS.replace("x.sum().item()", "torchlint_replayed(lambda: x.sum().item())"), id="replays"),
        experiment("def flagged(x, log):\n    return log.info(x)\n", id="open", arguments=OPEN, attributes=["info"]),
        experiment(TIMED.format(slept=0.001), TIMED.format(slept=0.01), id="timed", criterion="clock", rows=[9, 9]),
        experiment(
            TRAINED, TRAINED.replace("lr=1.0", "lr=0.0"), id="trained", rung="template", inputs=TRAINED, size={}
        ),
        experiment("def flagged(x):\n    return x + 1\n", "def flagged(x):\n    return x\n", id="probe", probe=True),
        experiment("import os\n\n\ndef flagged(x):\n    return x\n", id="refused"),
        experiment(REACHES_OUT.format(action='os.system("true")'), id="runs a command", allow=["os"]),
        experiment(REACHES_OUT.format(action='os.open("/etc/hostname", os.O_RDONLY)'), id="reads a file", allow=["os"]),
        experiment(REACHES_OUT.format(action="os.abort()"), id="aborts", allow=["os"]),
        experiment("def flagged(x):\n    return x + 1\n", "def flagged(x):\n    return x + 2\n", id="differs"),
        experiment("def flagged(x):\n    if x.sum() > 1e9:\n        x = x + 1\n    return x\n", id="row", rows=[3, 3]),
        experiment("def flagged(x):\n    return x * 2\n", id="innocent"),
        experiment("def flagged(x):\n    return __name__\n", id="named"),
        experiment("import torch\n\n\ndef flagged(x):\n    return x\n", id="entry", entry="torch.os.getcwd"),
        experiment("def flagged(x):\n    return x\n", id="module for dtype", dtype="os", inputs=GIVEN),
        experiment(LEAVES, "def flagged(x):\n    return 0\n", id="leaves", allow=["os"], inputs=GIVEN),
    ]
    run = supervise.run(plan(*hostile, *others, seconds=6.0, memory_bytes=700 << 20), ["cpu"])
    json.dumps(run, allow_nan=False)  # plain data, whatever the code returned
    # Starting workers again and again takes long on a busy machine, and so does compiling.
    slow = plan(experiment(LOADS, id="loader"), experiment(COMPILED, id="compiled"), seconds=60.0)
    return {**run["results"], **supervise.run(slow, ["cpu"])["results"]}


@pytest.mark.parametrize("file", CONTAINED, ids=lambda file: file.stem)
def test_what_wastes_or_fails_costs_one_experiment(answers: dict[str, Any], file: Path) -> None:
    wanted = file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# not run: ")
    result = answers[file.stem]
    assert result["status"] == "not run"
    assert wanted in result["reason"]
    assert len(result["reason"]) <= 400
    assert result["reason"].isprintable()


def test_others_go_on(answers: dict[str, Any]) -> None:
    assert answers["innocent"]["status"] == "measured"


def test_a_loader_may_start_its_workers(answers: dict[str, Any]) -> None:
    assert answers["loader"].get("reason") is None
    assert answers["loader"]["before"]["startup_us"] > 0  # their start is kept apart
    assert answers["stateful"]["before"]["startup_us"] is None


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch compiles for the processor with g++")
def test_a_compiler_may_start_its_programs(answers: dict[str, Any]) -> None:
    assert answers["compiled"]["status"] == "measured", answers["compiled"]


def test_code_cannot_tell_which_variant_it_is(answers: dict[str, Any]) -> None:
    assert answers["named"]["equal"] is True


def test_what_is_called_is_a_function_of_the_code(answers: dict[str, Any]) -> None:
    assert answers["entry"]["reason"] == "there is no function torch.os.getcwd"


def test_a_plan_hands_no_module_of_torch_to_its_code(answers: dict[str, Any]) -> None:
    assert answers["module for dtype"]["reason"] == "the plan names no dtype"


def test_printing_a_result_forges_none(answers: dict[str, Any]) -> None:
    assert answers["forger"]["status"] == "measured"
    assert answers["forger"]["ratio"]["median"] < 10


def test_every_call_starts_from_the_same_state(answers: dict[str, Any]) -> None:
    """The function counts its calls, changes its argument and draws random numbers; its two runs agree all the same."""
    assert answers["stateful"]["equal"] is True


def test_no_variant_inherits_what_the_other_switched(answers: dict[str, Any]) -> None:
    assert answers["switches"]["equal"] is True


def test_values_that_are_replayed_are_those_that_would_be_read(answers: dict[str, Any]) -> None:
    assert answers["replays"]["equal"] is True


def test_what_the_plan_leaves_open_is_found_and_shown(answers: dict[str, Any]) -> None:
    assert answers["open"]["inputs"][0]["shown"].startswith("float32[")


def test_the_worker_checks_the_policy_itself(answers: dict[str, Any]) -> None:
    assert answers["refused"]["reason"].startswith("refused: before, line 1: the module os is not on the list")


@pytest.mark.parametrize(("name", "event"), [("runs a command", "os.system"), ("reads a file", "open /etc/hostname")])
def test_what_the_policy_lets_through_is_stopped_while_running(answers: dict[str, Any], name: str, event: str) -> None:
    assert event in answers[name]["reason"]


def test_a_process_that_left_its_group_is_ended_as_well(answers: dict[str, Any]) -> None:
    process = int(answers["leaves"]["difference"].split(" and ")[0])
    assert process > 1
    assert not Path(f"/proc/{process}").exists()


def test_a_crash_is_said_with_its_signal(answers: dict[str, Any]) -> None:
    assert answers["aborts"]["reason"] == "crashed (signal 6)"


def test_results_that_differ_are_said_to(answers: dict[str, Any]) -> None:
    assert answers["differs"]["equal"] is False


def test_an_experiment_must_reach_the_flagged_line(answers: dict[str, Any]) -> None:
    assert "the flagged line was not reached" in answers["row"]["reason"]


def test_the_environment_is_scrubbed_and_the_folder_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    source = """
import os


def flagged(x):
    return [os.environ.get("SECRET_TOKEN", "none"), os.listdir(".")]
"""
    other = "def flagged(x):\n    return ['none', []]\n"
    run = supervise.run(plan(experiment(source, other, allow=["os"])), ["cpu"])
    assert run["results"]["one"]["equal"] is True


def test_a_used_up_budget_leaves_experiments_unrun() -> None:
    source = "def flagged(x):\n    return x\n"
    made = plan(experiment(source), experiment(source, id="given", inputs=GIVEN))
    results = supervise.run(made, ["cpu"], budget=0.001)["results"]
    assert {result["reason"] for result in results.values()} == {"the time budget was used up"}


def test_code_of_a_plan_uses_no_module_that_was_not_allowed_here() -> None:
    source = "def flagged(x):\n    return x\n"
    made = plan(experiment(source, allow=["os"]), experiment(source, id="given", inputs=GIVEN, allow=["os"]))
    results = supervise.run(made, ["cpu"], allow=["einops"])["results"]
    refusal = "refused: the plan lets its code use os, which was not allowed here"
    assert {result["reason"] for result in results.values()} == {refusal}


def test_a_ladder_is_climbed_down_only_as_far_as_needed() -> None:
    first = experiment("def flagged(x):\n    raise ValueError\n", id="first")
    second = experiment("def flagged(x):\n    return x\n", id="second")
    third = experiment("def flagged(x):\n    return x * 1\n", id="third")
    made = plan(first, second, third)
    made["findings"] = [{"ladder": ["first", "second", "third"], "filename": "a.py", "fingerprint": "f"}]
    results = supervise.run(made, ["cpu"])["results"]
    assert results["first"]["reason"].startswith("raised ValueError")
    assert results["second"]["status"] == "measured"
    assert "third" not in results


def test_what_the_host_bounds_is_timed_in_further_processes_while_its_interval_is_wide_or_of_few_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = plan(experiment("def flagged(x):\n    return x + 1\n"), processes=3)
    monkeypatch.setattr(supervise, "is_narrow", lambda ratio: False)
    wide = supervise.run(made, ["cpu"])["results"]["one"]
    assert len(wide["processes"]) == 3
    ratios = [process["ratio"] for process in wide["processes"]]
    assert min(r["low"] for r in ratios) <= wide["ratio"]["median"] <= max(r["high"] for r in ratios)
    monkeypatch.setattr(supervise, "is_narrow", lambda ratio: True)
    monkeypatch.setattr(supervise, "ENOUGH_ROUNDS", 1 << 20)
    assert len(supervise.run(made, ["cpu"])["results"]["one"]["processes"]) == 3
    monkeypatch.setattr(supervise, "ENOUGH_ROUNDS", 0)
    assert "processes" not in supervise.run(made, ["cpu"])["results"]["one"]


def rounds(*pairs: tuple[float, float]) -> list[dict[str, float]]:
    return [{"ratio": ratio, "pulse": pulse} for ratio, pulse in pairs]


def test_the_interval_of_several_processes_tells_how_they_differ() -> None:
    alone = interval([rounds((1.10, 1), (1.11, 1), (1.12, 1), (1.11, 1))])
    together = interval([rounds(*[(1.1 + i / 10, 1)] * 4) for i in range(3)])
    assert alone == {"median": 1.11, "low": 1.1, "high": 1.12}
    assert together == pytest.approx({"median": 1.2, "low": 1.1, "high": 1.3})
    many = [rounds(*[(2.0, 1)] * 40), rounds(*[(1.0, 1)] * 3), rounds(*[(1.1, 1)] * 3)]
    assert interval(many)["median"] == 1.1  # a process with more rounds counts no more


def test_rounds_weigh_the_less_the_more_others_slowed_the_processor() -> None:
    calm = [(1.1, 1.0), (1.2, 1.0), (1.3, 1.0)]
    assert interval([rounds(*calm, *[(2.4, 1.0)] * 4)])["median"] == 2.4
    assert interval([rounds(*calm, *[(2.4, 2.0)] * 4)])["median"] == 1.3
    slow = [(ratio, 2.0) for ratio, _ in calm]
    assert interval([rounds(*calm), rounds(*slow)])["median"] == 1.2  # each process counts the same


def test_the_bundled_worker_runs_a_plan_without_the_package(tmp_path: Path) -> None:
    worker, file, out = tmp_path / "worker.py", tmp_path / "plan.json", tmp_path / "results.json"
    worker.write_text(bundle(), encoding="utf-8")
    file.write_text(json.dumps(plan(experiment("def flagged(x):\n    return x\n"))), encoding="utf-8")
    command = [sys.executable, "-I", str(worker), str(file), "--out", str(out), "--device", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text(encoding="utf-8"))["results"]["one"]["status"] == "measured"


DECIDES_LATE = """
import torch
from torchlint.verify.worker import warm_up

warm_up(torch, torch.device("cuda"))
before = torch._C._get_sdp_priority_order()
half = torch.ones(1, 1, 64, 64, dtype=torch.bfloat16, device="cuda")
torch.nn.functional.scaled_dot_product_attention(half, half, half)
print(before == torch._C._get_sdp_priority_order())
"""


@pytest.mark.cuda
def test_attention_is_measured_with_the_kernel_that_torch_prefers() -> None:
    command = [sys.executable, "-c", DECIDES_LATE]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"


def test_an_interrupted_run_keeps_what_was_measured_and_leaves_no_process(tmp_path: Path) -> None:
    worker, file, out = tmp_path / "worker.py", tmp_path / "plan.json", tmp_path / "results.json"
    worker.write_text(bundle(), encoding="utf-8")
    quick = experiment("def flagged(x):\n    return x\n", id="quick", label="quick", inputs=GIVEN)
    endless = experiment(ENDLESS, id="endless", label="endless", inputs=GIVEN)
    file.write_text(json.dumps(plan(quick, endless)), encoding="utf-8")
    command = [sys.executable, "-I", str(worker), str(file), "--out", str(out), "--device", "cpu"]
    (tmp_path / "folders").mkdir()
    surroundings = {**os.environ, "TMPDIR": str(tmp_path / "folders")}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path, env=surroundings
    ) as run:
        assert run.stdout is not None
        next(line for line in run.stdout if line.startswith("quick"))
        (folder,) = (tmp_path / "folders").iterdir()  # those of the experiments lie in it
        run.send_signal(signal.SIGTERM)
        run.stdout.read()
    assert run.returncode == 130
    assert not folder.exists()
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    assert results["quick"]["status"] == "measured"
    assert results["endless"]["reason"] == "interrupted"


def test_a_run_that_is_interrupted_before_its_first_experiment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        kind, stopped = "cpu", ""

        def __init__(self, *_: Any) -> None:
            pass

        def ask(self, *_: Any) -> dict[str, Any]:
            signal.raise_signal(signal.SIGTERM)
            return {"status": "not run", "reason": "interrupted"}

        def end(self) -> None:
            pass

    monkeypatch.setattr(supervise, "Nursery", Interrupted)
    monkeypatch.setattr(supervise, "Worker", Interrupted)
    answer = supervise.run(plan(experiment(ENDLESS, inputs=GIVEN)), ["cpu"])
    assert answer["interrupted"] is True
    assert answer["results"]["one"]["reason"] == "interrupted"


def test_a_budget_ends_what_still_runs() -> None:
    made = plan(experiment(ENDLESS, inputs=GIVEN))
    assert supervise.run(made, ["cpu"], budget=8.0)["results"]["one"]["reason"] == "the time budget was used up"


def test_shares_of_a_plan_hold_each_finding_once_with_its_ladder() -> None:
    experiments = [experiment("", id=name) for name in "abcde"]
    made = plan(*experiments)
    made["findings"] = [{"ladder": ["a", "e"]}, {"ladder": ["b", "e"]}, {"ladder": ["c"]}]
    shares = [supervise.share(made, f"{index}/2") for index in (1, 2)]
    assert [[finding["ladder"] for finding in share["findings"]] for share in shares] == [
        [["a", "e"], ["c"]],
        [["b", "e"]],
    ]
    assert {e["id"] for e in shares[0]["experiments"]} == {"a", "c", "d", "e"}
    assert {e["id"] for e in shares[1]["experiments"]} == {"b", "e"}


@pytest.mark.parametrize("which", ["0/2", "3/2", "x", "1/0"])
def test_a_share_that_is_none_is_refused(which: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        supervise.share(plan(), which)


def test_a_clock_is_read_where_the_code_reads_it(answers: dict[str, Any]) -> None:
    clock = answers["timed"]["clock"]
    assert 0.001 <= clock["before"] < 7  # the number that the code returns last is no clock's
    assert 0.01 <= clock["after"] < 7


def test_copies_of_parameters_keep_their_gradients(answers: dict[str, Any]) -> None:
    assert answers["trained"]["status"] == "measured"
    assert answers["trained"]["equal"] is False  # a step without gradients would leave both the same


def test_a_form_made_for_measuring_must_compute_the_same(answers: dict[str, Any]) -> None:
    assert answers["probe"]["status"] == "not run"
    assert "something else" in answers["probe"]["reason"]

"""`torchlint verify`: measure what the findings cost, here or by a plan that is carried to where a GPU is."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from torchlint.cli import console, options
from torchlint.cli.files import write_atomically
from torchlint.cli.status import EXIT_ERROR, EXIT_FINDINGS, EXIT_INTERRUPTED, EXIT_OK
from torchlint.source.files import read_regular
from torchlint.verify import evidence, forms, supervise
from torchlint.verify.bundling import bundle
from torchlint.verify.plan import Choices

__all__ = ["verify"]


@click.command("verify", cls=options.SectionedCommand)
@options.paths_argument
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the plan here, and beside it worker.py, which runs it with torch alone; measure nothing.",
)
@click.option(
    "--run", "run_file", type=click.Path(path_type=Path), metavar="PLAN", help="Measure the experiments of this plan."
)
@click.option("--merge", is_flag=True, help="The paths are results of runs: make evidence of them.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the evidence here; with --run the results (results.json).",
)
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="Write a page for people here (HTML).")
@click.option(
    "--verify-device",
    type=click.Choice(["cuda", "cpu"]),
    default="cuda",
    help="Measure on the CPU, where there is no GPU: the figures are those of the CPU.",
)
@click.option("--verify-allow", multiple=True, metavar="MODULE", help="Let measured code use this module as well.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time for all experiments; what does not fit is not run. Without one all are run, and what the host bounds is "
    "timed again for a quarter of that time, or a minute.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for one experiment, at the end of which it is killed.",
)
@click.option(
    "--memory-limit",
    type=click.FloatRange(min=0.5),
    default=16.0,
    show_default=True,
    metavar="GIB",
    help="Host memory for one experiment.",
)
@click.option(
    "--size",
    type=click.Choice(["small", "medium", "large"]),
    help="Sizes of the rules' own pairs; medium, and small on the CPU.",
)
@click.option(
    "--dtype",
    default="float32",
    show_default=True,
    metavar="DTYPE",
    type=click.Choice(["float32", "bfloat16", "float16", "float64"]),
    help="Of the rules' own pairs, where the code does not say.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["finding", "confirmed"]),
    default="finding",
    show_default=True,
    help="Which findings make the exit status 1.",
)
@click.option(
    "--min-speedup",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="X",
    help="With --fail-on confirmed: only where the repair gains at least this ratio.",
)
@click.option("-e", "--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@options.rule_options
@options.file_options
@options.config_options
@options.run_options
def verify(paths: tuple[Path, ...], **given: Any) -> int:
    """Measure what the findings in files and folders cost, by default in the current one.

    Each flagged piece of code is run as it is written and as it would be repaired, interleaved, in a process of its own
    that may use torch, NumPy and a few harmless modules alone. Needs torch, and a CUDA device.
    """
    if given["report"] is not None and find_spec("jinja2") is None:
        raise click.ClickException("--report needs jinja2, which is not installed: pip install 'torchlint[verify]'")
    try:
        if given["merge"]:
            return _merge(paths, given)
        if given["run_file"] is not None:
            return _run_plan(given["run_file"], given)
        return _verify(paths or (Path("."),), given)
    except evidence.EvidenceError as error:
        raise click.ClickException(str(error)) from error


def _verify(paths: Sequence[Path], given: dict[str, Any]) -> int:
    from torchlint.cli.lint import lint
    from torchlint.verify import plan

    plan_file = given["plan_file"]
    worker = None if plan_file is None else _worker_beside(plan_file)
    devices = [] if worker is not None else _devices(given["verify_device"])
    linted = lint(paths, options.configuration(given), quiet=given["quiet"], name=given["stdin_filename"])
    for message in linted.errors:
        console.error(message)
    if linted.interrupted:
        return EXIT_INTERRUPTED
    made = plan.make(linted.findings, linted.source, _choices(given))
    if worker is not None:
        return _write_plan(made, plan_file, worker)
    answer = _measure(made, devices, given)
    found = _conclude(answer, given, bool(linted.findings))
    return EXIT_ERROR if linted.errors else found


def _choices(given: dict[str, Any]) -> Choices:
    size = given["size"] or ("small" if given["verify_device"] == "cpu" else "medium")
    limits = supervise.Limits(seconds=given["time_limit"], memory_bytes=int(given["memory_limit"] * (1 << 30)))
    return Choices(size, given["dtype"], tuple(given["verify_allow"]), limits)


def _devices(kind: str) -> list[str]:
    """Where to measure.

    Raises ClickException where that cannot be done here.
    """
    count = supervise.gpu_count()
    if count is None:
        raise click.ClickException("measuring needs torch, which is not installed: pip install 'torchlint[verify]'")
    if kind == "cpu":
        return ["cpu"]
    if not count:
        raise click.ClickException(
            "no CUDA device here: carry a plan to one (verify --plan FILE), or measure the CPU (--verify-device cpu)"
        )
    return [f"cuda:{index}" for index in range(count)]


def _worker_beside(plan: Path) -> Path:
    """Where the worker goes that runs a plan.

    Raises ClickException where something else stands there.
    """
    worker = plan.parent / "worker.py"
    if plan.name == worker.name:
        raise click.ClickException(f"{plan}: the worker goes there: give the plan another name")
    try:
        first = read_regular(worker).partition(b"\n")[0]
    except FileNotFoundError:
        return worker
    except OSError:
        first = b""
    if first != bundle().partition("\n")[0].encode():
        raise click.ClickException(f"{worker}: is there, and is no worker of torchlint: plan into another folder")
    return worker


def _write_plan(made: dict[str, Any], file: Path, worker: Path) -> int:
    write_atomically(file, json.dumps(made, indent=1) + "\n")
    write_atomically(worker, bundle())
    console.write([
        f"{len(made['experiments'])} experiments for {len(made['findings'])} findings in {file}\n",
        f"Run it where a GPU is: python {worker.name} {file.name} --out results.json\n",
        "Then here: torchlint verify --merge results.json\n",
    ])  # fmt: skip
    return EXIT_OK


def _run_plan(file: Path, given: dict[str, Any]) -> int:
    made = evidence.load(file, forms.PLAN)
    answer = _measure(made, _devices(given["verify_device"]), given, given["verify_allow"])
    output = given["output"] or Path("results.json")
    write_atomically(output, json.dumps(answer) + "\n")
    return _conclude(answer, {**given, "output": None}, bool(made["findings"]))


def _merge(paths: Sequence[Path], given: dict[str, Any]) -> int:
    if not paths:
        raise click.UsageError("--merge needs the results of runs: verify --merge results/*.json")
    answers = [evidence.load(path, forms.RESULTS) for path in paths]
    answer = evidence.join(answers, [str(path) for path in paths])
    return _conclude(answer, given, bool(answer["plan"]["findings"]))


def _measure(
    made: dict[str, Any], devices: list[str], given: dict[str, Any], allow: Sequence[str] | None = None
) -> dict[str, Any]:
    from torchlint.verify.display import Progress

    with Progress(len(made["experiments"]), enabled=not given["quiet"] and sys.stderr.isatty()) as progress:
        return supervise.run(made, devices, given["budget"], progress, allow)


def _conclude(answer: dict[str, Any], given: dict[str, Any], found: bool) -> int:
    """Say what was measured, write what was asked for, and return the exit status."""
    from torchlint.verify import display

    made = evidence.build(answer)
    if given["output"] is not None:
        write_atomically(given["output"], json.dumps(made, indent=1) + "\n")
    if given["report"] is not None:
        from torchlint.verify.report_html import render

        write_atomically(given["report"], render(made, answer))
    display.table(made)
    if answer.get("interrupted"):
        return EXIT_INTERRUPTED
    if given["exit_zero"]:
        return EXIT_OK
    if given["fail_on"] == "confirmed":
        found = any(True for _ in evidence.confirmed(made, given["min_speedup"]))
    return EXIT_FINDINGS if found else EXIT_OK

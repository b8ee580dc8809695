"""Whole-process time and peak memory of torchlint and its peers on the same trees, in one run.

    python benchmarks/peers.py                                  timm, from the registry that pip uses
    python benchmarks/peers.py --tree examples=FOLDER ...       other trees
    python benchmarks/peers.py --tools torchlint,parse,ruff     some tools
    python benchmarks/peers.py --out benchmarks/peers.json      keeps the figures of these trees in a data file

Each peer gets an environment of its own below --cache. A round runs every tool once, one after the other, so that all
see the same machine; what is compared are medians, as ratios, of the time on the wall and of that of the processors,
which others on the machine disturb less. A tool that is slower than --limit seconds is stopped, said to be, and left
out of the rounds after that. Memory is the highest sum of what all its processes hold (PSS), looked at ten times a
second. torchlint's modules are compiled before, as `pip` leaves those of its peers.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import datetime
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.packages import fetch

# Tool -> (what pip installs, the command; {tree} is the tree, {bin} the environment's folder of programs).
PEERS = {
    "TorchFix": ("torchfix==0.7.0", "{bin}/torchfix --select ALL -j 2 {tree}"),
    "torch-preflight": ("torch-preflight==0.5.0", "{bin}/torch-preflight check {tree}"),
    "hotpath-ai": ("hotpath-ai==0.1.0", "{bin}/hotpath analyze {tree}"),
    "Fixit, one rule": ("fixit==2.2.1", "{bin}/fixit --config-file {config} lint {tree}"),
    "ruff": ("ruff==0.17.6", "{bin}/ruff check --no-cache --isolated --quiet {tree}"),
}
FIXIT = '[tool.fixit]\nroot = true\ndisable = ["fixit.rules"]\nenable = ["fixit.rules.no_static_if_condition"]\n'
PARSE = """
import sys, pathlib, libcst
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    data = path.read_bytes()
    if b"torch" in data:
        try:
            libcst.parse_module(data)
        except Exception:
            pass
"""


class Run(NamedTuple):
    """One run of a tool: wall-clock seconds, seconds of the processors, bytes at the peak over all its processes."""

    seconds: float
    cpu: float
    peak_bytes: int


class Tool(NamedTuple):
    """A command, and what to do before each run of it."""

    name: str
    command: Sequence[str]
    prepare: Callable[[], object]


def run(command: Sequence[str], limit: float) -> Run | None:
    """Run a command, quietly. None where it took longer than `limit` seconds."""
    peak, before = 0, _cpu()
    with tempfile.TemporaryFile() as output:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        ended = threading.Event()

        def watch() -> None:
            nonlocal peak
            while not ended.wait(0.1):
                peak = max(peak, _held(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            process.wait(limit)
            return Run(time.monotonic() - began, _cpu() - before, peak)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return None
        finally:
            ended.set()
            watcher.join()


def _cpu() -> float:
    """Seconds that the processes which have ended took of the processors, those that they started included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _held(session: int) -> int:
    """What the processes of a session hold, each shared page counted once, in bytes."""
    total = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ProcessLookupError):
                if os.getsid(int(folder.name)) == session:
                    for line in (folder / "smaps_rollup").read_text().splitlines():
                        if line.startswith("Pss:"):
                            total += int(line.split()[1]) * 1024
    return total


def tools(tree: Path, cache: Path, wanted: set[str] | None) -> list[Tool]:
    """The tools for a tree. torchlint reads a copy, in which one file is changed for the last of its runs."""
    copy = cache / "copies" / tree.name
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(tree, copy, ignore=lambda _, names: [name for name in names if name == ".torchlint_cache"])
    compileall.compile_dir(str(Path(__file__).parents[1] / "torchlint"), quiet=2)
    kept = str(cache / "torchlint")
    lint = [sys.executable, "-m", "torchlint", "check", "--isolated", "--quiet", "--exit-zero", "--select", "ALL"]
    changed = next(path for path in sorted(copy.rglob("*.py")) if b"import torch" in path.read_bytes())

    def change() -> None:
        with changed.open("a", encoding="utf-8") as file:
            file.write(f"# {time.monotonic_ns()}\n")

    def nothing() -> None:
        return

    found = [
        Tool("torchlint", [*lint, "--no-cache", "-j", "2", str(copy)], nothing),
        Tool("torchlint, one process", [*lint, "--no-cache", "-j", "1", str(copy)], nothing),
        Tool("torchlint, nothing changed", [*lint, "--cache-dir", kept, "-j", "2", str(copy)], nothing),
        Tool("torchlint, one file changed", [*lint, "--cache-dir", kept, "-j", "2", str(copy)], change),
        Tool("parse", [sys.executable, "-c", PARSE, str(copy)], nothing),
    ]
    for name, (needs, command) in PEERS.items():
        if wanted is None or name in wanted:
            config = cache / "fixit.toml"
            config.write_text(FIXIT)
            places = {"tree": str(copy), "bin": str(_environment(needs, cache) / "bin"), "config": str(config)}
            found.append(Tool(name, [part.format(**places) for part in command.split()], nothing))
    return [tool for tool in found if wanted is None or tool.name in wanted or tool.name.split(",")[0] in wanted]


def _environment(needs: str, cache: Path) -> Path:
    """An environment in which `needs` is installed."""
    folder = cache / "environments" / needs
    if not (folder / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", needs], check=True)
        (folder / "done").touch()
    return folder


def measure(tree: Path, cache: Path, wanted: set[str] | None, rounds: int, limit: float) -> dict[str, list[Run] | None]:
    """The runs of each tool on a tree; None for one that takes longer than the limit."""
    found = tools(tree, cache, wanted)
    for tool in found:
        if tool.name == "torchlint, nothing changed":
            run(tool.command, limit)  # fills the cache
    runs: dict[str, list[Run] | None] = {tool.name: [] for tool in found}
    for _ in range(rounds):
        for tool in found:
            before = runs[tool.name]
            if before is None:
                continue
            tool.prepare()
            done = run(tool.command, limit)
            if done is None:
                runs[tool.name] = None
            else:
                before.append(done)
            print(f"  {tool.name}: {'over the limit' if done is None else f'{done.seconds:.1f} s'}", flush=True)
    return runs


def rows(runs: dict[str, list[Run] | None], limit: float) -> list[dict[str, Any]]:
    """What was measured, tool by tool; times as medians, and over that of torchlint with two workers."""
    usual = runs.get("torchlint") or [Run(float("nan"), float("nan"), 0)]
    base, base_cpu = (
        statistics.median(times) for times in zip(*((one.seconds, one.cpu) for one in usual), strict=True)
    )
    table = []
    for name, measured in runs.items():
        if not measured:
            table.append({"tool": name, "over_s": limit})
            continue
        times = sorted(one.seconds for one in measured)
        table.append(
            {
                "tool": name,
                "seconds": round(statistics.median(times), 3),
                "least": round(times[0], 3),
                "most": round(times[-1], 3),
                "ratio": round(statistics.median(times) / base, 3),
                "cpu_s": round(statistics.median(one.cpu for one in measured), 3),
                "cpu_ratio": round(statistics.median(one.cpu for one in measured) / base_cpu, 3),
                "peak_mb": round(max(one.peak_bytes for one in measured) / 1e6),
            }
        )
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--tools", help="separated by commas; all by default")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for one run of a tool")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "torchlint-peers")
    parser.add_argument("--out", type=Path, help="a data file, whose other trees are kept")
    options = parser.parse_args()
    trees = {name: Path(folder) for name, _, folder in (tree.partition("=") for tree in options.tree)}
    trees = trees or {"timm 1.0.31": fetch("timm", "1.0.31", options.cache / "packages").folder}
    wanted = set(options.tools.split(",")) if options.tools else None
    result: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "versions": [needs for needs, _ in PEERS.values()],
        "rounds": options.rounds,
        "trees": {},
    }
    for name, tree in trees.items():
        print(name, flush=True)
        table = rows(measure(tree, options.cache, wanted, options.rounds, options.limit), options.limit)
        result["trees"][name] = table
        for row in table:
            said = (
                "{seconds} s, x{ratio}; processors {cpu_s} s, x{cpu_ratio}; {peak_mb} MB"
                if "seconds" in row
                else "over {over_s} s"
            )
            print(f"{row['tool']:28} {said.format(**row)}")
    if options.out is not None:
        before = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else result
        result["trees"] = {**before["trees"], **result["trees"]}
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

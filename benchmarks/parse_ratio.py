"""How long torchlint takes, as a multiple of what LibCST takes to parse the same files.

    python benchmarks/parse_ratio.py path/to/site-packages/timm

Both sides read the files below the folder whose text names torch, in one process each, turn about, and the ratio is
taken within each round. torchlint's time is that of its whole process, start-up included, with all rules and no cache;
the parser's is that of its calls alone. Times are processor times: what else the machine does then counts for little.
torchlint's modules are compiled before, as an installer leaves them. `parse_ratio.jsonl` holds what this printed. Needs
torchlint installed in the interpreter that runs this script.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

_PARSE = """
import sys, time
import libcst
sources = [open(path, "rb").read() for path in sys.stdin.read().split("\\0")]
start = time.process_time()
for source in sources:
    try:
        libcst.parse_module(source)
    except libcst.ParserSyntaxError:
        pass
print(time.process_time() - start)
"""


def torch_files(folder: Path) -> list[Path]:
    """The Python files below `folder` whose text names torch."""
    return [path for path in sorted(folder.rglob("*.py")) if b"torch" in path.read_bytes()]


def seconds_to_parse(files: list[Path], environment: dict[str, str]) -> float:
    """The time LibCST's calls take for `files`, in a process of its own."""
    command = [sys.executable, "-c", _PARSE]
    names = "\0".join(map(str, files))
    done = subprocess.run(command, input=names, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def seconds_to_lint(files: list[Path], environment: dict[str, str]) -> float:
    """The time a torchlint process takes for `files`."""
    command = [sys.executable, "-m", "torchlint", "check", "--isolated", "--no-cache", "-j", "1", "--select", "ALL"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, "--quiet", *map(str, files)], env=environment, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"torchlint failed: {done.stderr.strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compiling(folder: str) -> dict[str, str]:
    """An environment in which modules are compiled once, into a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {"PYTHONPYCACHEPREFIX": folder}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-most", type=float, metavar="RATIO", help="exit with 1 when the median ratio is above it")
    args = parser.parse_args()
    files = torch_files(args.folder)
    if not files:
        raise SystemExit(f"{args.folder}: no Python file here names torch")

    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        environment = compiling(folder)
        seconds_to_lint(files[:1], environment)
        for number in range(args.rounds):
            sides = [("lint_s", seconds_to_lint), ("parse_s", seconds_to_parse)]
            ordered = sides if number % 2 else sides[::-1]
            rounds.append({name: measure(files, environment) for name, measure in ordered})
    ratios = [taken["lint_s"] / taken["parse_s"] for taken in rounds]
    ratio = statistics.median(ratios)
    report = {
        "ratio": {"median": round(ratio, 3), "lowest": round(min(ratios), 3), "highest": round(max(ratios), 3)},
        "lint_s": round(statistics.median(taken["lint_s"] for taken in rounds), 3),
        "parse_s": round(statistics.median(taken["parse_s"] for taken in rounds), 3),
        "rounds": args.rounds,
        "folder": args.folder.name,
        "files": len(files),
        "lines": sum(path.read_bytes().count(b"\n") for path in files),
        "versions": {name: version(name) for name in ("torchlint", "libcst")} | {"python": platform.python_version()},
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cores": os.cpu_count()},
    }
    print(json.dumps(report))
    if args.at_most is not None and ratio > args.at_most:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""How long torchlint takes, as a multiple of what LibCST takes to parse the same files.

    python benchmarks/parse_ratio.py path/to/site-packages/timm

Both sides read the files below the folder whose text names torch, in one process each, turn about, and the ratio is
taken within each round. torchlint's time is that of its whole process, start-up included, with all rules and no cache;
the parser's is that of its calls alone. Needs torchlint installed in the interpreter that runs this script.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

_PARSE = """
import sys, time
import libcst
sources = [open(path, "rb").read() for path in sys.stdin.read().split("\\0")]
start = time.perf_counter()
for source in sources:
    try:
        libcst.parse_module(source)
    except libcst.ParserSyntaxError:
        pass
print(time.perf_counter() - start)
"""


def torch_files(folder: Path) -> list[Path]:
    """The Python files below `folder` whose text names torch."""
    return [path for path in sorted(folder.rglob("*.py")) if b"torch" in path.read_bytes()]


def seconds_to_parse(files: list[Path]) -> float:
    """The time LibCST's calls take for `files`, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _PARSE], input="\0".join(map(str, files)), capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def seconds_to_lint(files: list[Path]) -> float:
    """The time a torchlint process takes for `files`."""
    command = [sys.executable, "-m", "torchlint", "check", "--isolated", "--no-cache", "-j", "1", "--select", "ALL"]
    start = time.perf_counter()
    done = subprocess.run([*command, "--quiet", *map(str, files)], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise SystemExit(f"torchlint failed: {done.stderr.strip()}")
    return seconds


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
    for number in range(args.rounds):
        sides = [("lint_s", seconds_to_lint), ("parse_s", seconds_to_parse)]
        rounds.append({name: measure(files) for name, measure in (sides if number % 2 else reversed(sides))})
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
    print(json.dumps(report, indent=2))
    if args.at_most is not None and ratio > args.at_most:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

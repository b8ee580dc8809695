"""What starting torchlint costs: `--version` against a bare Python, a one-file hook against importing LibCST.

    python benchmarks/start.py             the hook reads examples/train.py
    python benchmarks/start.py model.py    another file

Processor times of whole processes, turn about, with the ratio taken within each round; modules are compiled before, as
an installer leaves them, and nothing is cached. The exit status is 1 where `--version` takes more than 5 times
`python -c pass`, or the hook more than 2.5 times `python -c "import libcst"`. `start.jsonl` holds what this printed on
a busy machine.
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

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.parse_ratio import compiling

EXAMPLE = Path(__file__).parents[1] / "examples" / "train.py"
VERSION, HOOK = 5.0, 2.5


def seconds(arguments: list[str], environment: dict[str, str]) -> float:
    """The processor time of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Measure and say what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    processes = {
        "python": ["-c", "pass"],
        "version": ["-m", "torchlint", "--version"],
        "libcst": ["-c", "import libcst"],
        "hook": ["-m", "torchlint", "--isolated", "--no-cache", str(arguments.file)],
    }
    with tempfile.TemporaryDirectory() as folder:
        environment = compiling(folder)
        for process in processes.values():
            seconds(process, environment)
        rounds = [
            {name: seconds(process, environment) for name, process in processes.items()}
            for _ in range(arguments.rounds)
        ]
    ratios = {
        "version_to_python": statistics.median(one["version"] / one["python"] for one in rounds),
        "hook_to_libcst": statistics.median(one["hook"] / one["libcst"] for one in rounds),
    }
    print(
        json.dumps(
            {name: round(ratio, 2) for name, ratio in ratios.items()}
            | {f"{name}_ms": round(statistics.median(one[name] for one in rounds) * 1e3) for name in processes}
            | {"file": arguments.file.name, "lines": arguments.file.read_bytes().count(b"\n")}
            | {"rounds": arguments.rounds, "python": platform.python_version(), "cores": os.cpu_count()}
            | {"libcst": version("libcst")}
        )
    )
    return int(ratios["version_to_python"] > VERSION or ratios["hook_to_libcst"] > HOOK)


if __name__ == "__main__":
    sys.exit(main())

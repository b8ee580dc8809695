"""Every Python file below some folders, linted as if it used torch: no crash, no hang, no internal error.

    python benchmarks/corpora.py FOLDER...
    python benchmarks/corpora.py --record "timm 1.0.31=FOLDER"      a row of its own in `corpora.jsonl`

A file without torch needs no parse, so a line is added that says that it has. What does not parse must be a TL003 in
the row that CPython names. Prints what failed, how many files there were, and those that took longest for their size.
Exits with 1 where something failed.
"""

from __future__ import annotations

import argparse
import datetime
import heapq
import json
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from torchlint.engine.lint import lint_bytes  # noqa: E402
from torchlint.engine.settings import Settings  # noqa: E402
from torchlint.findings import Confidence  # noqa: E402
from torchlint.rules.registry import all_rules  # noqa: E402

CODES = frozenset({"TL003", *(rule.code for rule in all_rules())})
SETTINGS = Settings(root=ROOT, rules=CODES, min_confidence=Confidence.POSSIBLE, cache_dir=None)


def failures(data: bytes, name: str) -> Iterator[str]:
    """What fails when a file is linted."""
    row = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, name, "exec")
        except SyntaxError as error:
            row = error.lineno
        except (ValueError, RecursionError, MemoryError):
            row = 0  # CPython names no row
    result = lint_bytes(data, name, SETTINGS)
    yield from result.errors
    unreadable = [finding for finding in result.findings if finding.code == "TL003"]
    if unreadable and row is None:
        yield f"compiles, but: {unreadable[0].message}"
    if row and unreadable and unreadable[0].start.row != row:
        yield f"TL003 in row {unreadable[0].start.row}, CPython says {row}: {unreadable[0].message}"


def lint(folder: Path) -> tuple[int, list[str], list[tuple[float, str]]]:
    """How many files lie below a folder, what failed, and those that took longest: seconds for a byte."""
    files, said = 0, []
    slowest: list[tuple[float, str]] = []
    for path in sorted(folder.rglob("*.py")):
        try:
            data = path.read_bytes() + b"\nimport torch\n"
        except OSError:
            continue
        files += 1
        began = time.process_time()
        try:
            reasons = list(failures(data, str(path)))
        except Exception:
            reasons = [traceback.format_exc()]
        taken = (time.process_time() - began) / (len(data) + 5000)
        slowest = heapq.nlargest(5, [*slowest, (taken, str(path))])
        for reason in reasons:
            print(f"{path}: {reason}", flush=True)
            said.append(f"{path.relative_to(folder)}: {reason.strip().splitlines()[-1]}")
    return files, said, slowest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="[NAME=]FOLDER")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    failed = False
    for given in options.folders:
        name, _, folder = given.rpartition("=")
        files, said, slowest = lint(Path(folder))
        failed |= bool(said)
        print(f"{name or folder}: {files} files, {len(said)} failures; slowest for their size, in µs per byte:")
        for rate, path in slowest:
            print(f"  {rate * 1e6:.1f}  {path}", flush=True)
        if options.record:
            row = {
                "corpus": name or Path(folder).name,
                "files": files,
                "failed": said,
                "slowest_us_per_byte": round(slowest[0][0] * 1e6, 1) if slowest else None,
                "date": datetime.date.today().isoformat(),
                "python": platform.python_version(),
            }
            with (ROOT / "benchmarks" / "corpora.jsonl").open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

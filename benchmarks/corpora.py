"""Every Python file below some folders, linted as if it used torch: no crash, no hang, no internal error.

    python benchmarks/corpora.py FOLDER...

A file without torch needs no parse, so a line is added that says that it has. What does not parse must be a TL003 in
the row that CPython names. Prints what failed, how many files there were, and those that took longest for their size.
Exits with 1 where something failed. What was found is kept in `corpora.jsonl`.
"""

from __future__ import annotations

import argparse
import heapq
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    files = failed = 0
    slowest: list[tuple[float, str]] = []
    for path in (path for folder in parser.parse_args().folders for path in sorted(folder.rglob("*.py"))):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        files += 1
        data += b"\nimport torch\n"
        began = time.process_time()
        try:
            said = list(failures(data, str(path)))
        except Exception:
            said = [traceback.format_exc()]
        heapq.heappush(slowest, ((time.process_time() - began) / (len(data) + 5000), str(path)))
        slowest = heapq.nlargest(5, slowest)
        failed += bool(said)
        for reason in said:
            print(f"{path}: {reason}", flush=True)
    print(f"{files} files, {failed} failed; slowest for their size, in µs per byte:")
    for rate, name in slowest:
        print(f"  {rate * 1e6:.1f}  {name}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

"""Which findings in pinned real packages appeared and went since the committed snapshot.

    python benchmarks/lintcheck.py               prints the difference, and exits with 1 where there is one
    python benchmarks/lintcheck.py --update      writes the snapshot, once the difference is what was meant
    python benchmarks/lintcheck.py timm kornia   only these

A finding is the same as long as its file, its code and its fingerprint are, wherever its line moves. The packages are
downloaded by pip and kept unpacked in --cache.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.packages import Found, fetch, findings

SNAPSHOTS = Path(__file__).parent / "lintcheck"
PACKAGES = {
    "accelerate": "1.15.0",
    "kornia": "0.9.0",
    "openai-whisper": "20250625",
    "stable-baselines3": "2.9.2",
    "timm": "1.0.31",
    "torchmetrics": "1.9.0",
    "torchtune": "0.6.1",
    "trl": "1.16.0",
}


class Entry(NamedTuple):
    """A finding as a snapshot keeps it."""

    file: str
    line: int
    code: str
    confidence: str
    fingerprint: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same finding in another run."""
        return self.file, self.code, self.fingerprint


class Difference(NamedTuple):
    """What two runs differ in, each by file and line."""

    appeared: list[Entry]
    went: list[Entry]
    regraded: list[tuple[Entry, Entry]]  # the same finding at another confidence: before, after


def entries(found: Iterable[Found]) -> list[Entry]:
    """The findings as a snapshot keeps them, in its order."""
    return sorted(Entry(f.file, f.line, f.code, f.confidence, f.fingerprint) for f in found)


def read(snapshot: Path) -> list[Entry]:
    """The findings of a snapshot; none where there is no snapshot yet."""
    if not snapshot.is_file():
        return []
    return [Entry(**json.loads(line)) for line in snapshot.read_text(encoding="utf-8").splitlines()]


def write(snapshot: Path, found: Iterable[Entry]) -> None:
    """Replace a snapshot."""
    snapshot.parent.mkdir(exist_ok=True)
    scratch = snapshot.with_suffix(".new")
    scratch.write_text("".join(json.dumps(entry._asdict()) + "\n" for entry in found), encoding="utf-8")
    scratch.replace(snapshot)


def difference(before: Iterable[Entry], after: Iterable[Entry]) -> Difference:
    """What appeared, what went, and what is graded otherwise."""
    old = {entry.key: entry for entry in before}
    new = {entry.key: entry for entry in after}
    return Difference(
        sorted(new[key] for key in new.keys() - old.keys()),
        sorted(old[key] for key in old.keys() - new.keys()),
        sorted((old[key], new[key]) for key in old.keys() & new.keys() if old[key].confidence != new[key].confidence),
    )


def show(package: str, changed: Difference) -> None:
    """Print a difference, one finding a line."""
    for sign, moved in (("+", changed.appeared), ("-", changed.went)):
        for entry in moved:
            print(f"{sign} {package}: {entry.file}:{entry.line} {entry.code} {entry.confidence}")
    for before, after in changed.regraded:
        print(f"~ {package}: {after.file}:{after.line} {after.code} {before.confidence} -> {after.confidence}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="of those that are pinned; default: all")
    parser.add_argument("--update", action="store_true", help="write what was found as the new snapshot")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "torchlint-lintcheck")
    args = parser.parse_args()
    unknown = set(args.packages) - PACKAGES.keys()
    if unknown:
        parser.error(f"not pinned: {', '.join(sorted(unknown))} (pinned: {', '.join(PACKAGES)})")
    appeared = went = regraded = 0
    for name in args.packages or PACKAGES:
        snapshot = SNAPSHOTS / f"{name}.jsonl"
        after = entries(findings(fetch(name, PACKAGES[name], args.cache).folder))
        changed = difference(read(snapshot), after)
        show(name, changed)
        appeared += len(changed.appeared)
        went += len(changed.went)
        regraded += len(changed.regraded)
        if args.update:
            write(snapshot, after)
    print(f"{appeared} appeared, {went} went, {regraded} regraded")
    if not args.update and (appeared or went or regraded):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

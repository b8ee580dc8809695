"""Which lines of the working tree changed since a git revision."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torchlint.engine.errors import UserError
from torchlint.findings import Finding

__all__ = ["ChangedLines", "GitError", "changed_since"]

_HUNK = re.compile(rb"@@ -\d+(?:,(?P<old>\d+))? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")

# The repository's own configuration may name programs; none of them is to run.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=true")


class GitError(UserError):
    """A revision that cannot be compared with."""


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """Changed and added rows, from 1, by absolute path, and what git tracks: all else has changed as a whole.

    Of a submodule git tracks which commit it is at; what stands in its files is that repository's own.
    """

    rows: Mapping[Path, frozenset[int]]
    tracked: frozenset[Path]

    def touches(self, finding: Finding) -> bool:
        """Whether a line of `finding` changed. In a notebook, whose rows git counts otherwise, any change counts."""
        path = Path(os.path.realpath(finding.filename))
        if not (path in self.tracked or any(folder in self.tracked for folder in path.parents)):
            return True
        rows = self.rows.get(path, frozenset())
        if finding.cell is not None:
            return bool(rows)
        return any(row in rows for row in range(finding.start.row, finding.end.row + 1))


def changed_since(revision: str, folder: Path) -> ChangedLines:
    """What changed in the repository around `folder` since `revision` branched off, uncommitted changes included.

    Raises GitError where git is missing, this is no repository, or it has no such revision.
    """
    top = Path(os.path.realpath(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n"))))
    commit = _git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", what=revision
    )
    base = commit.decode().strip()
    # What others added to the base branch meanwhile is no change of ours. A shallow clone may not reach back that far.
    with contextlib.suppress(GitError):
        base = _git(folder, "merge-base", base, "HEAD").decode().strip()
    diff = _git(
        top, "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--no-relative",
        "--src-prefix=a/", "--dst-prefix=b/", "--diff-filter=d", "--submodule=short", base, "--",
    )  # fmt: skip
    tracked = _git(top, "ls-files", "-z")
    return ChangedLines(
        {top / name: rows for name, rows in _parse(diff).items()},
        frozenset(top / os.fsdecode(name) for name in tracked.split(b"\0") if name),
    )


def _git(folder: Path, *arguments: str, what: str | None = None) -> bytes:
    try:
        done = subprocess.run([*_GIT, *arguments], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise GitError("--diff-base needs git, which is not installed") from error
    if done.returncode != 0:
        if what is not None:
            raise GitError(f"--diff-base: git knows no revision {what!r}")
        said = os.fsdecode(done.stderr).strip().splitlines()
        raise GitError(f"--diff-base: {said[0] if said else f'git {arguments[0]} failed'}")
    return done.stdout


def _parse(diff: bytes) -> dict[str, frozenset[int]]:
    """The rows that a diff without context adds, by file name."""
    rows: dict[str, set[int]] = {}
    current: set[int] = set()
    left = 0  # lines of the hunk still to come, which may look like headers
    for line in diff.split(b"\n"):
        if left > 0 and line[:1] in (b"+", b"-"):
            left -= 1
        elif line.startswith(b"+++ "):
            current = rows.setdefault(_name(line[4:]), set())
        elif (hunk := _HUNK.match(line)) is not None:
            start, count = int(hunk["start"]), int(hunk["count"] or 1)
            current.update(range(start, start + count))
            left = count + int(hunk["old"] or 1)
    return {name: frozenset(changed) for name, changed in rows.items()}


def _name(quoted: bytes) -> str:
    """The file name of a `+++` line, less its prefix; git quotes unusual ones as C does, and ends others in a tab."""
    if quoted.startswith(b'"'):
        text = quoted[1 : quoted.rindex(b'"')]
        text = re.sub(rb"\\([0-7]{3}|.)", _unquote, text)
    else:
        text = quoted.rstrip(b"\t\r")
    return os.fsdecode(text.removeprefix(b"b/"))


def _unquote(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    if len(escape) == 3:
        return bytes([int(escape, 8)])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}.get(
        escape, escape
    )

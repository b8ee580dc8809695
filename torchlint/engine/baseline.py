"""The baseline: findings that an old code base keeps for now.

A committed JSON file. A finding is in it when file, rule and line agree, the line compared without its white space, so
that neither moved lines nor reformatting bring old findings back. Each entry has a count: the third `loss.item()` of a
file is new when the baseline knows two.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from torchlint.engine.errors import UserError, short
from torchlint.engine.selection import rules_by_code
from torchlint.findings import Confidence, Finding, Impact, Position
from torchlint.source.files import read_regular

__all__ = ["DEFAULT_NAME", "Baseline", "BaselineError", "Entry", "Split", "normalised"]

DEFAULT_NAME = "torchlint-baseline.json"

_VERSION = 1
_LONGEST_LINE = 200  # of a normalised line only so much is kept and compared

Source = Callable[[str, "int | None"], Sequence[str]]


class BaselineError(UserError):
    """A baseline that cannot be read or written."""


class Entry(NamedTuple):
    """What identifies accepted findings: the file, relative to the baseline's folder, the rule and the line."""

    file: str
    code: str
    line: str


@dataclass(frozen=True, slots=True)
class Split:
    """Findings held against a baseline."""

    new: list[Finding]
    known: list[Finding]
    unused: list[Finding]  # TL001, for entries that match nothing any more


def normalised(line: str) -> str:
    """What is compared of a source line: its characters without white space, cut where it is long."""
    return "".join(line.split())[:_LONGEST_LINE]


class Baseline:
    """The accepted findings of one baseline file, by entry."""

    def __init__(self, path: Path, counts: Mapping[Entry, int] | None = None) -> None:
        self.path = path
        self.counts = Counter(counts or {})

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """The baseline in the file `path`.

        Raises BaselineError where there is none or it is damaged.
        """
        try:
            data = json.loads(read_regular(path))
            if data["version"] != _VERSION:
                raise BaselineError(
                    f"{short(path)}: is a baseline of version {data['version']!r}, and this torchlint reads 1"
                )
            counts = Counter(
                {
                    Entry(str(file), str(entry["code"]), str(entry["line"])): int(entry.get("count", 1))
                    for file, entries in data["files"].items()
                    for entry in entries
                }
            )
        except OSError as error:
            hint = "; 'torchlint baseline create' makes one" if isinstance(error, FileNotFoundError) else ""
            raise BaselineError(f"{short(path)}: cannot be read: {error.strerror or error}{hint}") from error
        except KeyError as error:
            raise BaselineError(f"{short(path)}: is not a baseline of torchlint: {error} is missing") from error
        except (TypeError, AttributeError) as error:
            raise BaselineError(f"{short(path)}: is not a baseline of torchlint: it has another form") from error
        except (ValueError, OverflowError, RecursionError) as error:
            raise BaselineError(f"{short(path)}: is not a baseline of torchlint: {error}") from error
        return cls(path, counts)

    def entry(self, finding: Finding, source: Source) -> Entry:
        """The entry that would accept `finding`."""
        lines = source(finding.filename, finding.cell)
        row = finding.start.row - 1
        return Entry(self._key(finding.filename), finding.code, normalised(lines[row]) if row < len(lines) else "")

    def _key(self, filename: str) -> str:
        absolute = os.path.abspath(filename)
        try:
            return Path(os.path.relpath(absolute, self.path.absolute().parent)).as_posix()
        except ValueError:  # another drive of Windows
            return Path(absolute).as_posix()

    def split(self, findings: Iterable[Finding], source: Source, visited: Iterable[str], rules: Iterable[str]) -> Split:
        """Tell new findings from known ones.

        Entries of `visited` files for `rules` that ran and found less than they hold are reported as TL001, when that
        rule ran itself.
        """
        left = Counter(self.counts)
        new, known = [], []
        for finding in findings:
            entry = self.entry(finding, source)
            if left[entry] > 0:
                left[entry] -= 1
                known.append(finding)
            else:
                new.append(finding)
        ran = frozenset(rules)
        unused: list[Finding] = []
        if "TL001" in ran:
            files = {self._key(filename) for filename in visited}
            unused = list(self._unused(entry for entry in +left if entry.file in files and entry.code in ran))
        return Split(new, known, unused)

    def _unused(self, entries: Iterable[Entry]) -> Iterator[Finding]:
        """A finding for each of `entries`, at its line of the baseline file."""
        rows = dict(self._rows())
        rule = rules_by_code()["TL001"]
        for entry in entries:
            at = Position(rows.get(entry, 1), 1)
            yield Finding(
                code=rule.code,
                name=rule.name,
                message=f"the baseline accepts {entry.code} at `{entry.line[:60]}` in {entry.file}, which is gone",
                filename=short(self.path),
                start=at,
                end=at,
                bottleneck=rule.bottleneck,
                confidence=Confidence.SURE,
                impact=Impact.LOW,
                fingerprint=f"baseline:{entry.file}:{entry.code}:{entry.line}",
                advice="run `torchlint baseline update` to drop it",
            )

    def _rows(self) -> Iterator[tuple[Entry, int]]:
        """Each entry with the row where `write` puts it."""
        for row, piece in enumerate(self._pieces(), start=1):
            if isinstance(piece, tuple):
                yield piece[0], row

    def gone(self, folders: Iterable[Path]) -> Iterator[str]:
        """The files below some folders, as findings call them, that entries name and that are not there any more."""
        around = [Path(os.path.abspath(folder)) for folder in folders]
        for file in {entry.file for entry in self.counts}:
            path = Path(os.path.abspath(self.path.absolute().parent / file))
            if any(folder in path.parents for folder in around) and _is_gone(path):
                yield str(path)

    def updated(self, findings: Iterable[Finding], source: Source, visited: Iterable[str]) -> Baseline:
        """The baseline with what it holds for the `visited` files replaced by `findings`."""
        files = {self._key(filename) for filename in visited}
        counts = Counter({entry: count for entry, count in self.counts.items() if entry.file not in files})
        counts.update(self.entry(finding, source) for finding in findings)
        return Baseline(self.path, counts)

    def _pieces(self) -> Iterator[str | tuple[Entry, str]]:
        """The lines of the file: one for each entry, so that changes of it read well; entries come with their line."""
        yield "{"
        yield f'  "version": {_VERSION},'
        yield '  "files": {'
        by_file: dict[str, list[Entry]] = {}
        for entry in sorted(self.counts):
            by_file.setdefault(entry.file, []).append(entry)
        for number, (file, entries) in enumerate(by_file.items(), start=1):
            yield f"    {json.dumps(file)}: ["
            for index, entry in enumerate(entries, start=1):
                count = self.counts[entry]
                data: dict[str, object] = {"code": entry.code, "line": entry.line}
                if count > 1:
                    data["count"] = count
                yield entry, f"      {json.dumps(data)}{'' if index == len(entries) else ','}"
            yield f"    ]{'' if number == len(by_file) else ','}"
        yield "  }"
        yield "}"

    def text(self) -> str:
        """The file's content, the same for the same entries."""
        return "".join((piece if isinstance(piece, str) else piece[1]) + "\n" for piece in self._pieces())


def _is_gone(path: Path) -> bool:
    """Whether there is no such file; where that cannot be told, there is."""
    try:
        path.stat()
    except OSError as error:
        return isinstance(error, (FileNotFoundError, NotADirectoryError))
    return False

"""Results kept between runs, by content.

A key is made of everything that decides a result: the file's bytes and name, the settings, and what computes it. So an
entry is never stale, and no run has to throw another's away. Each entry is a file of its own, written under another
name and renamed: parallel runs and kills leave it whole or absent. A cache that cannot be written, or an entry that
cannot be read or was damaged, is no error: the work is done again. Entries are JSON behind a checksum: a cache that
somebody else made is data, and runs nothing.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from torchlint.engine.lint import FileResult
from torchlint.engine.settings import Settings
from torchlint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Position, Related
from torchlint.source.files import read_regular

__all__ = ["Cache", "decoded", "encoded", "environment"]

_MOST_ENTRIES = 20_000
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder holds results of torchlint; it may be removed at any time.\n"
    "# See https://bford.info/cachedir/\n"
)


class Cache:
    """The cache in the folder `folder`; with none, nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._writable = folder is not None
        self._written = 0

    def key(self, data: bytes, filename: str, settings: Settings, codes: frozenset[str]) -> str:
        """What the result of linting `data` as `filename`, with the rules `codes`, is kept under."""
        digest = hashlib.sha256(environment(settings, codes))
        digest.update(os.fsencode(filename) + b"\0")
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str, filename: str) -> FileResult | None:
        """The result kept under `key`."""
        if self.folder is None:
            return None
        try:
            return decoded(json.loads(_read(self._path(self.folder, key))), filename)
        except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
            return None

    def put(self, key: str, result: FileResult) -> None:
        """Keep a result. One with errors or notes is not: they are shown until they are gone."""
        if self.folder is None or not self._writable or result.errors or result.notes:
            return
        self._write(self._path(self.folder, key), json.dumps(encoded(result), separators=(",", ":")))

    def note(self, name: str) -> str | None:
        """What was last noted under a name, which is no result: it is as old as it is."""
        if self.folder is None:
            return None
        try:
            return _read(self._note(self.folder, name)).decode("utf-8", "surrogateescape")
        except (OSError, ValueError):
            return None

    def put_note(self, name: str, text: str) -> None:
        """Note something under a name."""
        if self.folder is not None and self._writable:
            self._write(self._note(self.folder, name), text)

    def _write(self, path: Path, text: str) -> None:
        """Write a file of the cache, which is whole at every moment."""
        try:
            self._prepare(path.parent)
            handle, temporary = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    content = text.encode("utf-8", "surrogateescape")
                    file.write(_checksum(content) + content)
                os.replace(temporary, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError:
            self._writable = False  # read-only or full; it will not get better within a run
        else:
            self._written += 1

    def close(self) -> None:
        """Hold the number of entries in bounds, when this run added any: the oldest go."""
        if self.folder is None or not self._written:
            return
        with contextlib.suppress(OSError):
            entries = [entry for shard in os.scandir(self.folder) if shard.is_dir() for entry in os.scandir(shard.path)]
            if len(entries) > _MOST_ENTRIES:
                entries.sort(key=lambda entry: entry.stat().st_mtime)
                for entry in entries[: len(entries) - _MOST_ENTRIES * 3 // 4]:
                    os.unlink(entry.path)

    @staticmethod
    def _path(folder: Path, key: str) -> Path:
        return folder / key[:2] / key[2:]

    @staticmethod
    def _note(folder: Path, name: str) -> Path:
        return folder / "notes" / hashlib.sha256(os.fsencode(name)).hexdigest()

    def _prepare(self, shard: Path) -> None:
        if os.path.isdir(shard):
            return
        shard.mkdir(parents=True, exist_ok=True)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            file = shard.parent / name
            if not file.exists():
                file.write_text(text, encoding="ascii")


def _read(path: Path) -> bytes:
    """What a file of the cache holds. Raises ValueError where that is not what was written."""
    data = read_regular(path)
    checksum, content = data[:_CHECKSUM], data[_CHECKSUM:]
    if checksum != _checksum(content):
        raise ValueError("damaged")
    return content


_CHECKSUM = 16  # bytes


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM).digest()


@functools.lru_cache(maxsize=64)
def environment(settings: Settings, codes: frozenset[str]) -> bytes:
    """What decides results beside the file."""
    parts = (settings.digest(), sorted(codes), sys.version_info[:3], _parser(), _implementation())
    return repr(parts).encode()


@functools.cache
def _parser() -> tuple[str, int, int] | None:
    """Which LibCST is installed, told without importing it or reading its metadata, which takes as long."""
    spec = find_spec("libcst")
    if spec is None or spec.origin is None:
        return None
    status = os.stat(spec.origin)
    return spec.origin, status.st_mtime_ns, status.st_size


@functools.cache
def _implementation() -> list[tuple[str, int, int]]:
    """What torchlint itself is: its files, so that a checkout that is worked on is a new one after each change."""
    package = os.path.dirname(os.path.dirname(__file__))
    files = []
    for folder, _, names in os.walk(package):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                status = os.stat(path)
                files.append((path[len(package) :], status.st_mtime_ns, status.st_size))
    return sorted(files)


def encoded(result: FileResult) -> list[Any]:
    """A result as plain data."""
    return [result.suppressed, [_encoded_finding(finding) for finding in result.findings]]


def decoded(data: Any, filename: str) -> FileResult:
    """The result that `encoded` made plain, of a file of that name. Other data raises an error."""
    suppressed, findings = data
    return FileResult(tuple(_decoded_finding(finding, filename) for finding in findings), int(suppressed))


def _encoded_finding(finding: Finding) -> dict[str, Any]:
    data: dict[str, Any] = {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "at": [*_pair(finding.start), *_pair(finding.end)],
        "bottleneck": finding.bottleneck,
        "confidence": int(finding.confidence),
        "impact": int(finding.impact),
        "fingerprint": finding.fingerprint,
        "advice": finding.advice,
        "related": [
            [related.message, related.filename, *_pair(related.start), related.cell] for related in finding.related
        ],
        "cell": finding.cell,
        "cell_id": finding.cell_id,
    }
    if finding.fix is not None:
        edits = [[*_pair(edit.start), *_pair(edit.end), edit.content, edit.cell] for edit in finding.fix.edits]
        data["fix"] = [int(finding.fix.applicability), finding.fix.message, edits]
    return data


def _decoded_finding(data: Any, filename: str) -> Finding:
    row, column, end_row, end_column = data["at"]
    fix = None
    if "fix" in data:
        applicability, message, edits = data["fix"]
        fix = Fix(
            Applicability(applicability),
            message,
            tuple(Edit(Position(a, b), Position(c, d), content, cell) for a, b, c, d, content, cell in edits),
        )
    return Finding(
        code=data["code"],
        name=data["name"],
        message=data["message"],
        filename=filename,
        start=Position(row, column),
        end=Position(end_row, end_column),
        bottleneck=data["bottleneck"],
        confidence=Confidence(data["confidence"]),
        impact=Impact(data["impact"]),
        fingerprint=data["fingerprint"],
        cell=data["cell"],
        related=tuple(Related(message, name, Position(a, b), cell) for message, name, a, b, cell in data["related"]),
        fix=fix,
        advice=data["advice"],
        cell_id=data["cell_id"],
    )


def _pair(position: Position) -> tuple[int, int]:
    return position.row, position.column

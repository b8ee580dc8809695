"""Which files are linted: found as ruff and git find them.

A file that is named is linted, whatever it is called; below a folder that is named, the files that `include` matches,
less what `exclude` and, unless told otherwise, git's ignore files leave out. Links to folders are not followed, so that
no loop is walked; links to files are.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from torchlint.source.files import read_regular

__all__ = ["FileRules", "Found", "discover", "is_excluded", "is_pattern"]


class FileRules(Protocol):
    """What a configuration says about files; patterns are written as in a .gitignore, and start at `root`."""

    @property
    def root(self) -> Path: ...
    @property
    def include(self) -> tuple[str, ...]: ...
    @property
    def exclude(self) -> tuple[str, ...]: ...
    @property
    def force_exclude(self) -> bool: ...
    @property
    def respect_gitignore(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Found:
    """A file to lint, or a place that could not be looked at and why."""

    path: Path
    problem: str = ""


def discover(paths: Iterable[Path], rules_for: Callable[[Path], FileRules]) -> Iterator[Found]:
    """The files below `paths`, each once, those of a folder in the order of their names.

    `rules_for` gives the rules that hold for what lies in a folder.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _below(path, rules_for):
            key = os.path.abspath(found.path)
            if key not in seen:
                seen.add(key)
                yield found


def is_excluded(path: Path, rules: FileRules) -> bool:
    """Whether `exclude` leaves out the file `path`, or a folder around it."""
    relative = _relative(path, rules.root)
    parts = relative.split("/")
    return any(
        _patterns(rules.exclude).match("/".join(parts[:depth]), is_folder=depth < len(parts))
        for depth in range(1, len(parts) + 1)
    )


def _below(path: Path, rules_for: Callable[[Path], FileRules]) -> Iterator[Found]:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        yield Found(path, _reason(error))
        return
    rules = rules_for(path if stat.S_ISDIR(mode) else path.parent)
    if rules.force_exclude and is_excluded(path, rules):
        return
    if stat.S_ISDIR(mode):
        ignored = _Ignored.above(path) if rules.respect_gitignore else None
        yield from _walk(path, rules_for, ignored, shielded=is_excluded(path, rules))
    elif stat.S_ISREG(mode):
        yield Found(path)
    else:
        yield Found(path, "is not a regular file")


def _walk(
    folder: Path, rules_for: Callable[[Path], FileRules], ignored: _Ignored | None, shielded: bool
) -> Iterator[Found]:
    """What is found in and below `folder`.

    With `shielded`, the folder was named though it is excluded: patterns then start at it.
    """
    rules = rules_for(folder)
    root = folder if shielded else rules.root
    exclude, include = _patterns(rules.exclude), _patterns(rules.include)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Found(folder, _reason(error))
        return
    if ignored is not None:
        ignored = ignored.entering(folder, any(entry.name == ".gitignore" for entry in entries))
    here, base = os.path.abspath(folder), os.path.abspath(root)
    for entry in entries:
        path = folder / entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            is_file = not is_folder and entry.is_file()
        except OSError:
            continue  # a link in a circle, or gone meanwhile
        if not (is_folder or is_file):
            continue
        absolute = os.path.join(here, entry.name)
        relative = _inside(absolute, base)
        if is_file and not include.match(relative):
            continue
        if exclude.match(relative, is_folder) or (ignored is not None and ignored.match(absolute, is_folder)):
            continue
        if is_file:
            yield Found(path)
        elif not _is_environment(path):
            yield from _walk(path, rules_for, ignored, shielded and root != rules.root)


def _is_environment(folder: Path) -> bool:
    """Whether the folder is a virtual environment, whatever it is called."""
    return os.path.isfile(folder / "pyvenv.cfg")


def _reason(error: OSError) -> str:
    return f"cannot be read: {error.strerror or error}"


def _relative(path: Path, root: Path) -> str:
    """The path below `root` with slashes; outside of it, the path's last part, so that only plain patterns match."""
    return _inside(os.path.abspath(path), os.path.abspath(root))


def _inside(absolute: str, base: str) -> str:
    """The same of paths that are absolute already."""
    if absolute == base:
        return "."
    prefix = base if base.endswith(os.sep) else base + os.sep
    inside = absolute[len(prefix) :] if absolute.startswith(prefix) else os.path.basename(absolute)
    return inside.replace(os.sep, "/")


@dataclass(frozen=True)
class _Patterns:
    """Patterns of a .gitignore. Most are a name or a suffix, which are looked up without a regular expression."""

    names: frozenset[str]
    suffixes: tuple[str, ...]
    rest: tuple[str, ...]

    def match(self, relative: str, is_folder: bool = False) -> bool:
        """Whether the last of the patterns that match `relative` leaves it out."""
        name = relative.rpartition("/")[2]
        if name in self.names or name.endswith(self.suffixes):
            return True
        if not self.rest:
            return False
        return bool(_spec(self.rest).match_file(relative + "/" if is_folder else relative))


@lru_cache(maxsize=256)
def _patterns(patterns: Sequence[str]) -> _Patterns:
    if any(pattern.startswith("!") for pattern in patterns):
        return _Patterns(frozenset(), (), tuple(patterns))  # their order matters
    names = {pattern for pattern in patterns if not _SPECIAL & set(pattern)}
    suffixes = {pattern for pattern in patterns if pattern.startswith("*.") and not _SPECIAL & set(pattern[1:])}
    rest = tuple(pattern for pattern in patterns if pattern not in names and pattern not in suffixes)
    return _Patterns(frozenset(names), tuple(pattern[1:] for pattern in suffixes), rest)


_SPECIAL = frozenset("*?[]/!\\# ")  # what has a meaning in a pattern
_LONGEST_PATH = 4096  # what is longer names no file


def is_pattern(line: str) -> bool:
    """Whether a line of an ignore file is a pattern; of those that are none, git passes over all."""
    if not line.strip() or line.startswith("#") or len(line) > _LONGEST_PATH:
        return False
    if not _SPECIAL & set(line.removeprefix("*.")):
        return True
    try:
        _spec((line,))
    except (ValueError, re.error):  # the latter where a range runs backwards
        return False
    return True


@lru_cache(maxsize=256)
def _spec(patterns: tuple[str, ...]) -> Any:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


@dataclass(frozen=True)
class _Ignored:
    """The ignore files that hold in a folder: that of the innermost folder decides first."""

    layers: tuple[tuple[Path, tuple[str, ...]], ...] = field(default=())  # (folder, patterns), innermost first

    @classmethod
    def above(cls, folder: Path) -> _Ignored:
        """Those of the folders around `folder`, up to the top of its repository."""
        folder = Path(os.path.abspath(folder))
        repository = next((parent for parent in (folder, *folder.parents) if os.path.exists(parent / ".git")), None)
        if repository is None:
            return cls()
        ignored = cls().reading(repository, repository / ".git" / "info" / "exclude")
        for parent in reversed(folder.parents):
            if parent == repository or repository in parent.parents:
                ignored = ignored.reading(parent, parent / ".gitignore")
        return ignored

    def entering(self, folder: Path, has_file: bool) -> _Ignored:
        """Those that hold in `folder`, which lies in the folder that these are of."""
        return self.reading(Path(os.path.abspath(folder)), folder / ".gitignore") if has_file else self

    def reading(self, folder: Path, file: Path) -> _Ignored:
        """These and the ignore file `file`, whose patterns start at `folder`."""
        try:
            text = read_regular(file).decode("utf-8", "surrogateescape")
        except OSError:
            return self
        lines = tuple(line for line in text.splitlines() if is_pattern(line))
        return _Ignored(((folder, lines), *self.layers)) if lines else self

    def match(self, absolute: str, is_folder: bool) -> bool:
        """Whether git ignores what lies at a path."""
        for folder, patterns in self.layers:
            relative = _inside(absolute, str(folder)) + ("/" if is_folder else "")
            verdict = _spec(patterns).check_file(relative).include
            if verdict is not None:
                return bool(verdict)
        return False

"""Which file of a project the name of a module means: packages, `src` folders, namespace packages, scripts.

Nothing is imported and no folder is searched: what is asked about are the files that are known. A module's place is the
path of its file without the suffix, as parts; that of a package is its folder. Names of places start with a slash, so
that no import can be taken for one: `/home.me.project.package.module`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.source.notebook import is_notebook

__all__ = ["Modules", "Place", "circles"]

Place = tuple[str, ...]

# Known better than any file of that name could tell: a folder `torch` among the examples is not torch.
_NEVER = frozenset({"torch", "numpy"})
# Folders next to the scripts and tests of a project that hold its packages.
_ROOTS = frozenset({("src",), ("lib",), ("python",), ("source",)})


@dataclass(frozen=True)
class Modules:
    """The modules of some files. `numbers` are the files' own; `packages` are the folders that have an `__init__`."""

    numbers: dict[Place, int]
    packages: frozenset[Place]

    @functools.cached_property
    def _named(self) -> dict[str, list[Place]]:
        """The places of modules and of the folders around them, by their last part."""
        places = {place[:end] for place in self.numbers for end in range(1, len(place) + 1)}
        named: dict[str, list[Place]] = {}
        for place in sorted(places):
            named.setdefault(place[-1], []).append(place)
        return named

    @classmethod
    def of(cls, paths: Iterable[tuple[int, Path]], packages: Collection[Path | str] = ()) -> Modules:
        """The modules of numbered files; a folder is a package where its `__init__` is among them, or where told so."""
        numbers: dict[Place, int] = {}
        known = {_parts(folder) for folder in packages}
        folders: dict[str, Place] = {}
        for number, path in paths:
            folder, name = os.path.split(path)
            if folder not in folders:
                folders[folder] = _parts(folder)
            # A notebook is no module, so that no import finds it.
            stem = name if is_notebook(name) else os.path.splitext(name)[0]
            place = *folders[folder], stem.replace(".", "_")
            if place[-1] == "__init__":
                place = place[:-1]
                known.add(place)
            numbers[place] = number
        return cls(numbers, frozenset(known))

    def part(self, numbers: Sequence[int]) -> Modules:
        """The modules of some of the files only, numbered in the order given."""
        position = {number: index for index, number in enumerate(numbers)}
        places = {place: position[number] for place, number in self.numbers.items() if number in position}
        around = {place[:end] for place in places for end in range(1, len(place) + 1)}
        return Modules(places, self.packages & around)

    @functools.cached_property
    def places(self) -> dict[int, Place]:
        """The place of each file, by its number."""
        return {number: place for place, number in self.numbers.items()}

    def absolute(self, name: str, asking: Place) -> tuple[Place, tuple[str, ...]] | None:
        """The place that a dotted name means in the file at `asking`, and the rest of the name, which is defined there.

        None where it means no file that is known, as far as that can be told: an installed package, most often.
        """
        if name.startswith("/"):
            return self._below((), tuple(name[1:].split(".")))
        parts = tuple(name.split("."))
        if parts[0] in _NEVER:
            return None
        best: tuple[Place, tuple[str, ...]] | None = None
        nearest = -1
        for top in self._named.get(parts[0], ()):
            root = top[:-1]
            if not self._is_importable(root, top, asking):
                continue
            found = self._below(root, parts)
            shared = _shared(root, asking)
            if found is not None and shared > nearest:
                best, nearest = found, shared
        return best

    def relative(self, level: int, module: str, asking: Place) -> tuple[Place, tuple[str, ...]] | None:
        """The same for what follows `level` dots in an import."""
        package = self._folder(asking)
        if level > len(package):
            return None
        return self._below(package[: len(package) - level + 1], tuple(module.split(".")) if module else ())

    def name(self, place: Place) -> str:
        """What a place is called where it cannot be taken for anything else."""
        return "/" + ".".join(place)

    def _below(self, root: Place, parts: tuple[str, ...]) -> tuple[Place, tuple[str, ...]] | None:
        """The longest way down from `root` that ends at a file, and what is left."""
        for length in range(len(parts), -1, -1):
            place = root + parts[:length]
            if place in self.numbers and (length or root):
                return place, parts[length:]
        return None

    def _is_importable(self, root: Place, top: Place, asking: Place) -> bool:
        """Whether Python would look into `root`, as far as the layout of the folders tells."""
        if not root or root in self.packages:
            return False  # what is in a package is imported through it
        folder = self._folder(asking)
        around = folder[: len(root)] == root  # a folder around: the script's own, the project's
        beside = root[-1:] in _ROOTS and folder[: len(root) - 1] == root[:-1]
        return around or beside or top in self.packages

    def _folder(self, place: Place) -> Place:
        return place if place in self.packages else place[:-1]


def circles(count: int, imports: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Numbered files such that what one imports comes first; those that import one another in a circle together.

    `imports` are pairs of a file and one that it imports. Within a circle they are in the order of their numbers.
    """
    below: list[list[int]] = [[] for _ in range(count)]
    for number, other in sorted(imports):
        below[number].append(other)
    found: list[list[int]] = []
    entered = [-1] * count  # when a file was come to first
    lowest = [0] * count  # the earliest open one that it leads back to
    is_open = [False] * count
    opened: list[int] = []
    clock = 0
    for start in range(count):
        todo = [(start, iter(below[start]))] if entered[start] < 0 else []
        while todo:
            number, left = todo[-1]
            if entered[number] < 0:
                entered[number] = lowest[number] = clock
                clock += 1
                opened.append(number)
                is_open[number] = True
            for other in left:
                if entered[other] < 0:
                    todo.append((other, iter(below[other])))
                    break
                if is_open[other]:
                    lowest[number] = min(lowest[number], entered[other])
            else:
                todo.pop()
                if todo:
                    lowest[todo[-1][0]] = min(lowest[todo[-1][0]], lowest[number])
                if lowest[number] == entered[number]:
                    at = opened.index(number)
                    found.append(sorted(opened[at:]))
                    for one in opened[at:]:
                        is_open[one] = False
                    del opened[at:]
    return found


def _parts(path: Path | str) -> Place:
    _, absolute = os.path.splitdrive(os.path.abspath(path))
    return tuple(part for part in absolute.replace(".", "_").split(os.sep) if part)


def _shared(a: Place, b: Place) -> int:
    """How many parts two places have in common from the start."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count

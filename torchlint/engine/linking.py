"""Which files belong together: those that import one another are read as one program.

Imports are found in the text, so that nothing is parsed that need not be. A group is held small enough for its trees to
fit in memory; a larger one is divided by its folders.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.engine.job import Group, Job
from torchlint.source.files import read_source
from torchlint.source.modules import Modules, Place
from torchlint.source.notebook import Notebook, is_notebook
from torchlint.source.text import UnreadableError

__all__ = ["groups"]

_LARGEST = 2_000_000  # bytes of source in a group; a tree with its model takes about eighty times its source

# What an import names, and what stands before it on its row: a word that begins a pattern is found fast.
_IMPORT = re.compile(rb"import\b[ \t]*(?:\(([^)]*)\)|([\w.,* \t]+))")
_BEFORE = re.compile(rb"(?:\A|[:;])[ \t]*(?:from(?:[ \t]+|(?=\.))(?P<source>\.*[\w.]*)[ \t]*)?\Z")
_CONTINUED = re.compile(rb"\\\r?\n")


def groups(jobs: Sequence[Job]) -> list[Group]:
    """The jobs in groups: those that import one another together, all others alone."""
    if len(jobs) < 2:
        return [Group((number,)) for number in range(len(jobs))]
    contents = dict(_contents(jobs))
    modules = _modules(jobs, contents)
    parent = {number: number for number in contents}

    def find(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    imports: list[tuple[int, int]] = []
    imported = _Imported(modules)
    for number, content in contents.items():
        for other in imported.by(content.code, modules.places[number]):
            imports.append((number, other))
            parent[find(other)] = find(number)
    together: dict[int, list[int]] = {}
    for number in contents:
        together.setdefault(find(number), []).append(number)
    result = [Group((number,)) for number in range(len(jobs)) if number not in contents]
    for numbers in together.values():
        numbers.sort(key=lambda number: modules.places[number])  # the same group, whatever was named first
        for part in _divided(numbers, contents, jobs):
            if len(part) == 1 or not any(b"torch" in contents[number].code for number in part):
                result += (Group((number,)) for number in part)
            else:
                position = {number: index for index, number in enumerate(part)}
                inner = tuple((position[a], position[b]) for a, b in imports if a in position and b in position)
                digests = tuple(hashlib.sha256(contents[number].decisive).hexdigest() for number in part)
                result.append(Group(tuple(part), modules.part(part), _layout(part, modules), digests, inner))
    return result


@dataclass(frozen=True, slots=True)
class _Content:
    """What a file holds: its code, and what decides what is found in it."""

    code: bytes
    decisive: bytes


def _contents(jobs: Sequence[Job]) -> Iterator[tuple[int, _Content]]:
    for number, job in enumerate(jobs):
        notebook = is_notebook(job.path.name)
        if notebook or job.path.suffix == ".py":
            try:
                data = read_source(job.path) if job.data is None else job.data
                yield number, _of_cells(Notebook.from_bytes(data, job.name)) if notebook else _Content(data, data)
            except (OSError, UnreadableError):
                continue  # it says so when it is linted


def _of_cells(notebook: Notebook) -> _Content:
    """What a notebook holds; outputs, which change when it runs, decide nothing."""
    cells = [(cell.number, cell.identity, cell.source.written) for cell in notebook.cells]
    problems = [(number, identity, error.message, error.row) for number, identity, error in notebook.problems]
    return _Content(notebook.text.encode(), repr((cells, problems)).encode())


def _modules(jobs: Sequence[Job], numbers: Mapping[int, _Content]) -> Modules:
    """The modules of some jobs. A folder is a package also where its `__init__` is not to be linted."""
    paths = {number: jobs[number].path for number in numbers}
    packages: dict[str, bool] = {}
    folders = dict.fromkeys(os.path.dirname(path) for path in paths.values())
    for folder in map(os.path.abspath, folders):
        while folder not in packages:
            packages[folder] = os.path.isfile(os.path.join(folder, "__init__.py"))
            if not packages[folder]:
                break
            folder = os.path.dirname(folder)
    return Modules.of(paths.items(), [folder for folder, is_package in packages.items() if is_package])


class _Imported:
    """Which of some modules their files import."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._found: dict[tuple[int, str, Place], int | None] = {}  # by the name, and the folder of who asks

    def by(self, data: bytes, asking: Place) -> set[int]:
        """The files that a file may import."""
        folder = asking if asking in self._modules.packages else asking[:-1]
        found: set[int | None] = set()
        for name in set(_names(data)):
            key = (*name, folder)
            if key not in self._found:
                self._found[key] = self._file(*name, asking)
            found.add(self._found[key])
        return {number for number in found if number is not None and self._modules.places[number] != asking}

    def _file(self, level: int, name: str, asking: Place) -> int | None:
        modules = self._modules
        found = modules.relative(level, name, asking) if level else modules.absolute(name, asking) if name else None
        return None if found is None else modules.numbers[found[0]]


def _names(data: bytes) -> Iterator[tuple[int, str]]:
    """What a file imports: the dots before a name, and the name."""
    if b"\\" in data:
        data = _CONTINUED.sub(b" ", data)
    for match in _IMPORT.finditer(data):
        yield from _named(data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()], *match.groups())


@functools.lru_cache(maxsize=4096)  # most imports stand in many files
def _named(row: bytes, listed: bytes | None, inline: bytes | None) -> tuple[tuple[int, str], ...]:
    """What the word `import` names, by what stands before it on its row, and after it with or without parentheses."""
    before = _BEFORE.search(row)
    if before is None:
        return ()
    text = (listed or inline or b"").decode("utf-8", "replace")
    members = [member.split(" as ")[0].strip() for member in text.replace("\n", ",").split(",")]
    if before["source"] is None:
        return tuple((0, member) for member in members)
    source = before["source"].decode("utf-8", "replace")
    module = source.lstrip(".")
    level = len(source) - len(module)
    inside = (f"{module}.{member}" if module else member for member in members if member)
    return ((level, module), *((level, name) for name in inside))


def _layout(numbers: Sequence[int], modules: Modules) -> str:
    """What stands for where the files of a group lie from one another."""
    places = [modules.places[number] for number in numbers]
    shared = min(len(place) for place in places) - 1
    while any(place[:shared] != places[0][:shared] for place in places):
        shared -= 1
    told = [(".".join(place[shared:]), place in modules.packages) for place in places]
    return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()


def _divided(
    numbers: list[int], contents: Mapping[int, _Content], jobs: Sequence[Job], depth: int = 0
) -> Iterator[list[int]]:
    """The numbers in parts that are not too large, each of one folder as far as that is possible."""
    if sum(len(contents[number].code) for number in numbers) <= _LARGEST or len(numbers) == 1:
        yield numbers
        return
    by_folder: dict[tuple[str, ...], list[int]] = {}
    for number in numbers:
        folder = jobs[number].path.absolute().parts[:-1][: depth + 1]
        by_folder.setdefault(folder, []).append(number)
    if len(by_folder) == 1 and depth > max(len(jobs[number].path.absolute().parts) for number in numbers):
        yield from ([number] for number in numbers)
        return
    for part in by_folder.values():
        yield from _divided(part, contents, jobs, depth + 1)

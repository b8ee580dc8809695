"""Which files belong together: those that import one another are read as one program.

Imports are found in the text, so that nothing is parsed that need not be. A group is held small enough for its trees to
fit in memory; a larger one is divided by its folders.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.engine.job import Group, Job
from torchlint.source.modules import Modules, Place
from torchlint.source.notebook import Notebook, is_notebook
from torchlint.source.text import UnreadableError

__all__ = ["groups"]

_LARGEST = 2_000_000  # bytes of source in a group; a tree with its model takes about eighty times its source

_IMPORT = re.compile(
    rb"(?:^|[:;])[ \t]*(?:from[ \t]*((?<=[ \t])\w[\w.]*|\.[\w.]*)[ \t]*\bimport\b[ \t]*(?:\(([^)]*)\)|([\w ,\t*]+))"
    rb"|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
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
    for number, content in contents.items():
        for other in set(_imported(content.code, modules.places[number], modules)):
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
                data = job.path.read_bytes() if job.data is None else job.data
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
    packages: dict[Path, bool] = {}
    for path in paths.values():
        folder = path.parent.absolute()
        while folder not in packages:
            packages[folder] = (folder / "__init__.py").is_file()
            if not packages[folder]:
                break
            folder = folder.parent
    return Modules.of(paths.items(), [folder for folder, is_package in packages.items() if is_package])


def _imported(data: bytes, asking: Place, modules: Modules) -> Iterator[int]:
    """The files that a file may import."""
    for match in _IMPORT.finditer(_CONTINUED.sub(b" ", data)):
        source, listed, inline, plain = ((group or b"").decode("utf-8", "replace") for group in match.groups())
        level = len(source) - len(source.lstrip("."))
        module = source[level:]
        if plain:
            names = [part.split(" as ")[0].strip() for part in plain.split(",")]
        else:
            members = [member.split(" as ")[0].strip() for member in (listed or inline).replace("\n", ",").split(",")]
            names = [module, *(f"{module}.{member}" if module else member for member in members if member)]
        for name in names:
            found = modules.relative(level, name, asking) if level else modules.absolute(name, asking) if name else None
            if found is not None and found[0] != asking:
                yield modules.numbers[found[0]]


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

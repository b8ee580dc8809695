"""Which files belong together: those that import one another are read as one program.

Imports are found in the text, so that nothing is parsed that need not be. A group is held small enough for its trees to
fit in memory; a larger one is divided by its folders.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from torchlint.engine.job import Group, Job

__all__ = ["groups", "module_name"]

_LARGEST = 2_000_000  # bytes of source in a group; a tree takes about a hundred times its source

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|([\w ,\t]+))|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)


def groups(jobs: Sequence[Job]) -> list[Group]:
    """The jobs in groups: those that import one another together, all others alone."""
    if len(jobs) < 2:
        return [Group((number,)) for number in range(len(jobs))]
    contents: dict[int, bytes] = {}
    for number, job in enumerate(jobs):
        if job.data is None and job.path.suffix == ".py":
            try:
                contents[number] = job.path.read_bytes()
            except OSError:
                continue  # it says so when it is linted
    names = {number: module_name(jobs[number].path) for number in contents}
    parent = {number: number for number in contents}

    def find(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    by_name: dict[str, list[int]] = {}
    for number, name in names.items():
        by_name.setdefault(name, []).append(number)
    for number, data in contents.items():
        for name in _imported(data, names[number], jobs[number].path.name == "__init__.py"):
            other = _closest(by_name.get(name, ()), number, jobs)
            if other is not None:
                parent[find(other)] = find(number)
    together: dict[int, list[int]] = {}
    for number in contents:
        together.setdefault(find(number), []).append(number)
    result = [Group((number,)) for number in range(len(jobs)) if number not in contents]
    for numbers in together.values():
        for part in _divided(numbers, contents, jobs):
            if len(part) == 1 or not any(b"torch" in contents[number] for number in part):
                result += (Group((number,)) for number in part)
            else:
                digest = hashlib.sha256()
                for number in part:
                    digest.update(names[number].encode() + b"\0" + hashlib.sha256(contents[number]).digest())
                result.append(Group(tuple(part), tuple(names[number] for number in part), digest.digest()))
    return result


def module_name(path: Path) -> str:
    """The dotted name under which a file is imported: from the outermost folder that is a package."""
    path = Path(path).absolute()
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.append(folder.name)
        folder = folder.parent
    return ".".join(reversed(parts)) or path.parent.name


def _imported(data: bytes, name: str, is_package: bool) -> Iterator[str]:
    """The dotted names that a file may import."""
    package = name.split(".") if is_package else name.split(".")[:-1]
    for match in _IMPORT.finditer(data):
        source, listed, inline, plain = ((group or b"").decode("ascii", "replace") for group in match.groups())
        if plain:
            yield from (part.split(" as ")[0].strip() for part in plain.split(","))
            continue
        level = len(source) - len(source.lstrip("."))
        module = source[level:]
        if level:
            base = package[: len(package) + 1 - level] if level > 1 else package
            module = ".".join([*base, *([module] if module else [])])
        yield module
        for member in (listed or inline).replace("\n", ",").split(","):
            word = member.split(" as ")[0].strip()
            if word:
                yield f"{module}.{word}" if module else word


def _closest(numbers: Sequence[int], asking: int, jobs: Sequence[Job]) -> int | None:
    """Of several files with a module's name, the one nearest to the file that imports it."""
    own = jobs[asking].path.parts
    best, most = None, -1
    for number in numbers:
        shared = sum(1 for a, b in zip(own, jobs[number].path.parts, strict=False) if a == b)
        if number != asking and shared > most:
            best, most = number, shared
    return best


def _divided(
    numbers: list[int], contents: dict[int, bytes], jobs: Sequence[Job], depth: int = 0
) -> Iterator[list[int]]:
    """The numbers in parts that are not too large, each of one folder as far as that is possible."""
    if sum(len(contents[number]) for number in numbers) <= _LARGEST or len(numbers) == 1:
        yield numbers
        return
    by_folder: dict[tuple[str, ...], list[int]] = {}
    for number in numbers:
        folder = jobs[number].path.parent.parts[: depth + 1]
        by_folder.setdefault(folder, []).append(number)
    if len(by_folder) == 1 and depth > max(len(jobs[number].path.parts) for number in numbers):
        yield from ([number] for number in numbers)
        return
    for part in by_folder.values():
        yield from _divided(part, contents, jobs, depth + 1)

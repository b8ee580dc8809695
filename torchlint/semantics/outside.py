"""What code that is not read told of code that is, when it was: arguments and stored attributes, as plain data."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import libcst as cst

from torchlint.semantics.contexts import Context
from torchlint.semantics.encoding import DEEP, Plain, decoded, encoded, named_in
from torchlint.semantics.functions import ClassInfo, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.project import Missing, Place
from torchlint.semantics.reading.evidence import BACKWARD
from torchlint.semantics.values import Value, join_optional

__all__ = ["Missing", "Place", "Rest", "Told", "add", "told_to"]

_T = TypeVar("_T")


@dataclass(slots=True)
class Told:
    """What the functions and classes of a file were told, by their qualified names and by who told it.

    Of a function these are the values of its parameters, None where there is none; of a class those of attributes.
    """

    passed: dict[str, dict[Place, list[Plain | None]]] = field(default_factory=dict)
    stored: dict[str, dict[Place, dict[str, Plain]]] = field(default_factory=dict)
    # Of classes also what the use of their attributes elsewhere tells of these.
    evidence: dict[str, dict[Place, list[tuple[str, str]]]] = field(default_factory=dict)

    def but(self, told: Callable[[Place], bool]) -> Told:
        """What was told by some only."""
        return Told(
            {name: {place: one for place, one in by.items() if told(place)} for name, by in self.passed.items()},
            {name: {place: one for place, one in by.items() if told(place)} for name, by in self.stored.items()},
            {name: {place: one for place, one in by.items() if told(place)} for name, by in self.evidence.items()},
        )

    def tellers(self) -> Iterator[tuple[str, Place]]:
        """Definitions that were told something, and who told them."""
        for by_name in (self.passed, self.stored, self.evidence):
            for name, by_place in by_name.items():
                yield from ((name.split(".", 1)[0], place) for place in by_place)

    def sorted(self) -> list[Any]:
        """All of it, in an order of its own."""
        passed = [(name, place, row) for name, by in self.passed.items() for place, row in by.items()]
        return [sorted(passed, key=repr), *self.of_classes()]

    def of_classes(self) -> list[Any]:
        """What classes were told, in an order of its own."""
        stored = [(name, place, sorted(some.items())) for name, by in self.stored.items() for place, some in by.items()]
        evidence = [(name, place, sorted(some)) for name, by in self.evidence.items() for place, some in by.items()]
        return [sorted(stored, key=repr), sorted(evidence)]

    def named(self) -> Iterator[Place]:
        """The definitions that values are of."""
        for by_place in self.passed.values():
            for values in by_place.values():
                for value in values:
                    yield from _places_in(value)
        for stored in self.stored.values():
            for attributes in stored.values():
                for value in attributes.values():
                    yield from _places_in(value)


def _places_in(value: Plain | None) -> Iterator[Place]:
    for number, definition, _ in named_in(value) if value is not None else ():
        yield number, definition


@dataclass(frozen=True, slots=True)
class Rest:
    """What a part of a program is told of the rest of it, which is not read."""

    ambiguous: frozenset[str]  # names of methods that do not tell whose they are
    accelerated: Collection[int]  # files that show a sign of an accelerator
    told: Mapping[int, Told]  # what the files that are read were told by the rest
    # Whether a file binds a name in a statement that is not read; with the name "", whether there is any.
    leaves_out: Callable[[Place], bool]


def _teller(places: Mapping[FunctionInfo | ClassInfo, Place]) -> Callable[[Value], Plain]:
    """What encodes values with the places of their classes and functions, where these have a name to go by."""

    def named(of: ClassInfo | FunctionInfo) -> list[Any] | None:
        return [*places[of], of.qualname] if of in places and not of.name.startswith("<") else None

    def encode(value: Value, depth: int = DEEP) -> Plain:
        return encoded(value, depth, named, encode)

    return encode


def add(told: Mapping[int, Told], models: Mapping[int, Model]) -> None:
    """Add what was told to what is read. Raises Missing for a class or a function that values are of."""
    classes = {(number, cls.qualname): cls for number, model in models.items() for cls in model.classes.values()}
    functions = {(number, info.qualname): info for number, model in models.items() for info in model.functions.values()}

    def made(value: Plain) -> Value:
        return decoded(value, functools.partial(_found, classes), functools.partial(_found, functions))

    for number, file in told.items():
        for name, by_place in file.passed.items():
            info = functions.get((number, name))
            for values in by_place.values() if info is not None else ():
                node = cst.Name("elsewhere")
                assert info is not None
                for parameter, value in zip(info.parameters, values, strict=False):
                    if value is not None:
                        parameter.passed[node] = made(value)
        for name, by_file in file.evidence.items():
            cls = classes.get((number, name))
            for attribute, evidence in (one for some in by_file.values() for one in some) if cls is not None else ():
                assert cls is not None
                if evidence == BACKWARD:
                    cls.roots.add(attribute)
                else:
                    cls.duck.setdefault(attribute, set()).add(evidence)
        for name, attributes_by_place in file.stored.items():
            cls = classes.get((number, name))
            for attributes in attributes_by_place.values() if cls is not None else ():
                assert cls is not None
                for attribute, value in attributes.items():
                    cls.store(attribute, cst.Name("elsewhere"), made(value))


def _found(known: Mapping[Place, _T], named: list[Any]) -> _T:
    number, definition, qualname = named
    if (number, qualname) not in known:
        raise Missing((number, definition))
    return known[number, qualname]


def told_to(
    models: Mapping[int, Model],
    places: Mapping[FunctionInfo | ClassInfo, Place],
    place_of: Callable[[Context], Place],
) -> dict[int, Told]:
    """What the functions and classes of files were told by others than their own definitions."""
    found = {number: Told() for number in models}
    encode = _teller(places)
    numbers = {model: number for number, model in models.items()}
    project = next((model.project for model in models.values()), None)
    for cls, by_model in project.evidence.items() if project is not None else ():
        number, _ = places[cls]
        found[number].evidence[cls.qualname] = {
            (numbers[model], name): sorted(evidence) for (model, name), evidence in by_model.items()
        }
    for number, model in models.items():
        for info in (model.root, *model.functions.values()):
            values: dict[Place, list[Value | None]] = {}
            for index, taken in enumerate(info.taken):
                for node, value in taken.items():
                    # Also of a call that the second stage does not find again, since more is known of what is called.
                    calling = project.calling.get(node) if project is not None else None
                    home = place_of(calling) if calling is not None else places[info]
                    if home != places[info]:
                        row = values.setdefault(home, [None] * len(info.parameters))
                        row[index] = _joined([row[index], value])
            if values and not info.name.startswith("<"):
                found[number].passed[info.qualname] = {
                    home: [None if value is None else encode(value) for value in row] for home, row in values.items()
                }
            given: dict[tuple[ClassInfo, str], list[Value | None]] = {}
            for cls, attribute, statement in dict.fromkeys(info.stores):
                if cls in places and places[cls] != places[info]:
                    given.setdefault((cls, attribute), []).append(cls.stores.get(attribute, {}).get(statement))
            for (cls, attribute), some in given.items():
                if (joined := _joined(some)) is not None:
                    stored = found[places[cls][0]].stored.setdefault(cls.qualname, {})
                    stored.setdefault(places[info], {})[attribute] = encode(joined)
    return found


def _joined(values: Iterable[Value | None]) -> Value | None:
    joined: Value | None = None
    for value in values:
        joined = join_optional(joined, value)
    return joined

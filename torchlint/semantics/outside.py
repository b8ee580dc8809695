"""What code that is not read told of code that is, when it was: arguments and stored attributes, as plain data.

A value is told without the nodes that it came from: others stand for them, so that one stays one and several several.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import ClassInfo, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.project import Missing, Place
from torchlint.semantics.reading.evidence import BACKWARD
from torchlint.semantics.values import MISSING, Gate, Kind, Value, join_optional

__all__ = ["Missing", "Place", "Rest", "Told", "add", "told_to"]

_DEEP = 3  # levels of members of a value that are told

Plain = list[Any]  # a value


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
                    yield from _named_in(value)
        for stored in self.stored.values():
            for attributes in stored.values():
                for value in attributes.values():
                    yield from _named_in(value)


@dataclass(frozen=True, slots=True)
class Rest:
    """What a part of a program is told of the rest of it, which is not read."""

    ambiguous: frozenset[str]  # names of methods that do not tell whose they are
    accelerated: Collection[int]  # files that show a sign of an accelerator
    told: Mapping[int, Told]  # what the files that are read were told by the rest
    # Whether a file binds a name in a statement that is not read; with the name "", whether there is any.
    leaves_out: Callable[[Place], bool]


def _named_in(data: Plain | None) -> Iterator[Place]:
    if data is not None:
        cls, fn, bound, elem, items, several, choices = data[10], data[11], *data[16:]
        for number, definition, _ in filter(None, (cls, fn, *several)):
            yield number, definition
        for inner in (bound, elem, *(item for _, item in items or ()), *choices):
            yield from _named_in(inner)


def plain(value: Value, places: Mapping[int, Place], depth: int = _DEEP) -> Plain:
    """A value as plain data; `places` are those of classes and functions, by identity."""

    def named(of: ClassInfo | FunctionInfo | None) -> list[Any] | None:
        return None if of is None or id(of) not in places or of.name.startswith("<") else [*places[id(of)], of.qualname]

    inner = depth - 1
    const = value.const
    return [
        value.kind.value,
        int(value.conf),
        value.device,
        value.graph,
        value.dtype,
        value.rank,
        None if value.shape is None else list(value.shape),
        value.pinned,
        [const] if isinstance(const, (int, float, str, bool, type(None))) else [],
        value.qual,
        named(value.cls),
        named(value.fn),
        None if value.gates is None else [gate.value for gate in value.gates],
        value.optional,
        min(len(value.origins), 2),
        min(len(value.loaders), 2),
        None if value.bound is None or inner <= 0 else plain(value.bound, places, 1),
        None if value.elem is None or inner <= 0 else plain(value.elem, places, inner),
        [[key, plain(item, places, inner)] for key, item in value.items.items() if isinstance(key, (int, str))]
        if value.items is not None and inner > 0
        else None,
        [*filter(None, map(named, value.classes))],
        [plain(one, places, 1) for one in value.choices],
    ]


def add(told: Mapping[int, Told], models: Mapping[int, Model]) -> None:
    """Add what was told to what is read. Raises Missing for a class or a function that values are of."""
    classes = {(number, cls.qualname): cls for number, model in models.items() for cls in model.classes.values()}
    functions = {(number, info.qualname): info for number, model in models.items() for info in model.functions.values()}

    def made(data: Plain) -> Value:
        kind, conf, device, graph, dtype, rank, shape, pinned, const, qual, cls, fn, gates, optional = data[:14]
        origins, loaders, bound, elem, items, several, choices = data[14:]
        return Value(
            Kind(kind),
            Confidence(conf),
            device=device,
            graph=graph,
            dtype=dtype,
            rank=rank,
            shape=None if shape is None else tuple(shape),
            pinned=pinned,
            const=const[0] if const else MISSING,
            qual=qual,
            cls=None if cls is None else _found(classes, cls),
            classes=tuple(_found(classes, one) for one in several),
            fn=None if fn is None else _found(functions, fn),
            gates=None if gates is None else (Gate(gates[0]), Gate(gates[1])),
            optional=optional,
            origins=tuple(cst.Name("elsewhere") for _ in range(origins)),
            loaders=tuple(cst.Name("elsewhere") for _ in range(loaders)),
            bound=None if bound is None else made(bound),
            elem=None if elem is None else made(elem),
            items=None if items is None else {key: made(item) for key, item in items},
            choices=tuple(map(made, choices)),
        )

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


def _found(known: Mapping[Place, Any], named: list[Any]) -> Any:
    number, definition, qualname = named
    if (number, qualname) not in known:
        raise Missing((number, definition))
    return known[number, qualname]


def told_to(
    models: Mapping[int, Model], places: Mapping[int, Place], place_of: Callable[[Context], Place]
) -> dict[int, Told]:
    """What the functions and classes of files were told by others than their own definitions."""
    found = {number: Told() for number in models}
    numbers = {id(model): number for number, model in models.items()}
    project = next((model.project for model in models.values()), None)
    for cls, by_model in project.evidence.items() if project is not None else ():
        number, _ = places[id(cls)]
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
                    home = place_of(calling) if calling is not None else places[id(info)]
                    if home != places[id(info)]:
                        row = values.setdefault(home, [None] * len(info.parameters))
                        row[index] = _joined([row[index], value])
            if values and not info.name.startswith("<"):
                found[number].passed[info.qualname] = {
                    home: [None if value is None else plain(value, places) for value in row]
                    for home, row in values.items()
                }
            given: dict[tuple[ClassInfo, str], list[Value | None]] = {}
            for cls, attribute, statement in dict.fromkeys(info.stores):
                if id(cls) in places and places[id(cls)] != places[id(info)]:
                    given.setdefault((cls, attribute), []).append(cls.stores.get(attribute, {}).get(statement))
            for (cls, attribute), some in given.items():
                if (joined := _joined(some)) is not None:
                    stored = found[places[id(cls)][0]].stored.setdefault(cls.qualname, {})
                    stored.setdefault(places[id(info)], {})[attribute] = plain(joined, places)
    return found


def _joined(values: Iterable[Value | None]) -> Value | None:
    joined: Value | None = None
    for value in values:
        joined = join_optional(joined, value)
    return joined

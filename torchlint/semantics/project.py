"""Files that import one another, and how the names of one are found from another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.semantics.functions import ClassInfo, FunctionInfo
from torchlint.semantics.values import UNKNOWN, Kind, Value
from torchlint.source.modules import Modules
from torchlint.source.modules import Place as ModulePlace

if TYPE_CHECKING:
    from torchlint.semantics.contexts import Context
    from torchlint.semantics.model import Model
    from torchlint.semantics.reading.interpreter import Interpreter


# What a file asks about all that is read together: "method" and its name, "override" and whose, "words" and these,
# "code" and the number of a file whose code was looked at, "names" and that of one whose names were, "together" for
# what becomes of what the file makes.
Question = tuple[str, str]


Place = tuple[int, str]  # a file, and a definition in it


class Missing(Exception):
    """Part of a program is read, and not what is needed of the rest; the place says what."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.place = place


class Project:
    """The modules that are read together: a whole program, or a part, which `leaves_out` something."""

    def __init__(
        self,
        modules: Modules,
        ambiguous: frozenset[str] = frozenset(),
        leaves_out: Callable[[Place], bool] | None = None,
    ) -> None:
        self.asked: dict[Model, set[Question]] = {}  # by the model of the file that asked
        # Imports of what was not bound when it was asked for, where files import one another in a circle.
        # The file, its names, the one that is bound, and what it is imported from.
        self.unsettled: list[tuple[Model, dict[str, Value], str, str]] = []
        # Of attributes of classes, by the model, and the definition in it, that gave it.
        self.evidence: dict[ClassInfo, dict[tuple[Model, str], set[tuple[str, str]]]] = {}
        self.calling: dict[cst.CSTNode, Context] = {}  # where those stand that pass something to functions
        self.home: dict[cst.CSTNode, Model] = {}
        self.methods: dict[str, list[FunctionInfo]] = {}
        self.linted: Model | None = None  # the file that rules look at
        self.ambiguous = ambiguous  # of the names of methods, those that several classes of the program have, or none
        self._modules = modules
        self.is_part = leaves_out is not None
        self._leaves_out = leaves_out or (lambda _: False)
        self._found: dict[tuple[str, ModulePlace], tuple[ModulePlace, tuple[str, ...]] | None] = {}  # of names, by file
        self._put_off: dict[Place, Place] = {}  # by an import of a file that is read in part, what it is of
        self._readers: dict[int, Interpreter] = {}
        self._numbers: dict[Model, int] = {}  # of the files

    def add(self, number: int, reader: Interpreter) -> None:
        """Add the reader of a file that `modules` knows by that number."""
        self._readers[number] = reader
        self._numbers[reader.model] = number

    def settle(self) -> None:
        """Bind the imports of what was not bound when it was asked for, when the names of all files were read."""
        for model, names, name, qual in self.unsettled * 2:  # what one imports another may import from it
            value = self.lookup(qual, model)
            if value is not None and names.get(name) is UNKNOWN:
                names[name] = value
        self.unsettled.clear()

    def note(self, model: Model, question: Question) -> None:
        """Note that what is told of a file hangs on the answer of all that is read together."""
        self.asked.setdefault(model, set()).add(question)

    def note_look(self, model: Model) -> None:
        """Note that the code of a file is looked at, where that is another than the one that is linted."""
        if self.linted is not None and self.linted is not model:
            self.note(self.linted, ("code", str(self._numbers[model])))

    def name_of(self, cls: ClassInfo, method: str) -> str:
        """What a method of a class goes by in questions about those that override it."""
        model = self.home.get(cls.node)
        return f"{'' if model is None else self._numbers[model]}:{cls.qualname}:{method}"

    def bound_in(self, model: Model) -> dict[str, Value]:
        """What the module of a file binds, by name."""
        return self._readers[self._numbers[model]].names()

    @property
    def models(self) -> list[Model]:
        """The models of its files."""
        return [self._readers[number].model for number in sorted(self._readers)]

    def reader_of(self, info: FunctionInfo) -> Interpreter | None:
        """The reader of the file that a function stands in."""
        model = self.home.get(info.node)
        return self._readers[self._numbers[model]] if model is not None else None

    def absolute(self, model: Model, level: int, module: str) -> str | None:
        """What `level` dots and a name mean in a file, as a name for `lookup`; None where it means no file."""
        found = self._modules.relative(level, module, self._place(model))
        if found is None:
            return None
        place, rest = found
        return ".".join([self._modules.name(place), *rest])

    def names_of(self, module: str, model: Model) -> dict[str, Value]:
        """What a star import of a module binds in a file."""
        found = self._modules.absolute(module, self._place(model))
        reader = self._reader(found[0]) if found is not None and not found[1] else None
        if found is None or reader is None:
            return {}
        self.note(model, ("names", str(self._modules.numbers[found[0]])))
        return {name: value for name, value in reader.names().items() if not name.startswith("_") and "." not in name}

    def lookup(self, qual: str, model: Model) -> Value | None:
        """What a qualified name means in a file; None where it is not one of the project's.

        Raises Missing.
        """
        asked = qual, self._place(model)
        if asked not in self._found:
            self._found[asked] = self._modules.absolute(*asked)
        found = self._found[asked]
        if found is None:
            return None
        place, rest = found
        number = self._modules.numbers[place]
        self.note(model, ("names", str(number)))
        reader = self._reader(place)
        if rest:
            self.need(number, rest[0])
        if reader is None and (rest or not self._leaves_out((number, ""))):
            return UNKNOWN  # of a file that could not be read, or does not bind it
        if not rest or reader is None:
            return self._bound_in_package(place) or Value(Kind.NAMESPACE, qual=self._modules.name(place))
        value = reader.names().get(rest[0])
        if value is None:
            return UNKNOWN  # of a module that is read, but not bound there
        for attribute in rest[1:]:
            value = reader.attribute_of(value, attribute, cst.Name(attribute))
        return value

    def need(self, number: int, name: str) -> None:
        """Raises Missing where a file binds a name in what is left out."""
        place = number, name
        if place in self._put_off or self._leaves_out(place):
            raise Missing(self._put_off.get(place, place))

    def put_off(self, model: Model, name: str, missing: Missing) -> None:
        """Leave an import unbound until it is needed. Raises what is missing where the file must be read in full."""
        number = self._numbers[model]
        if not self._leaves_out((number, "")):
            raise missing
        self._put_off[number, name] = missing.place

    def need_own(self, model: Model, name: str) -> None:
        """The same of a file that is read in part."""
        self.need(self._numbers[model], name)

    def _bound_in_package(self, place: ModulePlace) -> Value | None:
        """What a package binds under the name of one of its modules: `from .unet import unet` hides the module."""
        package = place[:-1]
        reader = self._reader(package) if package in self._modules.numbers else None
        if package in self._modules.numbers:
            self.need(self._modules.numbers[package], place[-1])
        value = reader.names().get(place[-1]) if reader is not None else None
        return None if value is None or value.kind in (Kind.NAMESPACE, Kind.UNKNOWN) else value

    def _reader(self, place: ModulePlace) -> Interpreter | None:
        """The reader of the module at a place, with the names it binds."""
        reader = self._readers.get(self._modules.numbers[place])
        if reader is not None:
            reader.read_names()
        return reader

    def _place(self, model: Model) -> ModulePlace:
        return self._modules.places[self._numbers[model]]

"""Files that import one another, and how the names of one are found from another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.values import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from torchlint.semantics.model import Model
    from torchlint.semantics.reading.interpreter import Interpreter


class Project:
    """The modules that are read together, by dotted name."""

    def __init__(self) -> None:
        self.home: dict[cst.CSTNode, Model] = {}
        self.methods: dict[str, list[FunctionInfo]] = {}
        self._readers: dict[str, Interpreter] = {}
        self._names: dict[int, str] = {}  # of a model
        self._tops: set[str] = set()

    def add(self, name: str, model: Model, reader: Interpreter) -> None:
        """Add a module. `name` is its dotted name; a package's is that of its `__init__`."""
        self._readers[name] = reader
        self._names[id(model)] = name
        self._tops.add(name.split(".", 1)[0])

    def reader_of(self, info: FunctionInfo) -> Interpreter | None:
        """The reader of the file that a function stands in."""
        model = self.home.get(info.node)
        return self._readers.get(self._names.get(id(model), "")) if model is not None else None

    def absolute(self, model: Model, level: int, module: str) -> str | None:
        """The dotted name that a relative import of `level` dots means in a file; None where it leaves the project."""
        package = self._names.get(id(model), "").split(".")
        if not model.path.replace("\\", "/").endswith("__init__.py"):
            package = package[:-1]
        if level > 1:
            package = package[: 1 - level]
        name = ".".join([*package, *([module] if module else [])])
        return name or None

    def names_of(self, module: str) -> dict[str, Value]:
        """What a star import of a module binds."""
        reader = self._readers.get(module)
        if reader is None:
            return {}
        reader.read_names()
        return {name: value for name, value in reader.names().items() if not name.startswith("_") and "." not in name}

    def lookup(self, qual: str) -> Value | None:
        """What a qualified name of a module of the project is; None where it is none of the project's."""
        if qual.split(".", 1)[0] not in self._tops:
            return None
        parts = qual.split(".")
        for length in range(len(parts), 0, -1):
            reader = self._readers.get(".".join(parts[:length]))
            if reader is None:
                continue
            reader.read_names()
            if length == len(parts):
                return Value(Kind.NAMESPACE, qual=qual)
            value = reader.names().get(parts[length])
            if value is None:
                return UNKNOWN  # of a module that is read, but not bound there
            for attribute in parts[length + 1 :]:
                value = reader.attribute_of(value, attribute, cst.Name(attribute))
            return value
        # A package without an `__init__`, as far as modules of it are known.
        prefix = qual + "."
        return Value(Kind.NAMESPACE, qual=qual) if any(name.startswith(prefix) for name in self._readers) else None

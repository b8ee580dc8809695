"""From syntax trees to their semantic models."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import libcst as cst

from torchlint.semantics.model import Model
from torchlint.semantics.outside import Told, add
from torchlint.semantics.project import Project
from torchlint.semantics.reading.interpreter import Interpreter
from torchlint.source.modules import Modules

_ROUNDS = 3  # how often the summaries of functions whose callers told something new are read again


def build_model(module: cst.Module, path: str = "") -> Model:
    """Read a module by itself; `path` only tells whether it is a test. Neither runs nor imports what it reads."""
    model = Model(module, path)
    reader = Interpreter(model)
    reader.read_names()
    _read([reader])
    return model


def build_models(
    files: Mapping[int, tuple[str, cst.Module]],
    modules: Modules,
    ambiguous: frozenset[str] = frozenset(),
    accelerated: Collection[int] = (),
    told: Mapping[int, Told] | None = None,
) -> dict[int, Model]:
    """Read files that import one another, as one program: the path and the tree of each, by their number in `modules`.

    What flows from one to another is seen: what a function of another file gives, what its callers in other files pass
    it, and which of their loops make it hot. Where these are parts of a program, the names of methods that are
    `ambiguous` in the whole of it are told, the files that show a sign of an accelerator, and what the other parts have
    `told` these; raises `torchlint.semantics.outside.Missing` where that is about something that is not among them.
    """
    project = Project(modules, ambiguous)
    readers: dict[int, Interpreter] = {}
    for number, (path, module) in files.items():
        readers[number] = Interpreter(Model(module, path, project))
        readers[number].model.accelerated = number in accelerated
        project.add(number, readers[number])
    models = {number: reader.model for number, reader in readers.items()}
    for reader in readers.values():
        reader.read_names()
    project.settle()
    if told:
        add(told, models)
    _read(list(readers.values()))
    return models


def _read(readers: list[Interpreter]) -> None:
    for _ in range(1 + _ROUNDS):
        learned = [reader.learn() for reader in readers]
        if not any(learned):
            break
    for reader in readers:
        reader.forget_callers()
    for reader in readers:
        reader.record()

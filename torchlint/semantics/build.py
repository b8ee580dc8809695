"""From syntax trees to their semantic models."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from torchlint.semantics.model import Model
from torchlint.semantics.outside import Rest, add
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
    rest: Rest | None = None,
) -> dict[int, Model]:
    """Read files that import one another, as one program: the path and the tree of each, by their number in `modules`.

    They begin in the order given, which tells something where files import one another in a circle.

    What flows from one to another is seen: what a function of another file gives, what its callers in other files pass
    it, and which of their loops make it hot. Where these are parts of a program, it is said what is to be known of the
    `rest`; raises `torchlint.semantics.outside.Missing` where something that is needed is not among them.
    """
    project = Project(modules) if rest is None else Project(modules, rest.ambiguous, rest.leaves_out)
    readers: dict[int, Interpreter] = {}
    for number, (path, module) in files.items():
        readers[number] = Interpreter(Model(module, path, project))
        readers[number].model.accelerated = rest is not None and number in rest.accelerated
        project.add(number, readers[number])
    models = {number: readers[number].model for number in sorted(readers)}
    for reader in readers.values():
        reader.read_names()
    project.settle()
    if rest is not None:
        add(rest.told, models)
    _read([readers[number] for number in sorted(readers)])
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

"""From syntax trees to their semantic models."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from torchlint.semantics.model import Model
from torchlint.semantics.project import Project
from torchlint.semantics.reading.interpreter import Interpreter

_ROUNDS = 3  # how often the summaries of functions whose callers told something new are read again


def build_model(module: cst.Module, path: str = "") -> Model:
    """Read a module by itself; `path` only tells whether it is a test. Neither runs nor imports what it reads."""
    model = Model(module, path)
    _read([Interpreter(model)])
    return model


def build_models(files: Iterable[tuple[str, str, cst.Module]]) -> list[Model]:
    """Read files that import one another, as one program: the path, the module's dotted name and the tree of each.

    What flows from one to another is seen: what a function of another file gives, what its callers in other files pass
    it, and which of their loops make it hot.
    """
    project = Project()
    readers = []
    for path, name, module in files:
        model = Model(module, path, project)
        reader = Interpreter(model)
        project.add(name, model, reader)
        readers.append(reader)
    _read(readers)
    return [reader.model for reader in readers]


def _read(readers: list[Interpreter]) -> None:
    for reader in readers:
        reader.read_names()
    for _ in range(1 + _ROUNDS):
        learned = [reader.learn() for reader in readers]
        if not any(learned):
            break
    for reader in readers:
        reader.forget_callers()
    for reader in readers:
        reader.record()

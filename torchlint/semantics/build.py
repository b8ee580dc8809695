"""From syntax trees to their semantic models."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from torchlint.semantics.model import Model
from torchlint.semantics.project import Project
from torchlint.semantics.reading.interpreter import Interpreter
from torchlint.source.modules import Modules

_ROUNDS = 3  # how often the summaries of functions whose callers told something new are read again


def build_model(module: cst.Module, path: str = "") -> Model:
    """Read a module by itself; `path` only tells whether it is a test. Neither runs nor imports what it reads."""
    model = Model(module, path)
    _read([Interpreter(model)])
    return model


def build_models(files: Mapping[int, tuple[str, cst.Module]], modules: Modules) -> dict[int, Model]:
    """Read files that import one another, as one program: the path and the tree of each, by their number in `modules`.

    What flows from one to another is seen: what a function of another file gives, what its callers in other files pass
    it, and which of their loops make it hot.
    """
    project = Project(modules)
    readers: dict[int, Interpreter] = {}
    for number, (path, module) in files.items():
        readers[number] = Interpreter(Model(module, path, project))
        project.add(number, readers[number])
    _read(list(readers.values()))
    return {number: reader.model for number, reader in readers.items()}


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

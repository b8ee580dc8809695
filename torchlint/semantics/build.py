"""From a syntax tree to its semantic model."""

from __future__ import annotations

import libcst as cst

from torchlint.semantics.interpreter import Interpreter
from torchlint.semantics.model import Model


def build_model(module: cst.Module, path: str = "") -> Model:
    """Read a module once; `path` only tells whether it is a test. Neither runs nor imports what it reads."""
    model = Model(module, path)
    Interpreter(model).run()
    return model

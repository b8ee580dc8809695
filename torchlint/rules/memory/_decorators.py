"""Decorators that may turn autograd off: those that the file does not show."""

from __future__ import annotations

from torchlint.semantics.asking import question
from torchlint.semantics.functions import FunctionInfo
from torchlint.source import written

# Decorators that neither call a function at another time nor turn autograd off.
_PLAIN_DECORATORS = (
    *("functools.", "typing.", "typing_extensions.", "abc.", "torch.compile", "torch.jit."),
    *("hydra.", "click.", "typer.", "fire."),
)
_BUILTIN_DECORATORS = frozenset({"staticmethod", "classmethod", "property"})


@question(False)
def perhaps_decorated(function: FunctionInfo) -> bool:
    """Whether a decorator that is not known is on the function, or on one that calls it: it may turn autograd off."""
    for _, decorator in function.decorators:
        name = decorator.qual
        if name is None or not (name in _BUILTIN_DECORATORS or name.startswith(_PLAIN_DECORATORS)):
            return True
    owners = (caller.context.owner for caller in function.callers)
    return any(owner is not None and perhaps_decorated(owner) for owner in owners)


@question(False)
def perhaps_inference(function: FunctionInfo) -> bool:
    """Whether a decorator on the function, or on one that calls it, speaks of gradients or inference."""
    for node, _ in function.decorators:
        text = written.code(node)
        if "grad" in text or "infer" in text:
            return True
    owners = (caller.context.owner for caller in function.callers)
    return any(owner is not None and perhaps_inference(owner) for owner in owners)

"""Under what code runs, in its function or in all that call it: without autograd, compiled, in a test, in a worker."""

from __future__ import annotations

from torchlint.knowledge.names import TRAINED_STEPS
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import FunctionInfo, Role
from torchlint.semantics.values import Gate


def flag(context: Context, wanted: str) -> bool:
    """Whether a `with` around, in this function, sets a flag such as "no_grad"; the innermost wins for autograd."""
    for link in context.in_function():
        if link.scope is Scope.WITH and wanted in link.flags:
            return True
        if link.scope is Scope.WITH and wanted == "no_grad" and "enable_grad" in link.flags:
            return False
    return False


def autograd_off(context: Context, *, perhaps: bool = False) -> bool:
    """Whether autograd is off here: by a `with`, a decorator, or in every caller that is known.

    `perhaps`: managers count that turn it off in some runs.
    """
    for link in context.chain():
        if link.scope is Scope.WITH:
            if "enable_grad" in link.flags:
                return False
            if "no_grad" in link.flags or (perhaps and "maybe_no_grad" in link.flags):
                return True
        elif link.scope is Scope.FUNCTION:
            assert link.function is not None
            return _autograd_off(link.function, perhaps)
    return False


@question(True)
def _autograd_off(function: FunctionInfo, perhaps: bool) -> bool:
    if function.no_grad or function.role in (Role.OPTIMIZER_STEP, Role.AUTOGRAD):
        return True
    if function.role is Role.STEP and function.name in TRAINED_STEPS:
        return False  # whoever else calls it, such as an evaluation: its framework trains with it
    callers = [caller.context for caller in function.callers if caller.context.owner is not function]
    run = [context for context in callers if not in_test(context)]  # a test may call without what its program sets
    return bool(callers) and all(autograd_off(context, perhaps=perhaps) for context in run or callers)


def compiled(context: Context) -> FunctionInfo | None:
    """The compiled function that covers this code, itself or through callers; None if there is none."""
    around = context.owner.outward() if context.owner is not None else ()
    return next(filter(None, map(_compiled, around)), None)


@question(None)
def _compiled(function: FunctionInfo) -> FunctionInfo | None:
    if function.compiled or (function.cls is not None and function.cls.compiled and function.role is Role.FORWARD):
        return function
    for caller in function.callers if not function.uncompiled else ():
        found = compiled(caller.context)
        if found is not None:
            return found
    return None


def on_host_alone(context: Context) -> bool:
    """Whether the code runs only where its tensors are on the host: `if not x.is_cuda`, here or around every call."""
    return context.on_every_way(lambda link: True if link.scope is Scope.BRANCH and link.gate is Gate.HOST else None)


def in_test(context: Context) -> bool:
    """Whether the code belongs to a test: to a function that is one, or to a file of tests."""
    return any(link.function is not None and link.function.role is Role.TEST for link in context.chain())


def in_worker(context: Context) -> bool:
    """Whether the code runs in a loader worker: a Dataset's methods, a collate function, and what only they call."""
    return context.owner is not None and any(map(_in_worker, context.owner.outward()))


@question(True)
def _in_worker(function: FunctionInfo) -> bool:
    if function.role is Role.WORKER:
        return True
    callers = [caller.context for caller in function.callers if caller.context.owner is not function]
    return bool(callers) and all(in_worker(context) for context in callers)

"""Whether code runs always, or only where someone asked for it."""

from __future__ import annotations

import libcst as cst

from torchlint.semantics import surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model

_TRAINS = frozenset({EffectKind.OPTIMIZER_STEP})
# Tests on the surroundings, not on a wish of the user: `if torch.cuda.is_available()`, `if __name__ == "__main__"`.
_SURROUNDINGS = ("is_available", "device_count", "is_initialized")


def unconditional(context: Context, model: Model) -> bool:
    """Whether code runs on every run of the program that reaches its function, and not in a test or a recovery."""
    return not surroundings.in_test(context) and _unconditional(context, model, frozenset())


def _unconditional(context: Context, model: Model, seen: frozenset[FunctionInfo]) -> bool:
    for link in context.chain():
        if link.scope is Scope.HANDLER:
            return False
        if link.scope is Scope.BRANCH and not _asks_surroundings(link.test, model):
            return False
        if link.scope is Scope.FUNCTION:
            function = link.function
            if function is None or not function.callers or function in seen or function.does(_TRAINS):
                return True  # or all of the training is what its callers start on some condition
            return any(_unconditional(caller.context, model, seen | {function}) for caller in function.callers)
    return True


def is_conditional(context: Context) -> bool:
    """Whether a condition around the code, or around every call of its function in this file, may leave it out."""

    def may_leave_out(link: Context) -> bool | None:
        is_condition = link.scope is Scope.BRANCH and not _is_main_guard(link.test)
        return True if is_condition or link.scope is Scope.HANDLER else None

    return context.on_every_way(may_leave_out)


def _asks_surroundings(test: cst.BaseExpression | None, model: Model) -> bool:
    if _is_main_guard(test):
        return True
    if isinstance(test, cst.Comparison):
        test = test.left
    if isinstance(test, cst.Call):
        name = model.resolve(test.func) or ""
        return name.rsplit(".", 1)[-1] in _SURROUNDINGS
    return False


def _is_main_guard(test: cst.BaseExpression | None) -> bool:
    return isinstance(test, cst.Comparison) and isinstance(test.left, cst.Name) and test.left.value == "__name__"

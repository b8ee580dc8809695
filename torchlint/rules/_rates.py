"""Whether code that this file does not run often may be run often by another."""

from __future__ import annotations

from torchlint.semantics import rounds
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import COLD_ROLES, FunctionInfo
from torchlint.semantics.values import Gate


def may_be_hot(context: Context) -> bool:
    """Whether the code stands in a function that another file may call on every step, behind no gate."""
    for link in context.chain():
        if link.scope is Scope.HANDLER or (link.scope is Scope.BRANCH and link.gate is not Gate.NONE):
            return False
        if link.scope is Scope.LOOP and rounds.iterates(link) is Iterates.EPOCHS:
            return False
        if link.scope is Scope.FUNCTION:
            assert link.function is not None
            return _may_be_called_often(link.function)
    return False


@question(False)
def _may_be_called_often(function: FunctionInfo) -> bool:
    if function.role in COLD_ROLES or (_has_step_loop(function) and not _updates(function)):
        return False
    return not function.callers or any(may_be_hot(caller.context) for caller in function.callers)


def _updates(function: FunctionInfo) -> bool:
    """Whether it is by its name the part of an agent that learns from one rollout: a step, though it takes several."""
    return function.method == "instance" and function.name.split("_", 1)[0] in ("learn", "step", "update")


@question(False)
def _has_step_loop(function: FunctionInfo) -> bool:
    """Whether the function holds the loop over steps itself: its code outside that loop is not hot.

    One that decodes or samples answers one request, and its code before and after that runs as often as it is asked.
    """
    return any(
        rounds.iterates(loop) is Iterates.EPOCHS
        or (rounds.iterates(loop) is Iterates.STEPS and not rounds.feeds_itself(loop))
        for effect in function.effects
        for loop in effect.context.enclosing_loops()
    )

"""Which calls of a function get to the code that stands behind its switches."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.semantics.contexts import Asked
from torchlint.semantics.functions import HOT_ROLES, CallerSite, EffectKind, FunctionInfo, Parameter
from torchlint.semantics.values import Gate


def opens(function: FunctionInfo, asks: Asked) -> bool:
    """Whether code behind these switches of a function is reached, as far as its interface and its callers tell."""
    if function.role in HOT_ROLES and (
        all(_holds_unasked(function, *ask) for ask in asks) or _asked_of_base(function, asks)
    ):
        return True
    return any(may_reach(function, asks)) or (function.role not in HOT_ROLES and not function.callers)


def may_reach(function: FunctionInfo, asks: Asked) -> Iterator[CallerSite]:
    """The callers that do not plainly pass, or leave, something else for the parameters than what is asked of them.

    Nor something that is seldom so: `report(loss, step % 100 == 0)`. Where the optimizer's step stands behind it, as in
    `scale(loss, update=i % 4 == 0)`, each time is a step.
    """
    for caller in function.callers:
        if function.ends_program and caller.context.enclosing_loops():
            continue  # a process of its own, which ends with this call
        given = ((function.parameters[index], truth, text) for index, truth, text in asks)
        if all(
            _truth_given(parameter, caller, text) in (None, truth)
            and (text or not _seldom_given(parameter, caller, truth) or _steps_behind(function, parameter, truth))
            for parameter, truth, text in given
        ):
            yield caller


def _seldom_given(parameter: Parameter, caller: CallerSite, truth: bool) -> bool:
    """Whether what a call gives for a parameter has that truth now and then only."""
    given = parameter.passed.get(caller.node)
    gates = given.gates if given is not None else None
    return gates is not None and gates[0 if truth else 1] in (Gate.RARE, Gate.DEBUG)


def _steps_behind(function: FunctionInfo, parameter: Parameter, truth: bool) -> bool:
    """Whether an optimizer steps where that is the truth of a parameter: it tells when gradients have gathered."""
    ask = (parameter.index, truth, "")
    return any(
        effect.kind is EffectKind.OPTIMIZER_STEP and ask in effect.context.asked() for effect in function.effects
    )


def _truth_given(parameter: Parameter, caller: CallerSite, text: str) -> bool | None:
    """Whether a call gives a true value, or that text, for a parameter; None where that is not known."""
    given = parameter.passed.get(caller.node)
    if given is not None:
        return parameter.told(given, text)
    if not isinstance(caller.node, cst.Call) or any(argument.star for argument in caller.node.args):
        return None
    return parameter.left_out(text)


def _holds_unasked(function: FunctionInfo, index: int, truth: bool, text: str) -> bool:
    """Whether an interface that is called without its options gets to what is behind a switch.

    To any of its modes, which whoever trains or predicts with it chooses; and to what the file asks of some module.
    """
    parameter = function.parameters[index]
    return bool(text) or truth in parameter.asked or parameter.left_out(text) in (None, truth)


def _asked_of_base(function: FunctionInfo, asks: Asked) -> bool:
    """Whether a call of the method that it overrides may ask for what is behind its switches."""
    truths = {function.parameters[index].name: (truth, text) for index, truth, text in asks}
    for cls in function.cls.lineage()[1:] if function.cls is not None else ():
        method = cls.methods.get(function.name)
        if method is not None:
            same = frozenset((p.index, *truths[p.name]) for p in method.parameters if p.name in truths)
            if any(may_reach(method, same)):
                return True
    return False

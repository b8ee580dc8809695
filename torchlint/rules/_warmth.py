"""Whether something ran before: what a benchmark times, or a graph captures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within

_DEEPEST: Final = 3  # how many calls deep or up a warm-up is looked for
# Calls that take a function and do not run it.
KEEPS: Final = frozenset(
    """isinstance len type id getattr hasattr callable print repr str torch.compile torch.jit.script
    functools.partial""".split()
)
_SET_UP: Final = ("__init__", "__post_init__", "setup", "__enter__")


def own_calls(function: FunctionInfo, model: Model) -> list[sites.Call]:
    """The calls in the body of a function, in the order of evaluation."""
    return [call for call in model.sites.calls if model.function_of(call.context) is function]


def was_warm(function: FunctionInfo, before: list[sites.Call], name: str, model: Model) -> bool:
    """Whether the function or module of that name has run before, or may have.

    In the calls `before` in the same function, in the set-up of its class, or before each call of the function.
    """
    return _warm(function, before, name, model, _DEEPEST)


def _warm(function: FunctionInfo, before: list[sites.Call], name: str, model: Model, depth: int) -> bool:
    if any(_runs(call, name, model, _DEEPEST) for call in before) or _speaks_of_warming(function):
        return True
    head = name.split(".", 1)[0]
    if head == "self" and function.cls is not None:
        others = (method for method in function.cls.methods.values() if method is not function)
        set_up = [method for method in others if method.name in _SET_UP]
        if any(_runs(call, name, model, 1) for method in set_up for call in own_calls(method, model)):
            return True
    passed = any(parameter.name == head for parameter in function.parameters)
    if function is not model.root and not passed and head != "self":
        return any(_runs(call, name, model, 1) for call in own_calls(model.root, model))
    # A call whose result nobody takes is a warm-up itself, not a measurement.
    measuring = [caller for caller in function.callers if not _is_discarded(caller.node, model)]
    measuring = measuring or function.callers[1:]  # it keeps the figures itself
    return bool(measuring and depth) and all(
        _warm_at(caller.node, caller.context, function, name, model, depth - 1) for caller in measuring
    )


def _is_discarded(node: cst.CSTNode, model: Model) -> bool:
    site = model.call(node)
    return site is not None and isinstance(site.statement, cst.Expr) and site.statement.value is node


def _warm_at(node: cst.CSTNode, context: Context, callee: FunctionInfo, name: str, model: Model, depth: int) -> bool:
    """Whether the work is warm where a caller calls the function that times it."""
    owner = model.function_of(context)
    calls = own_calls(owner, model)
    index = next((i for i, call in enumerate(calls) if call.node is node), None)
    if index is None:
        return True
    site = calls[index]
    if any(call.target is callee and _is_discarded(call.node, model) for call in calls[:index]):
        return True
    head, _, rest = name.partition(".")
    if head == "self":
        base = dotted(site.receiver_node) if site.receiver_node is not None else None
    else:
        given = site.argument_for(callee, head)
        base = dotted(given.node) if given is not None else None
    if base is None:
        return False
    return _warm(owner, calls[:index], f"{base}.{rest}".rstrip("."), model, depth)


def _runs(call: sites.Call, name: str, model: Model, depth: int) -> bool:
    """Whether a call runs the function or module of that name, or may."""
    written = dotted(call.node.func)
    if written == name or written == f"{name}.forward":
        return True
    if call.target is not None and depth:
        for inner in _handed_on(call, name):
            if any(_runs(other, inner, model, depth - 1) for other in own_calls(call.target, model)):
                return True
        return False
    if call.callee in KEEPS or (call.callee or "").startswith(("torch.nn.", "torch.cuda.")):
        return False
    return any(dotted(argument.node) == name for argument in call.arguments)


def _handed_on(call: sites.Call, name: str) -> Iterator[str]:
    """What the function of this file that is called knows the name by: a parameter, or an attribute of itself."""
    assert call.target is not None
    head, _, rest = name.partition(".")
    if call.receiver_node is not None and dotted(call.receiver_node) == head and rest:
        yield f"self.{rest}"
    for parameter in call.target.parameters:
        given = call.argument_for(call.target, parameter.name)
        if given is not None and dotted(given.node) == name:
            yield parameter.name
    if call.target.parent is not None:
        yield name  # a closure sees it by the same name


def _speaks_of_warming(function: FunctionInfo) -> bool:
    """Whether the function itself names a warm-up, by a helper or a context that is not in the file."""
    return any("warm" in name.lower() for name in names_used(function))


def names_used(function: FunctionInfo) -> Iterator[str]:
    """The bare names in a function's own body."""
    return (node.value for node in within(function.body_nodes) if isinstance(node, cst.Name))

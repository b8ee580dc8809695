"""Whether two backwards run through the same graph."""

from __future__ import annotations

import enum
from typing import Final

import libcst as cst

from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import children, within
from torchlint.semantics.targets import loop_names
from torchlint.semantics.values import DETACHED, Kind

_ENDS: Final = frozenset("detach data item tolist numpy".split())  # what comes before these is not run through
_LONGEST: Final = 2000  # nodes that are followed; beyond, the answer is not known


class Shared(enum.Enum):
    """What the graphs of two backward calls have in common."""

    NOTHING = "nothing"
    ARGUMENTS = "arguments"  # only what the function was given, which mostly has no graph
    SOMETHING = "something"  # the same call's result, the same attribute, or it is not known


def shared_graph(one: cst.CSTNode, other: cst.CSTNode, function: FunctionInfo, model: Model) -> Shared:
    """What the roots of two backward calls of a function are both made of."""
    mine, its = _makers(one, function, model), _makers(other, function, model)
    if mine is None or its is None:
        return Shared.SOMETHING
    common = mine & its
    if not common and any(_asks_what_ran(*pair) for pair in ((mine, its), (its, mine))):
        return Shared.ARGUMENTS
    if all(isinstance(maker, str) and "." not in maker for maker in common):
        return Shared.ARGUMENTS if common else Shared.NOTHING
    return Shared.SOMETHING


def _asks_what_ran(asking: set[cst.CSTNode | str], running: set[cst.CSTNode | str]) -> bool:
    """Whether one root is what a module says without being given anything, such as a divergence, and the other its run.

    It may have kept that of the run: then both graphs go through it.
    """
    ran = {dotted(maker.func) for maker in running if isinstance(maker, cst.Call)} - {None}
    return any(
        isinstance(maker, cst.Call)
        and not maker.args
        and isinstance(maker.func, cst.Attribute)
        and dotted(maker.func.value) in ran
        for maker in asking
    )


def made_before(backward: cst.CSTNode, loop: cst.CSTNode, function: FunctionInfo, model: Model) -> bool:
    """Whether a backward runs through what was computed before the loop around it: so does that of the next round."""
    inside = set(within([loop.body])) if isinstance(loop, (cst.For, cst.While)) else set()
    return any(
        isinstance(maker, cst.Call) and maker not in inside and model.value(maker).attached
        for maker in _makers(backward, function, model) or ()
    )


def root_of(backward: cst.Call, model: Model) -> cst.BaseExpression | None:
    """What a backward begins with: what it is a method of, where that is a tensor, else what it is given."""
    given = backward.args[0].value if backward.args and not backward.args[0].keyword else None
    receiver = backward.func.value if isinstance(backward.func, cst.Attribute) else None
    if receiver is not None and (given is None or model.value(receiver).is_tensor):
        return receiver  # what the method of a tensor is given is the gradient
    return given


def _makers(backward: cst.CSTNode, function: FunctionInfo, model: Model) -> set[cst.CSTNode | str] | None:
    """The calls, and the names from outside, that a backward's graph is made of; None where that is not known."""
    if not isinstance(backward, cst.Call):
        return None
    root = root_of(backward, model)
    found: set[cst.CSTNode | str] = set()
    seen: set[cst.CSTNode] = set()
    todo: list[cst.CSTNode] = [root] if root is not None else []
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if len(seen) > _LONGEST:
            return None
        if isinstance(node, cst.Attribute) and node.attr.value in _ENDS:
            continue
        name = dotted(node) if isinstance(node, (cst.Name, cst.Attribute)) else None
        if name is not None and isinstance(node, cst.BaseExpression):
            if _has_no_graph(node, model):
                continue
            sources = _sources(name, function, model)
            todo += sources
            if not sources and ("." in name or any(parameter.name == name for parameter in function.parameters)):
                found.add(name)
        elif isinstance(node, cst.Call):
            if _has_no_graph(node, model) or model.resolve(node.func) == "next":  # a size; data
                continue
            if isinstance(node.func, cst.Attribute):
                if node.func.attr.value in _ENDS:
                    continue
                todo.append(node.func.value)
            found.add(node)
            todo += [argument.value for argument in node.args]
        else:
            todo += children(node)
    return found or None


def _has_no_graph(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    return value.graph == DETACHED or value.kind not in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN, Kind.CONTAINER)


def _sources(name: str, function: FunctionInfo, model: Model) -> list[cst.CSTNode]:
    """What the function gives to a name, adds to it, or goes through under it."""
    found: list[cst.CSTNode] = [
        node.iter for node in within(function.body_nodes) if isinstance(node, cst.For) and name in loop_names(node)
    ]
    for assign in model.sites.assigned(name):
        if model.function_of(assign.context) is function:
            node = assign.value_node
            if node is None and isinstance(assign.node, (cst.Assign, cst.AugAssign)):
                node = assign.node.value
            if node is not None:
                found.append(node)
    for site in model.sites.stores:
        if site.owner_name == name and model.function_of(site.context) is function:
            found.append(site.stored)
    return found

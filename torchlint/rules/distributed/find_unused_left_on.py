"""TL902: a search for unused parameters where all are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Applicability, Confidence, Impact
from torchlint.rules._repairs import remove_argument
from torchlint.rules.base import FixAvailability, NodeFix, Report, Rule
from torchlint.semantics import sites, surroundings
from torchlint.semantics.functions import ClassInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import children, within
from torchlint.semantics.values import Kind, Value

_OPTION: Final = "find_unused_parameters"
# What takes the option for a model that it is given elsewhere.
_SETTINGS: Final = (
    "accelerate.DistributedDataParallelKwargs",
    "accelerate.utils.DistributedDataParallelKwargs",
    "lightning.pytorch.strategies.DDPStrategy",
    "pytorch_lightning.strategies.DDPStrategy",
)


class FindUnusedLeftOn(Rule):
    code = "TL902"
    name = "find-unused-left-on"
    bottleneck = "distributed"
    impact = Impact.LOW
    summary = "Every step searches for unused parameters of a model that uses all"
    fix_availability = FixAvailability.SOMETIMES
    calls = ("torch.nn.parallel.DistributedDataParallel", *_SETTINGS)
    words = ("find_unused_parameters",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        option = site.argument(None, _OPTION)
        tables = [argument.value.items or {} for argument in site.arguments if argument.star == "**"]
        asked = option.value if option is not None else next((t[_OPTION] for t in tables if _OPTION in t), None)
        if asked is None or asked.const is not True or surroundings.in_test(site.context):
            return
        cls = site.arguments[0].value.cls if site.callee not in _SETTINGS else None
        if cls is None:
            yield Report(
                site.node,
                "`find_unused_parameters=True` walks the graph on every step, which only a model that leaves some of "
                "its parameters out on some steps needs",
                "leave it at False unless the reduction complains of parameters that were not used",
                Confidence.POSSIBLE,
            )
        elif _uses_all(cls, frozenset()):
            yield Report(
                site.node,
                f"`find_unused_parameters=True` walks the graph on every step, though `{cls.name}.forward` uses all "
                "its parameters every time",
                "leave it at False",
                Confidence.LIKELY,
                (("the model's class", cls.node),),
                NodeFix(Applicability.UNSAFE, "Leave it out", (remove_argument(site.node, option.node),))
                if option is not None
                else None,
            )


def _uses_all(cls: ClassInfo, seen: frozenset[ClassInfo]) -> bool:
    """Whether forward reads every submodule and parameter of the class, unconditionally, and they theirs."""
    forward = cls.methods.get("forward")
    if forward is None or cls in seen or not all(base.qual in ("torch.nn.Module", None) for base in cls.bases):
        return False
    if cls.parents():
        return False
    read = _read_always(forward.node, cls, frozenset({"forward"}))
    called = _called(cls)
    for name in cls.stores:
        held = cls.find_attribute(name)
        if (held is None or held.kind is Kind.UNKNOWN) and name in called:
            return False  # a module, of which nothing is known
        if held is None or not _has_parameters(held):
            continue
        if held.kind is Kind.UNKNOWN or name not in read:
            return False
        if not _members_use_all(held, seen | {cls}):
            return False
    return True


def _called(cls: ClassInfo) -> set[str]:
    """The attributes that the methods of a class call: `self.decoder(x)`."""
    names = (
        dotted(part.func)
        for method in cls.methods.values()
        for part in within(method.body_nodes)
        if isinstance(part, cst.Call)
    )
    return {name[5:] for name in names if name is not None and name.startswith("self.")}


def _has_parameters(value: Value) -> bool:
    if value.kind is Kind.MODULE:
        return True
    return value.kind is Kind.TENSOR and value.qual == "torch.nn.Parameter"


def _members_use_all(value: Value, seen: frozenset[ClassInfo]) -> bool:
    if value.kind is not Kind.MODULE:
        return True
    if value.cls is not None:
        return _uses_all(value.cls, seen)
    if value.qual is None or not value.qual.startswith("torch.nn."):
        return False
    parts = list((value.items or {}).values()) or [part for part in (value.elem,) if part is not None]
    return all(_members_use_all(part, seen) for part in parts if part.kind is Kind.MODULE)


def _read_always(node: cst.CSTNode, cls: ClassInfo, methods: frozenset[str]) -> set[str]:
    """The attributes of `self` that a function reads on every call: not in a branch, nor in a loop that may skip."""
    read: set[str] = set()
    body = node.body if isinstance(node, (cst.FunctionDef, cst.Lambda)) else node
    todo: list[cst.CSTNode] = [body]
    while todo:
        part = todo.pop()
        if isinstance(part, cst.IndentedBlock):
            todo += _up_to_return(part)
            continue
        if isinstance(part, cst.If):
            todo.append(part.test)
            continue
        if isinstance(part, (cst.While, cst.Try, cst.TryStar, cst.Match, cst.FunctionDef, cst.Lambda)):
            continue
        if isinstance(part, cst.For):
            if not _may_skip(part.body):
                todo += (part.iter, part.body)
            continue
        if isinstance(part, cst.IfExp):
            todo.append(part.test)
            continue
        if isinstance(part, cst.CompFor) and part.ifs:
            continue
        if isinstance(part, cst.Subscript) and _picks_module(part, node, cls):
            todo += part.slice
            continue
        if isinstance(part, cst.Attribute) and isinstance(part.value, cst.Name) and part.value.value == "self":
            name = part.attr.value
            read.add(name)
            method = cls.methods.get(name)
            if method is not None and name not in methods:
                read |= _read_always(method.node, cls, methods | {name})
        todo += children(part)
    return read


def _picks_module(part: cst.Subscript, function: cst.CSTNode, cls: ClassInfo) -> bool:
    """`self.heads[task]`: one module of several, whichever the caller of the function names."""
    name = dotted(part.value)
    held = cls.find_attribute(name[5:]) if name is not None and name.startswith("self.") else None
    if held is None or held.kind is not Kind.MODULE or not isinstance(function, cst.FunctionDef):
        return False
    arguments = {param.name.value for param in (*function.params.params, *function.params.kwonly_params)}
    return any(
        isinstance(element.slice, cst.Index) and bool(names_read(element.slice.value) & arguments)
        for element in part.slice
    )


def _up_to_return(block: cst.IndentedBlock) -> list[cst.CSTNode]:
    """The statements of a block up to one that may leave the function before its end: what follows may not run."""
    found: list[cst.CSTNode] = []
    for statement in block.body:
        found.append(statement)
        if not isinstance(statement, cst.SimpleStatementLine) and any(
            isinstance(part, cst.Return) for part in within([statement])
        ):
            break
    return found


def _may_skip(body: cst.CSTNode) -> bool:
    """Whether a round of a loop may leave part of its work out."""
    todo: list[cst.CSTNode] = [body]
    while todo:
        part = todo.pop()
        if isinstance(part, (cst.If, cst.Continue, cst.Break, cst.Return, cst.Try, cst.IfExp)):
            return True
        todo += children(part)
    return False

"""Calls of functions and classes that are read: arguments go in, summaries come out."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.functions import ClassInfo, EffectKind, FunctionInfo, Role
from torchlint.semantics.nodes import within
from torchlint.semantics.reading.attributes import placed_with
from torchlint.semantics.reading.elements import ELEMENTS
from torchlint.semantics.reading.expressions import ExpressionReader
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    MISSING,
    OWN_DEVICE,
    OWN_GRAPH,
    PLACES,
    UNKNOWN,
    Kind,
    Value,
    dependence,
    join,
)

_MOST_OVERRIDES = 16  # of more, one call tells nothing of any


class OwnCallReader(ExpressionReader):
    """Evaluates calls of the program's own functions."""

    def call_own(self, info: FunctionInfo, bound: Value | None, site: sites.Call) -> Value:
        """A function of this file: pass the arguments on, and take its summary."""
        site.target = info
        beforehand = self.given_beforehand(site.function, site)
        if beforehand:
            site = replace(site, arguments=[*beforehand, *site.arguments])
        values = self.bind_arguments(info, bound, site)
        self.called(info, site.node, "created" if info.is_context_manager else "")
        if info.role is Role.OPTIMIZER_STEP:
            self.effect(EffectKind.OPTIMIZER_STEP, site.node, bound)
        if info.is_context_manager:
            return Value(Kind.OBJECT, qual="context manager", fn=info)
        self.note_roots_of(info, site)
        self.call_named_methods(info, values, site)
        overrides = self.overrides_of(info, bound)
        unseen = info.returns is None or (info.is_abstract and not overrides)  # whose subclasses do the work
        result = None if unseen else self.instantiate(info, _returned(info, values, site), values)
        for override in overrides:
            if not self._may_stand_here(override, site):
                continue
            values = self.bind_arguments(override, bound, site)
            self.called(override, site.node)
            self.note_roots_of(override, site)
            if override.returns is not None:
                other = self.instantiate(override, _returned(override, values, site), values)
                result = other if result is None or info.is_abstract else join(result, other)
        if bound is None:
            return UNKNOWN if result is None else result
        if _is_moved_to_host(info, bound, result):
            return bound.but(device=HOST, origins=(site.node,), ident=None)
        return placed_with(bound, UNKNOWN if result is None else result)

    def given_beforehand(self, function: Value, site: sites.Call) -> list[sites.Argument]:
        """The arguments that a function has before a call gives it more, as `functools.partial` has them."""
        held = function.items if function.fn is not None else None
        named = ((None if type(key) is int else str(key), value) for key, value in (held or {}).items())
        return [sites.Argument(name, "", site.node, value) for name, value in named]

    def _may_stand_here(self, override: FunctionInfo, site: sites.Call) -> bool:
        """Whether the method around may run for the class of an override, which may have its own in its place."""
        around, receiver = self.frame.info, site.receiver_node
        if around.cls is None or override.cls is None or type(receiver) is not cst.Name or not around.parameters:
            return True
        if around.method != "instance" or receiver.value != around.parameters[0].name or around is override:
            return True
        own = override.cls.find_method(around.name)
        return own not in self.model.overrides(around.cls, around.name) or self.once(_goes_on, own, around.name)

    def call_named_methods(self, info: FunctionInfo, values: dict[int, Value], site: sites.Call) -> None:
        """`self.notify("on_step_end", loss)`: what the function calls by that name runs as often as this call does."""
        for index, owner in info.named_methods.items():
            name = values[index].const if index in values else None
            several = [self.of_class(owner, cls) for cls in owner.classes] or [owner]
            for one in several:
                if not isinstance(name, str):
                    break
                method = self.attribute_of(one, name, site.node)
                if method.fn is not None and method.fn is not info:
                    for run in (method.fn, *self.overrides_of(method.fn, one)):
                        self.hand_on(info, site, run, _handed(info, index, values))
        for index in info.named_anywhere:
            name = values[index].const if index in values else None
            for run in self.methods_of_one_family(name, info.cls) if isinstance(name, str) else ():
                self.hand_on(info, site, run, _handed(info, index, values))

    def hand_on(
        self, info: FunctionInfo, site: sites.Call, run: FunctionInfo, handed: list[tuple[str | None, Value]]
    ) -> None:
        """A call makes a function run a method that it was named, with what it hands on.

        That is what it says itself, and what came for its `*args` and `**kwargs`.
        """
        self.called(run, site.node)
        stars = {parameter.star for parameter in info.parameters}
        named = [p.name for p in info.parameters if not p.star]
        own = len(named) - (info.method in ("instance", "class"))
        given = [a for a in site.arguments if not a.star]
        rest = [a for a in given if a.name is None][own:] if "*" in stars else []
        rest += [a for a in given if a.name is not None and a.name not in named] if "**" in stars else []
        rest = [*(sites.Argument(name, "", site.node, value) for name, value in handed), *rest]
        if rest and run.cls is not None:
            self.bind_arguments(run, self.instance_of(run.cls), replace(site, arguments=rest))

    def methods_of_one_family(self, name: str, apart: ClassInfo | None) -> list[FunctionInfo]:
        """The methods of a name in all that is read, where one class declares it and those below it fill it in.

        Those of the class that calls them, which may hand on what it is told under the same name, are none of them.
        """
        self.model.everywhere(name)  # whatever file has such a method
        methods = self.model.methods.get(name, ())
        # A class within a function, as tests have them, is nobody else's.
        found = {m.cls: m for m in methods if m.cls is not None and m.cls.context.owner is None}
        lineage = apart.lineage() if apart is not None else []
        others = {cls: m for cls, m in found.items() if cls not in lineage and apart not in cls.lineage()}
        first = [cls for cls in others if not any(parent.find_method(name) for parent in cls.parents())]
        if len(first) > 1 or len(others) < 2:
            return []
        return list(others.values())

    def note_roots_of(self, info: FunctionInfo, site: sites.Call) -> None:
        """What is passed for a parameter on which a function runs backward is a root here as well."""
        for parameter in info.parameters if info.terms else ():
            if info.has_graph(parameter.name):
                given = site.argument_for(info, parameter.name)
                self.note_root(given.node if given is not None else None)

    def overrides_of(self, info: FunctionInfo, bound: Value | None) -> list[FunctionInfo]:
        """The methods of subclasses that may run in place of a method, where only a base of the instance is known."""
        if info.method != "instance" or bound is None or bound.cls is None or bound.kind is Kind.CLASS:
            return []
        if bound.origins or bound.qual == "super":
            return []  # made here: of this very class
        overrides = [override for override in self.model.overrides(bound.cls, info.name) if override is not info]
        return overrides if len(overrides) <= _MOST_OVERRIDES else []

    def bind_arguments(self, info: FunctionInfo, bound: Value | None, site: sites.Call) -> dict[int, Value]:
        """Match arguments to parameters; what is passed joins what is known of the parameter."""
        parameters = info.parameters
        values: dict[int, Value] = {}
        start = 0
        if (
            info.cls is not None
            and info.method in ("instance", "class", "property")
            and bound is not None
            and bound.kind is not Kind.CLASS
            or info.method == "class"
        ):
            start = 1
            if bound is not None and parameters:
                values[0] = bound
        positional = [p for p in parameters[start:] if not p.star]
        by_name = {p.name: p for p in parameters if not p.star}
        position = 0
        for argument in site.arguments:
            if argument.star:
                element = self.element(argument.value, values=argument.star == "**")
                if argument.star == "*" and argument.value.kind is Kind.CONTAINER and argument.value.items:
                    for index in range(len(argument.value.items)):
                        if position < len(positional):
                            self.pass_value(
                                positional[position], site.node, argument.value.items.get(index, element), values
                            )
                            position += 1
                elif argument.star == "**" and argument.value.kind is Kind.CONTAINER and argument.value.items:
                    for key, item in argument.value.items.items():
                        if key in by_name:
                            self.pass_value(by_name[key], site.node, item, values)
                continue
            if argument.name is not None:
                parameter = by_name.get(argument.name)
            else:
                parameter = positional[position] if position < len(positional) else None
                position += 1
            if parameter is None:
                rest = "*" if argument.name is None else "**"
                parameter = next((p for p in parameters if p.star == rest), None)
            if parameter is not None:
                gathered = values.get(parameter.index) if parameter.star else None
                given = argument.value if gathered is None else join(gathered, argument.value)
                self.pass_value(parameter, site.node, given, values)
        return values

    def pass_value(self, parameter: Any, node: cst.CSTNode, value: Value, values: dict[int, Value]) -> None:
        values[parameter.index] = value
        passed = value
        if value.deps or value.ident is not None:
            passed = value.but(deps=0, ident=None)
        if self.model.is_test_file and value.const is not MISSING:
            passed = passed.but(const=MISSING)  # a test asks for what is convenient there
        if parameter not in self.frame.info.parameters:  # a recursive call tells nothing new
            parameter.passed[node] = passed
            if self.model.project is not None:
                self.model.project.calling[node] = self.context

    def instantiate(self, info: FunctionInfo, returns: Value, values: dict[int, Value]) -> Value:
        """A function's result for these arguments: it takes device and graph from the parameters it came from."""
        if returns.ident is not None and returns.ident in values:
            given = values[returns.ident]
            if info.is_generator and given.kind is Kind.UNKNOWN:
                return Value(Kind.CONTAINER, elem=returns.elem, origins=returns.origins)
            return (
                given
                if returns.kind in (given.kind, Kind.UNKNOWN) or given.kind is Kind.UNKNOWN and given.deps
                else returns.but(
                    device=given.device or returns.device,
                    graph=given.graph or returns.graph,
                    ident=given.ident,
                    deps=given.deps,
                )
            )
        if returns.kind is Kind.CONTAINER:
            elem = self.instantiate(info, returns.elem, values) if returns.elem is not None else None
            items = returns.items
            if items:
                items = {key: self.instantiate(info, item, values) for key, item in items.items()}
            if elem is returns.elem and items is returns.items:
                return returns
            return returns.but(elem=elem, items=items)
        if returns.kind not in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN, Kind.DEVICE):
            return returns.but(ident=None, deps=0) if returns.ident is not None or returns.deps else returns
        device, graph, deps = returns.device, returns.graph, 0
        if returns.deps:
            told_device = told_graph = own_device = own_graph = 0
            for index, value in values.items():
                shared = returns.deps & dependence(index)
                known_device, known_graph = info.entry.get(index, (ANYWHERE, MAYBE)) if shared else (0, 0)
                if shared & PLACES:
                    own_device |= known_device
                    told_device |= value.device
                    deps |= value.deps & PLACES
                if shared & ~PLACES and graph != DETACHED:
                    own_graph |= known_graph
                    told_graph |= value.graph
                    deps |= value.deps & ~PLACES
            if not told_device and device == ANYWHERE and self._given_on_host(info, returns.deps, values):
                told_device = HOST
            # What the summary says beyond what it took from those parameters is its own; the rest is this call's.
            if told_device:
                own = device & ~own_device & ~ANYWHERE | (DEVICE if returns.deps & OWN_DEVICE else 0)
                device = DEVICE if told_device == DEVICE else own | told_device
                deps |= returns.deps & OWN_DEVICE if deps & PLACES else 0
            if told_graph:
                graph = ATTACHED if returns.deps & OWN_GRAPH else (graph & ~own_graph & ~MAYBE) | told_graph
                deps |= returns.deps & OWN_GRAPH
        if graph & (MAYBE | ATTACHED) and self.grad_is_off():
            graph = DETACHED
        if device == returns.device and graph == returns.graph and deps == returns.deps and returns.ident is None:
            return returns
        return returns.but(device=device, graph=graph, deps=deps, ident=None)

    def _given_on_host(self, info: FunctionInfo, deps: int, values: dict[int, Value]) -> bool:
        """Whether all that a result comes from is Python data here, and no device is asked for."""
        left = [p for p in info.parameters if deps & PLACES & dependence(p.index) and p.index not in values]
        return bool(values) and all(map(_is_plain, values.values())) and all(_is_none(p.default) for p in left)

    def call_property(self, method: FunctionInfo, owner: Value, node: cst.CSTNode) -> Value:
        self.called(method, node)
        returns = method.returns
        return placed_with(owner, UNKNOWN if returns is None else self.instantiate(method, returns, {0: owner}))

    def construct(self, cls: ClassInfo, site: sites.Call) -> Value:
        """An instance of a class of this file."""
        init = cls.find_method("__init__")
        instance = self.instance_of(cls)
        if instance.kind is Kind.MODULE:
            instance = instance.but(device=HOST)
        if init is not None:
            site.target = init
            self.bind_arguments(init, instance, site)
            self.called(init, site.node)
        else:
            for index, argument in enumerate(site.arguments):  # a dataclass or a named tuple
                name = argument.name or (
                    list(cls.class_attributes)[index] if index < len(cls.class_attributes) else None
                )
                if name is not None and name in cls.class_attributes:
                    self.store(cls, name, argument.node, argument.value.but(ident=None, deps=0))
            if cls.is_a("list") and len(site.arguments) == 1:
                elements = Value(Kind.CONTAINER, qual="list", elem=self.element(site.arguments[0].value))
                self.store(cls, ELEMENTS, site.node, elements)
        if self.recording:
            cls.instances.append(site.node)
        if instance.kind is Kind.MODULE:
            members = tuple(a.value for a in site.arguments if a.value.kind in (Kind.MODULE, Kind.CONTAINER))
            if members:
                for member in members:
                    part = member if member.kind is Kind.MODULE else member.elem
                    if part is not None and part.cls is not None and cls.find_attribute("*members") is None:
                        self.store(cls, "*members", site.node, part)
        return instance.but(origins=(site.node,))


def _is_moved_to_host(method: FunctionInfo, owner: Value, result: Value | None) -> bool:
    """Whether a method is the `cpu` of an object that holds tensors: it gives such an object, all of it on the host."""
    if method.name not in ("cpu", "numpy") or owner.kind is not Kind.OBJECT or owner.cls is None:
        return False
    if result is None or result.kind is Kind.UNKNOWN:
        return True
    return result.kind is Kind.OBJECT and (result.cls is None or result.cls in owner.cls.lineage())


def _handed(info: FunctionInfo, index: int, values: dict[int, Value]) -> list[tuple[str | None, Value]]:
    """What a function hands on to the method that its parameter names: of its own parameters, what they have here."""
    return [
        (name, value if value.ident is None else values.get(value.ident, UNKNOWN))
        for name, value in info.handed.get(index, ())
    ]


def _returned(info: FunctionInfo, values: dict[int, Value], site: sites.Call) -> Value:
    """What a function returns on the ways that a call with these arguments may take."""
    assert info.returns is not None
    unseen = any(argument.star for argument in site.arguments)

    def may_be(index: int, truth: bool, text: str) -> bool:
        parameter, given = info.parameters[index], values.get(index)
        told = parameter.told(given, text) if given is not None else None if unseen else parameter.left_out(text)
        return told in (None, truth)

    taken = [result for asks, result in info.ways if all(may_be(*ask) for ask in asks)]
    return functools.reduce(join, taken) if 0 < len(taken) < len(info.ways) else info.returns


def _is_plain(value: Value) -> bool:
    """Whether it is a size, a number, text, a type, or a sequence of such."""
    if value.kind is Kind.CONTAINER:
        held = [*(value.items or {}).values(), *((value.elem,) if value.elem is not None else ())]
        return bool(held) and all(_is_plain(item) for item in held)
    return value.kind in (Kind.NUMBER, Kind.SHAPE, Kind.STRING, Kind.DTYPE, Kind.CLASS, Kind.NONE)


def _goes_on(method: FunctionInfo, name: str) -> bool:
    """Whether a method calls the one that it overrides: `super().step(batch)`, `Base.step(self, batch)`."""
    return any(
        isinstance(part, cst.Attribute)
        and part.attr.value == name
        and (not isinstance(part.value, cst.Name) or part.value.value[:1].isupper())
        for part in within(method.body_nodes)
    )


def _is_none(default: cst.BaseExpression | None) -> bool:
    return isinstance(default, cst.Name) and default.value == "None"

"""Definitions of functions, classes and lambdas, and what is known of their parameters."""

from __future__ import annotations

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import CallerSite, ClassInfo, FunctionInfo, Parameter, Role
from torchlint.semantics.names import identifier
from torchlint.semantics.reading.base import Frame
from torchlint.semantics.reading.bindings import BindingReader
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    MAYBE,
    MISSING,
    NUMBER,
    UNKNOWN,
    Kind,
    Value,
    dependence,
    join,
    join_optional,
)


class DefinitionReader(BindingReader):
    """Reads definitions."""

    def define_function(self, node: cst.FunctionDef) -> None:
        name = identifier(node.name.value)
        decorators = [(d.decorator, self.eval(d.decorator)) for d in node.decorators]
        info = self.model.functions.get(node)
        outer = self.frame.info
        cls = self.frame.cls
        if info is None:
            prefix = (
                cls.qualname + "." if cls is not None else ("" if outer is self.model.root else outer.qualname + ".")
            )
            info = FunctionInfo(
                node,
                name,
                prefix + name,
                cls,
                None if outer is self.model.root else outer,
                self.context,
            )
            self.model.functions[node] = info
            self.model.home[node] = self.model
            self.declare_parameters(info, node.params)
            if cls is not None and not _is_setter(node):
                cls.methods[name] = info
                self.model.methods.setdefault(name, []).append(info)
                info.is_abstract = _is_abstract(node.body)
        info.context = self.context
        info.decorators = decorators
        for parameter in info.parameters:
            self.declare(parameter)
        self.classify(info)
        self.frames[info] = self.closure_frame()
        function = Value(Kind.FUNCTION, fn=info, qual=info.qualname)
        for expression, decorator in decorators:
            function = self.decorated(function, info, expression, decorator)
        if cls is None or not _is_setter(node):
            self.bind(name, function)
        self.pending.append((info, self.frame))

    def closure_frame(self) -> Frame:
        frame: Frame | None = self.frame
        while frame is not None and frame.cls is not None:
            frame = frame.parent  # a class body's names are not seen from its methods
        assert frame is not None
        return frame

    def declare_parameters(self, info: FunctionInfo, params: cst.Parameters) -> None:
        index = 0

        def add(param: cst.Param, star: str = "") -> None:
            nonlocal index
            annotation = param.annotation.annotation if param.annotation is not None else None
            info.parameters.append(Parameter(identifier(param.name.value), index, annotation, param.default, star=star))
            index += 1

        for param in (*params.posonly_params, *params.params):
            add(param)
        if type(params.star_arg) is cst.Param:
            add(params.star_arg, "*")
        for param in params.kwonly_params:
            add(param)
        if params.star_kwarg is not None:
            add(params.star_kwarg, "**")

    def declare(self, parameter: Parameter) -> None:
        declared = self.annotated(parameter.annotation) if parameter.annotation is not None else UNKNOWN
        if parameter.default is not None:
            default = self.eval(parameter.default)
            if declared.kind is Kind.UNKNOWN:
                if default.kind is Kind.NONE:
                    declared = UNKNOWN.but(optional=True)
                elif default.device == DEVICE or default.kind in (Kind.DEVICE, Kind.STRING) and default.device:
                    declared = default.but(device=default.device | ANYWHERE, const=MISSING)
                elif default.kind in (Kind.NUMBER, Kind.STRING, Kind.CONTAINER, Kind.SHAPE, Kind.DTYPE):
                    declared = default.but(const=MISSING, conf=Confidence.LIKELY)
                else:
                    declared = default
            elif default.kind is Kind.CLASS:
                declared = default  # `layer: nn.Module = nn.Linear`: the class is what is given
            elif default.device & DEVICE:
                declared = declared.but(device=default.device | ANYWHERE)
            elif default.kind is Kind.NONE:
                declared = declared.but(optional=True)
        parameter.declared = declared

    def define_class(self, node: cst.ClassDef) -> None:
        name = identifier(node.name.value)
        bases = [self.eval(base.value) for base in node.bases]
        for keyword in node.keywords:
            self.eval(keyword.value)
        decorators = [(d.decorator, self.eval(d.decorator)) for d in node.decorators]
        info = self.model.classes.get(node)
        outer = self.frame
        if info is None:
            prefix = outer.cls.qualname + "." if outer.cls is not None else ""
            info = ClassInfo(node, name, prefix + name, self.context)
            self.model.classes[node] = info
            self.model.home[node] = self.model
        info.bases = bases
        info.base_names = self.ancestors(bases)
        for parent in info.parents():
            if info not in parent.subclasses:
                parent.subclasses.append(info)
        value = Value(Kind.CLASS, cls=info, qual=info.qualname)
        self.bind(name, value)
        frame = Frame(outer.info, outer, info)
        self.frame = frame
        with self.within(Context(Scope.CLASS, node, self.context, cls=info)):
            self.suite(node.body)
        self.frame = outer
        for attribute, held in frame.env.items():
            info.class_attributes[attribute] = held
        for expression, decorator in decorators:
            value = self.decorated_class(value, info, expression, decorator)
        self.bind(name, value)
        if self.recording:
            self.sites.classes.append(sites.Class(node, info))

    def lambda_function(self, node: cst.Lambda) -> Value:
        info = self.define_lambda(node)
        return Value(Kind.FUNCTION, fn=info, qual=info.qualname)

    def define_lambda(self, node: cst.Lambda) -> FunctionInfo:
        """A lambda: read where it stands, with the names around it, and called from there as far as anyone knows."""
        info = self.model.functions.get(node)
        if info is None:
            outer = self.frame.info
            info = FunctionInfo(
                node, "<lambda>", "<lambda>", None, None if outer is self.model.root else outer, self.context
            )
            self.model.functions[node] = info
            self.declare_parameters(info, node.params)
        info.context = self.context
        for parameter in info.parameters:
            self.declare(parameter)
        self.frames[info] = self.frame
        if self.recording:
            info.callers.append(CallerSite(node, self.context))
        self.read_function(info)
        return info

    def parameters_of(self, info: FunctionInfo) -> tuple[object, ...]:
        """What is known of a function's arguments and of what backward runs on, as something to compare."""
        facts: list[object] = [len(info.roots)]
        for parameter in info.parameters:
            for value in parameter.passed.values():
                facts.append(
                    (
                        value.kind,
                        value.device,
                        value.graph,
                        value.conf,
                        value.cls,
                        value.classes,
                        value.fn,
                        value.pinned,
                        value.dtype,
                    )
                )
            owner = parameter.index == 0 and info.cls is not None and info.method in ("instance", "property", "class")
            used = info.duck.get(parameter.name) if not parameter.passed and not owner else None
            facts.append(None if used is None else self._told_by(used))
        return tuple(facts)

    def _told_by(self, used: set[str]) -> tuple[object, ...] | None:
        """What the uses of a parameter tell of it, as something to compare; None where that is nothing."""
        refined = self.refine(UNKNOWN, used)
        return None if refined is UNKNOWN else (refined.kind, refined.conf, refined.cls)

    def bind_parameters(self, info: FunctionInfo) -> None:
        for parameter in info.parameters:
            value = self.parameter_value(info, parameter)
            info.entry[parameter.index] = (value.device, value.graph)
            self.frame.env[parameter.name] = value

    def parameter_value(self, info: FunctionInfo, parameter: Parameter) -> Value:
        """What a parameter holds: its declaration, what callers pass, and how the body uses it."""
        bits = dependence(parameter.index)
        if parameter.index == 0 and info.cls is not None and info.method in ("instance", "property"):
            return self.instance_of(info.cls).but(ident=0, deps=bits)
        if parameter.index == 0 and info.cls is not None and info.method == "class":
            return Value(Kind.CLASS, cls=info.cls, qual=info.cls.qualname, ident=0)
        if parameter.star == "*":
            return Value(Kind.CONTAINER, elem=_joined(parameter) or UNKNOWN, deps=bits)
        if parameter.star == "**":
            return Value(Kind.CONTAINER, elem=_joined(parameter) or UNKNOWN, qual="dict", deps=bits)
        value = parameter.declared
        passed = _joined(parameter)
        if passed is not None:
            if value is None or value.kind in (Kind.UNKNOWN, Kind.NONE):
                value = passed if value is None or not value.optional else passed.but(optional=True)
            elif value.kind is Kind.TENSOR and passed.kind is Kind.NUMBER and passed.conf is Confidence.SURE:
                value = passed  # `length: int | torch.Tensor`, where all callers pass a size
            elif value.kind is Kind.CONTAINER and passed.kind is Kind.PARAMETERS:
                value = passed  # `params: Iterable[torch.Tensor]`, where all callers pass a model's
            elif not _outweighs(value, passed) and (
                value.kind is passed.kind or passed.kind in (Kind.TENSOR, Kind.BATCH, Kind.NDARRAY, Kind.DEVICE)
            ):
                declared = value
                value = (
                    join(passed, value) if value.kind is passed.kind and value.device not in (0, ANYWHERE) else passed
                )
                if value.kind is Kind.BATCH and declared.kind is Kind.TENSOR and not value.items:
                    value = value.but(kind=Kind.TENSOR)  # of what may be any structure it is the one that is asked for
                if value.kind is Kind.TENSOR and declared.kind is Kind.TENSOR and value.conf < declared.conf:
                    value = value.but(conf=declared.conf)  # callers know less of it than the annotation says
        if info.role is Role.HOOK and (value is None or value.kind is Kind.UNKNOWN):
            own = info.parameters[info.method == "instance" :]
            left = [each for each in own if not each.passed] or own  # by `partial` it has the others beforehand
            is_first = parameter is left[0]
            if info.hook != "tensor" and len(left) > 1 and is_first:  # a module's hook is given the module first
                return Value(Kind.MODULE, Confidence.LIKELY, device=ANYWHERE, graph=MAYBE, deps=bits)
            if parameter in left and (info.hook != "tensor" or is_first):
                kind = Kind.TENSOR if info.hook == "tensor" else Kind.BATCH
                graph = ATTACHED if info.hook == "forward" else DETACHED
                value = Value(kind, Confidence.LIKELY, device=ANYWHERE, graph=graph)
            value = value or UNKNOWN
        elif value is None or value.kind is Kind.UNKNOWN:
            if "cpu" in parameter.name.split("_"):  # its name is no proof, but nothing else tells of a device
                return UNKNOWN.but(ident=parameter.index)
            value = self.refine(value or UNKNOWN, info.duck.get(parameter.name))
            if value.kind is Kind.UNKNOWN and info.role in (Role.FORWARD, Role.AUTOGRAD):
                value = value.but(
                    kind=Kind.TENSOR,
                    conf=Confidence.POSSIBLE,
                    device=value.device or ANYWHERE,
                    graph=value.graph or MAYBE,
                )
            elif value.kind is Kind.TENSOR and info.role in (Role.FORWARD, Role.AUTOGRAD):
                value = value.but(conf=max(value.conf, Confidence.LIKELY))
            elif value.kind is Kind.UNKNOWN and info.role is Role.STEP:
                value = _given_by_framework(parameter)
        elif value.kind is Kind.TENSOR and value.conf is Confidence.POSSIBLE:  # as callers guess: its uses may tell
            uses = info.duck.get(parameter.name, set())
            told = self.refine(value, uses)
            value = told if told.kind is Kind.TENSOR else value
            if uses & known.REDUCTIONS and not self.model.uses_numpy:
                value = value.but(conf=Confidence.LIKELY)
        value = value.but(deps=bits, ident=parameter.index)
        return self.rooted(value, parameter.name)


def _given_by_framework(parameter: Parameter) -> Value:
    """What a framework passes to a method that it calls on every step, by the names that its interface fixes."""
    if parameter.name in known.STEP_NUMBERS:
        return NUMBER
    if parameter.name in known.STEP_OWNERS:
        return UNKNOWN
    return Value(Kind.BATCH, Confidence.LIKELY, device=ANYWHERE, graph=MAYBE)


def _joined(parameter: Parameter) -> Value | None:
    """What all known callers together pass; None where there is none."""
    joined: Value | None = None
    for value in parameter.passed.values():
        joined = join_optional(joined, value)
    return joined


def _is_setter(node: cst.FunctionDef) -> bool:
    """Whether it is what runs where a property is assigned or deleted: reading the property runs another function."""
    return any(
        type(d.decorator) is cst.Attribute and d.decorator.attr.value in ("setter", "deleter") for d in node.decorators
    )


def _is_abstract(body: cst.BaseSuite) -> bool:
    """Whether a body does nothing but fail, after a docstring perhaps; not where some way returns before."""
    plain = all(type(row) is cst.SimpleStatementLine for row in body.body[:-1])
    last = body.body[-1] if plain and 0 < len(body.body) <= 2 else None
    while type(last) is cst.SimpleStatementLine:
        last = last.body[-1]
    return type(last) is cst.Raise


def _outweighs(declared: Value, passed: Value) -> bool:
    """Whether an annotation outweighs what callers seem to pass.

    Annotations of truth values, text and modules of the program do, and those of containers, where a tensor is a guess.
    """
    if declared.kind is Kind.CONTAINER:
        return passed.kind is Kind.TENSOR and passed.conf is not Confidence.SURE  # a batch may be a tuple
    flag = declared.kind is Kind.NUMBER and declared.dtype == "bool"
    if declared.kind is Kind.MODULE:
        return declared.cls is not None or passed.kind is not Kind.MODULE
    return flag or declared.kind in (Kind.STRING, Kind.SHAPE)

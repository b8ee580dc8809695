"""What a definition means: its role, its decorators, and whether it is compiled."""

from __future__ import annotations

import libcst as cst

from torchlint.knowledge import names as known
from torchlint.semantics.functions import ClassInfo, FunctionInfo, Role
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import below, within
from torchlint.semantics.reading.own_calls import OwnCallReader
from torchlint.semantics.values import (
    Kind,
    Value,
)


def _asserts(info: FunctionInfo) -> bool:
    """Whether a function's own body asserts something."""
    return any(
        type(node) is cst.Assert
        or (type(node) is cst.Call and (dotted(node.func) or "").rsplit(".", 1)[-1].startswith("assert"))
        for node in within(info.body_nodes)
    )


def _turns_grad_off(factory: FunctionInfo) -> bool:
    """Whether a factory of decorators wraps what it is given in `torch.no_grad()` or its kin."""
    for node in below(factory.node):
        if type(node) is cst.Return and type(node.value) is cst.Call and type(node.value.func) is cst.Call:
            made = node.value.func.func
            names = [made.body, made.orelse] if type(made) is cst.IfExp else [made]
            if all((dotted(name) or "").endswith(("no_grad", "inference_mode")) for name in names):
                return True
    return False


def _compiles(factory: FunctionInfo) -> bool:
    """Whether a factory of decorators hands what it is given on to `torch.compile(*args, **kwargs)`, on some way."""
    gathered = {parameter.name for parameter in factory.parameters if parameter.star == "*"}
    return any(
        type(node) is cst.Return
        and type(node.value) is cst.Call
        and (dotted(node.value.func) or "").rpartition(".")[2] == "compile"
        and any(argument.star == "*" and dotted(argument.value) in gathered for argument in node.value.args)
        for node in (below(factory.node) if gathered else ())
    )


class DecoratorReader(OwnCallReader):
    """Classifies functions and classes."""

    def classify(self, info: FunctionInfo) -> None:
        """What a function is for."""
        cls = info.cls
        name = info.name
        words = {value.qual for _, value in info.decorators if value.qual}
        if cls is not None:
            info.method = "instance"
            if "staticmethod" in words:
                info.method = "static"
            elif "classmethod" in words or name in ("__new__", "__init_subclass__", "__class_getitem__"):
                info.method = "class"
            elif words & {"property", "functools.cached_property"} or any(
                type(node) is cst.Attribute and node.attr.value in ("setter", "getter") for node, _ in info.decorators
            ):
                info.method = "property"
        role = self.role_of(info, cls, name)
        if info.keeps_result:
            role = Role.SETUP  # runs once, then its result is kept
        if info.role is not Role.WORKER and info.role is not Role.HOOK:
            info.role = role
        own = {base.qualname for base in cls.lineage()} if cls is not None else set()
        for base in cls.base_names if cls is not None else ():
            last = base.rsplit(".", 1)[-1]
            if base in own:
                continue  # what calls it is read as well
            if any(last.endswith(suffix) and name in methods for suffix, methods in known.NO_GRAD_METHODS.items()):
                info.no_grad = True
        if role is Role.STEP and name in known.NO_GRAD_METHODS["LightningModule"] and _has_unread_base(cls):
            info.no_grad = True

    def role_of(self, info: FunctionInfo, cls: ClassInfo | None, name: str) -> Role:
        if self.model.is_test_file or (
            name.startswith("test_")
            and (
                self.model.uses_tests
                or (
                    all(p.name in known.TEST_FIXTURES for p in info.parameters)
                    and (_asserts(info) or not self._run_by_program(name))
                )
                or (cls is not None and any(base.endswith("TestCase") for base in (cls.name, *cls.base_names)))
            )
        ):
            return Role.TEST
        if cls is None:
            return Role.PLAIN
        if cls.name.startswith("Test") and self.model.uses_tests:
            return Role.TEST
        if cls.is_a(known.AUTOGRAD_FUNCTION) and name in ("forward", "backward", "setup_context"):
            return Role.SETUP if _is_for_export(cls) else Role.AUTOGRAD
        if name in known.SETUP_METHODS or name.removeprefix("_") in known.SETUP_METHODS:
            return Role.SETUP
        if self.is_dataset(cls) and name in ("__getitem__", "__iter__", "__next__", "__getitems__"):
            return Role.WORKER
        if self.is_module(cls) and name == "forward":
            return Role.FORWARD
        if name == "step" and self.new_instance(cls).kind is Kind.OPTIMIZER:
            return Role.OPTIMIZER_STEP
        if info.method == "property":
            return Role.PLAIN  # `optimizer.training_step`, which says how many there were
        for base in cls.base_names:
            last = base.rsplit(".", 1)[-1]
            for suffix, methods in known.STEP_METHODS.items():
                if last.endswith(suffix) and name in methods:
                    return Role.STEP
        if name in ("training_step", "validation_step", "test_step") and _has_unread_base(cls):
            return Role.STEP
        return Role.PLAIN

    def _run_by_program(self, name: str) -> bool:
        """Whether the file itself calls the function when it is run, as it does a `test_speed` that prints figures."""
        return any(
            type(node) is cst.Call and type(node.func) is cst.Name and node.func.value == name
            for node in within(list(self.model.module.body))
        )

    def decorated(self, function: Value, info: FunctionInfo, node: cst.BaseExpression, decorator: Value) -> Value:
        """The function that a decorator gives, after noting what it means for the body."""
        call = node if type(node) is cst.Call else None
        qual = decorator.qual or ""
        if call is not None:
            called = self.eval_quietly(call.func)
            qual = called.qual or ""
            if len(call.args) == 1 and self.eval_quietly(call.args[0].value).qual in known.STEP_EVENTS:
                info.role = Role.STEP
            if called.fn is not None:
                info.no_grad = info.no_grad or _turns_grad_off(called.fn)
                if _compiles(called.fn):
                    info.compiled = True
                    info.fullgraph = self.wants_fullgraph(call)
                if decorator.fn is not None and decorator.fn.parameters:
                    self.pass_value(decorator.fn.parameters[0], node, function, {})
                return function  # a factory of decorators: what else it does is not known
            wraps = called.cls.find_method("__call__") if called.cls is not None and called.kind is Kind.CLASS else None
            if wraps is not None and len(wraps.parameters) > 1:
                self.pass_value(wraps.parameters[1], node, function, {})
                return function  # the same, by an object
        elif decorator.fn is not None and decorator.fn.parameters:
            # A decorator of this file: its wrapper calls this very function.
            self.pass_value(decorator.fn.parameters[0], node, function, {})
            return function
        if qual in ("torch.no_grad", "torch.inference_mode"):
            info.no_grad = not (call is not None and call.args and self.eval_quietly(call.args[0].value).const is False)
        elif qual == "torch.set_grad_enabled" and call is not None and call.args:
            info.no_grad = self.eval_quietly(call.args[0].value).const is False
        elif qual in ("torch.compile", "torch._dynamo.optimize"):
            info.compiled = True
            info.fullgraph = self.wants_fullgraph(call)
        elif qual == "functools.partial" and call is not None and call.args:
            inner = self.eval_quietly(call.args[0].value)
            if inner.qual == "torch.compile":
                info.compiled = True
                info.fullgraph = self.wants_fullgraph(call)
        elif qual in ("torch.compiler.disable", "torch._dynamo.disable", "torch._dynamo.decorators.disable"):
            info.uncompiled = True
        elif qual in known.KERNEL_COMPILERS:
            info.role = Role.SETUP  # what it says is compiled once: no line of it runs on the host again
        elif qual in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
            info.is_context_manager = True
        elif type(node if call is None else call.func) is cst.Attribute:
            self._add_choice(function, node if call is None else call.func)
        return function

    def _add_choice(self, function: Value, node: cst.BaseExpression) -> None:
        """`@convert.register`: of a function that goes by the type of its argument, one more that a call may run.

        The general one runs where there is none for the type.
        """
        name = dotted(node.value) if type(node) is cst.Attribute and node.attr.value == "register" else None
        general = self.lookup(name) if name is not None else None
        if name is None or general is None or general.fn is None:
            return
        if any(decorator.qual == "functools.singledispatch" for _, decorator in general.fn.decorators):
            self.frame.env[name] = general.but(choices=(*general.choices, function))

    def wants_fullgraph(self, call: cst.Call | None) -> bool:
        if call is None:
            return False
        for argument in call.args:
            if argument.keyword is not None and argument.keyword.value == "fullgraph":
                return self.eval_quietly(argument.value).const is True
        return False

    def decorated_class(self, value: Value, info: ClassInfo, node: cst.BaseExpression, decorator: Value) -> Value:
        call = node if type(node) is cst.Call else None
        qual = self.eval_quietly(call.func).qual if call is not None else decorator.qual
        if qual == "torch.compile":
            self.compile_class(info, self.wants_fullgraph(call))
        own = decorator.fn.parameters[decorator.bound is not None :] if decorator.fn is not None else []
        if own:
            self.pass_value(own[0], node, value, {})  # a register of the program's classes
        return value

    def compile_class(self, cls: ClassInfo, fullgraph: bool) -> None:
        """An instance of the class is compiled: so are the modules it holds."""
        if cls.compiled and (cls.fullgraph or not fullgraph):
            return
        cls.compiled = True
        cls.fullgraph = cls.fullgraph or fullgraph
        for stores in list(cls.stores.values()):
            for held in list(stores.values()):
                self.compile_value(held, fullgraph)

    def compile_value(self, value: Value | None, fullgraph: bool) -> None:
        if value is None:
            return
        if value.fn is not None:
            value.fn.compiled = True
            value.fn.fullgraph = value.fn.fullgraph or fullgraph
        elif value.kind is Kind.MODULE:
            for cls in value.classes or ((value.cls,) if value.cls is not None else ()):
                self.compile_class(cls, fullgraph)
        if value.kind in (Kind.MODULE, Kind.CONTAINER):
            if value.elem is not None:
                self.compile_value(value.elem, fullgraph)
            for item in (value.items or {}).values():
                if item is not value.elem:
                    self.compile_value(item, fullgraph)


def _has_unread_base(cls: ClassInfo | None) -> bool:
    """Whether a class descends from one that is not read, which may be Lightning's."""
    return cls is not None and any(base.cls is None and base.qual != "object" for base in cls.bases)


def _is_for_export(cls: ClassInfo) -> bool:
    """Whether an autograd Function stands for an operator of ONNX: it says how it is written, and has no backward."""
    methods = {part.name.value for part in cls.node.body.body if isinstance(part, cst.FunctionDef)}
    return "symbolic" in methods and "backward" not in methods

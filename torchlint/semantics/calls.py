"""What a call gives and does: torch's functions and methods, builtins, the file's own functions, and the unknown."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.semantics import sites
from torchlint.semantics.expressions import PARAMETER, ExpressionReader
from torchlint.semantics.functions import ClassInfo, EffectKind, FunctionInfo, Role
from torchlint.semantics.names import device_bits, dotted, factors, identifier, terms
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    MISSING,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Kind,
    Value,
    join,
)

if TYPE_CHECKING:
    from torchlint.semantics.model import Model

Arguments = list[sites.Argument]

# Methods of a tensor that keep its number of dimensions.
_SAME_RANK = frozenset(
    """abs abs_ add add_ clamp clamp_ clamp_min clamp_max clone contiguous cpu cuda detach detach_ div div_ exp float half
    double long int bfloat16 bool log mul mul_ neg pow relu round sigmoid sqrt rsqrt square sub sub_ tanh to type type_as
    zero_ fill_ requires_grad_ pin_memory isnan isinf isfinite""".split()
)
_MODULE_MOVES = frozenset("to cuda cpu half float double bfloat16 to_empty xpu npu".split())
_RETURNS_SELF = frozenset("train eval requires_grad_ apply compile_ share_memory zero_grad_".split())
_CONTAINER_ADDS: dict[str, int] = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "push": 0, "put": 0}


class CallReader(ExpressionReader):
    """Evaluates calls."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.instances: dict[ClassInfo, Value] = {}

    def called(self, info: FunctionInfo, node: cst.CSTNode, part: str = "") -> None:
        raise NotImplementedError

    def define_lambda(self, node: cst.Lambda) -> FunctionInfo:
        raise NotImplementedError

    # Calls

    def call(self, node: cst.Call) -> Value:
        function_node = node.func
        method: str | None = None
        receiver: Value | None = None
        receiver_node: cst.BaseExpression | None = None
        if isinstance(function_node, cst.Attribute):
            method = identifier(function_node.attr.value)
            receiver_node = function_node.value
            function = self.eval(function_node)
            receiver = self.model.values.get(receiver_node) if self.recording else None
            if receiver is None:
                receiver = function.bound if function.bound is not None else self.eval_quietly(receiver_node)
        else:
            function = self.eval(function_node)
        arguments: Arguments = []
        for argument in node.args:
            value = self.eval(argument.value)
            keyword = identifier(argument.keyword.value) if argument.keyword is not None else None
            arguments.append(sites.Argument(keyword, argument.star, argument.value, value))
        site = sites.Call(
            node, self.callee_name(function, receiver, method), method, receiver, receiver_node, function, arguments, UNKNOWN,
            self.context, self.statement,
        )  # fmt: skip
        result = self.apply(site)
        site.result = result
        if self.recording:
            self.sites.calls.append(site)
        if function.kind is not Kind.NAMESPACE and method is not None and receiver_node is not None:
            self.in_place(site)
        if function.fn is None and isinstance(self.statement, cst.Expr) and self.statement.value is node:
            self.given_away(site)
        return result

    def callee_name(self, function: Value, receiver: Value | None, method: str | None) -> str | None:
        if function.fn is not None or (function.cls is not None and function.kind is Kind.CLASS):
            return function.qual
        if receiver is not None and method is not None:
            if receiver.kind is Kind.TENSOR or receiver.kind is Kind.BATCH:
                return f"torch.Tensor.{method}"
            if receiver.kind is Kind.MODULE and receiver.cls is None and function.kind is not Kind.MODULE:
                return f"torch.nn.Module.{method}"
            if receiver.kind is Kind.OPTIMIZER:
                return f"torch.optim.Optimizer.{method}"
            if receiver.kind is Kind.SCALER:
                return f"torch.amp.GradScaler.{method}"
            if receiver.kind is Kind.EVENT:
                return f"torch.cuda.Event.{method}"
            if receiver.kind is Kind.STREAM:
                return f"torch.cuda.Stream.{method}"
            if receiver.kind is Kind.NDARRAY:
                return f"numpy.ndarray.{method}"
            if receiver.kind is Kind.STRING:
                return f"str.{method}"
            if receiver.kind is Kind.CONTAINER:
                return f"{receiver.qual if receiver.qual in ('list', 'dict', 'set', 'tuple') else 'list'}.{method}"
            if receiver.kind is Kind.OBJECT and receiver.qual:
                return f"{receiver.qual}.{method}"
        if function.kind is Kind.MODULE:
            return function.qual
        return function.qual if function.kind in (Kind.FUNCTION, Kind.CLASS, Kind.NAMESPACE) else None

    def apply(self, site: sites.Call) -> Value:
        """What the call gives, after noting what it does."""
        function = site.function
        if site.method in known.HOOK_REGISTRARS:
            self.register_hook(site, known.HOOK_REGISTRARS[site.method])
            return Value(Kind.OBJECT)
        if function.fn is not None:
            return self.call_own(function.fn, function.bound, site)
        if function.cls is not None:
            if function.kind is Kind.CLASS:
                return self.construct(function.cls, site)
            called = function.cls.find_method("forward" if function.kind is Kind.MODULE else "__call__")
            if called is None and function.kind is Kind.MODULE:
                return self.call_module(function, site)
            if called is not None:
                if function.kind is Kind.MODULE:
                    self.effect(EffectKind.FORWARD, site.node, function)
                    self.effect(EffectKind.LAUNCH, site.node, function)
                    self.follow_module(function, site)
                result = self.call_own(called, function, site)
                if function.kind is Kind.MODULE and result.kind in (Kind.UNKNOWN, Kind.TENSOR, Kind.BATCH):
                    return self.module_output(function, site, result)
                return result
        receiver, method = site.receiver, site.method
        if receiver is not None and method is not None and function.kind not in (Kind.MODULE, Kind.NAMESPACE):
            given = self.call_method(receiver, method, site)
            if given is not None:
                return given
        if function.kind is Kind.MODULE:
            return self.call_module(function, site)
        if function.qual is not None and function.kind in (Kind.FUNCTION, Kind.CLASS, Kind.NAMESPACE):
            return self.call_external(function.qual, site)
        return self.call_unknown(site)

    def register_hook(self, site: sites.Call, kind: str) -> None:
        """A function becomes a hook: it runs on every step, with what passes the module."""
        for argument in site.arguments:
            if argument.value.fn is not None:
                argument.value.fn.role = Role.HOOK
                argument.value.fn.hook = kind

    # The file's own functions and classes

    def follow_module(self, function: Value, site: sites.Call) -> None:
        """A batch given to a module that was moved to a device has been moved as well, or the call would fail."""
        if function.device & DEVICE:
            for argument in site.arguments:
                if argument.value.kind is Kind.BATCH and argument.value.on_host:
                    argument.value = argument.value.but(device=DEVICE | ANYWHERE, pinned=None)

    def call_own(self, info: FunctionInfo, bound: Value | None, site: sites.Call) -> Value:
        """A function of this file: pass the arguments on, and take its summary."""
        site.target = info
        values = self.bind_arguments(info, bound, site)
        self.called(info, site.node, "created" if info.is_context_manager else "")
        if info.is_context_manager:
            return Value(Kind.OBJECT, qual="context manager", fn=info)
        returns = info.returns
        if returns is None:
            return UNKNOWN
        return self.instantiate(info, returns, values)

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
                    parameter = next((p for p in parameters if p.star == "*"), None)
            if parameter is not None:
                self.pass_value(parameter, site.node, argument.value, values)
        return values

    def pass_value(self, parameter: Any, node: cst.CSTNode, value: Value, values: dict[int, Value]) -> None:
        values[parameter.index] = value
        passed = value
        if value.deps or value.ident is not None:
            passed = value.but(deps=0, ident=None)
        if parameter not in self.frame.info.parameters:  # a recursive call tells nothing new
            parameter.passed[node] = passed

    def instantiate(self, info: FunctionInfo, returns: Value, values: dict[int, Value]) -> Value:
        """A function's result for these arguments: it takes device and graph from the parameters it came from."""
        if returns.ident is not None and returns.ident in values:
            given = values[returns.ident]
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
                if index < 60 and returns.deps & (1 << index):
                    known_device, known_graph = info.entry.get(index, (ANYWHERE, MAYBE))
                    own_device |= known_device
                    own_graph |= known_graph
                    told_device |= value.device
                    told_graph |= value.graph
                    deps |= value.deps
            # What the summary says beyond what it took from those parameters is its own; the rest is this call's.
            if told_device:
                device = DEVICE if told_device == DEVICE else (device & ~own_device & ~ANYWHERE) | told_device
            if told_graph:
                graph = (graph & ~own_graph & ~MAYBE) | told_graph
        if graph & (MAYBE | ATTACHED) and self.grad_is_off():
            graph = DETACHED
        return returns.but(device=device, graph=graph, deps=deps, ident=None)

    def call_property(self, method: FunctionInfo, owner: Value, node: cst.CSTNode) -> Value:
        self.called(method, node)
        returns = method.returns
        return UNKNOWN if returns is None else self.instantiate(method, returns, {0: owner})

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
                    cls.store(name, argument.node, argument.value.but(ident=None, deps=0))
        if self.recording:
            cls.instances.append(site.node)
        if instance.kind is Kind.MODULE:
            members = tuple(a.value for a in site.arguments if a.value.kind in (Kind.MODULE, Kind.CONTAINER))
            if members:
                for member in members:
                    part = member if member.kind is Kind.MODULE else member.elem
                    if part is not None and part.cls is not None and cls.find_attribute("*members") is None:
                        cls.store("*members", site.node, part)
        return instance.but(origins=(site.node,))

    def instance_of(self, cls: ClassInfo) -> Value:
        value = self.instances.get(cls)
        if value is None or value.kind is Kind.OBJECT:
            value = self._new_instance(cls)
            self.instances[cls] = value
        return value

    def _new_instance(self, cls: ClassInfo) -> Value:
        if self.is_module(cls):
            return Value(Kind.MODULE, cls=cls, qual=cls.qualname, device=ANYWHERE, graph=MAYBE)
        if cls.is_a(*known.OPTIMIZER_BASES) or any(
            name.startswith("torch.optim.") and "lr_scheduler" not in name for name in cls.base_names
        ):
            return Value(Kind.OPTIMIZER, cls=cls, qual=cls.qualname)
        if self.is_dataset(cls):
            return Value(Kind.DATASET, cls=cls, qual=cls.qualname)
        if cls.is_a(*known.LOADERS):
            return Value(Kind.LOADER, cls=cls, qual=cls.qualname, device=HOST)
        if cls.is_a("torch.Tensor"):
            return Value(Kind.TENSOR, cls=cls, device=ANYWHERE, graph=MAYBE)
        return Value(Kind.OBJECT, cls=cls, qual=cls.qualname)

    def is_module(self, cls: ClassInfo) -> bool:
        """Whether the class is an nn.Module: by a base that is known, or by an unknown base and a `forward`."""
        for name in cls.base_names:
            if (
                name in known.MODULE_BASES
                or name.startswith("torch.nn.")
                or name.rsplit(".", 1)[-1] in ("LightningModule", "PreTrainedModel", "Module")
            ):
                return True
            if name.endswith(("Module", "Model")) and "." in name and not name.startswith(("torch.", "django.")):
                return True
        if "forward" in cls.methods and not cls.is_a(known.AUTOGRAD_FUNCTION):
            return any(base.cls is None and base.kind is not Kind.NAMESPACE for base in cls.bases) and not cls.is_a(
                "object"
            )
        return False

    def is_dataset(self, cls: ClassInfo) -> bool:
        return any(name in known.DATASETS or name.rsplit(".", 1)[-1].endswith("Dataset") for name in cls.base_names)

    def ancestors(self, bases: list[Value]) -> tuple[str, ...]:
        """Qualified names of all known ancestors."""
        found: list[str] = []
        for base in bases:
            if base.qual:
                found.append(base.qual)
            if base.cls is not None:
                found.extend(base.cls.base_names)
        return tuple(dict.fromkeys(found))

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
                isinstance(node, cst.Attribute) and node.attr.value in ("setter", "getter")
                for node, _ in info.decorators
            ):
                info.method = "property"
        role = self.role_of(info, cls, name)
        if words & {"functools.cache", "functools.lru_cache", "functools.cached_property"}:
            role = Role.SETUP  # runs once, then its result is kept
        if info.role is not Role.WORKER and info.role is not Role.HOOK:
            info.role = role
        for base in cls.base_names if cls is not None else ():
            last = base.rsplit(".", 1)[-1]
            if any(last.endswith(suffix) and name in methods for suffix, methods in known.NO_GRAD_METHODS.items()):
                info.no_grad = True

    def role_of(self, info: FunctionInfo, cls: ClassInfo | None, name: str) -> Role:
        if self.model.is_test_file or (
            name.startswith("test_")
            and (self.model.uses_tests or all(p.name in known.TEST_FIXTURES for p in info.parameters))
        ):
            return Role.TEST
        if cls is None:
            return Role.PLAIN
        if cls.name.startswith("Test") and self.model.uses_tests:
            return Role.TEST
        if cls.is_a(known.AUTOGRAD_FUNCTION) and name in ("forward", "backward", "setup_context"):
            return Role.AUTOGRAD
        if name in known.SETUP_METHODS:
            return Role.SETUP
        if self.is_dataset(cls) and name in ("__getitem__", "__iter__", "__next__", "__getitems__"):
            return Role.WORKER
        if self.is_module(cls) and name == "forward":
            return Role.FORWARD
        if name == "step" and self._new_instance(cls).kind is Kind.OPTIMIZER:
            return Role.OPTIMIZER_STEP
        for base in cls.base_names:
            last = base.rsplit(".", 1)[-1]
            for suffix, methods in known.STEP_METHODS.items():
                if last.endswith(suffix) and name in methods:
                    return Role.STEP
        if name in ("training_step", "validation_step", "test_step") and any(base.cls is None for base in cls.bases):
            return Role.STEP
        return Role.PLAIN

    def decorated(self, function: Value, info: FunctionInfo, node: cst.BaseExpression, decorator: Value) -> Value:
        """The function that a decorator gives, after noting what it means for the body."""
        call = node if isinstance(node, cst.Call) else None
        qual = decorator.qual or ""
        if call is not None:
            called = self.eval_quietly(call.func)
            qual = called.qual or ""
            if called.fn is not None:
                return function  # a factory of decorators: what it gives is not known
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
        elif qual in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
            info.is_context_manager = True
        return function

    def wants_fullgraph(self, call: cst.Call | None) -> bool:
        if call is None:
            return False
        for argument in call.args:
            if argument.keyword is not None and argument.keyword.value == "fullgraph":
                return self.eval_quietly(argument.value).const is True
        return False

    def decorated_class(self, value: Value, info: ClassInfo, node: cst.BaseExpression, decorator: Value) -> Value:
        call = node if isinstance(node, cst.Call) else None
        qual = self.eval_quietly(call.func).qual if call is not None else decorator.qual
        if qual == "torch.compile":
            self.compile_class(info, self.wants_fullgraph(call))
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
        elif value.cls is not None and value.kind is Kind.MODULE:
            self.compile_class(value.cls, fullgraph)
        if value.kind in (Kind.MODULE, Kind.CONTAINER):
            if value.elem is not None:
                self.compile_value(value.elem, fullgraph)
            for item in (value.items or {}).values():
                if item is not value.elem:
                    self.compile_value(item, fullgraph)

    def lambda_function(self, node: cst.Lambda) -> Value:
        info = self.define_lambda(node)
        return Value(Kind.FUNCTION, fn=info, qual=info.qualname)

    # Modules and unknown callables

    def call_module(self, function: Value, site: sites.Call) -> Value:
        """A module whose forward is not in this file."""
        self.effect(EffectKind.FORWARD, site.node, function)
        self.effect(EffectKind.LAUNCH, site.node, function)
        self._note_layers(site)
        known_module = (
            function.qual is not None and function.qual.startswith("torch.nn.") and function.qual.count(".") == 2
        )
        operands = [argument.value for argument in site.arguments]
        if known_module:
            last = (function.qual or "").rsplit(".", 1)[-1]
            loss = last.endswith("Loss")
            result = self.tensor(site.node, operands, Confidence.SURE if _sure(operands) else Confidence.LIKELY)
            if not loss and last not in _PARAMETERLESS and not self.grad_is_off():
                result.graph = ATTACHED
            if function.device == DEVICE or (function.device & DEVICE and result.device & ANYWHERE):
                result.device = DEVICE
            if loss:
                result.rank = 0
            if last in ("LSTM", "GRU", "RNN", "MultiheadAttention"):
                result.kind = Kind.BATCH
            return result
        return self.module_output(function, site, None)

    def module_output(self, function: Value, site: sites.Call, result: Value | None) -> Value:
        """What a module gives: tensors, in some structure, where it and its inputs live, with its graph."""
        self._note_layers(site)
        operands = [argument.value for argument in site.arguments]
        base = self.tensor(site.node, operands or [function], Confidence.LIKELY)
        device = base.device
        if function.device == DEVICE:
            device = DEVICE
        elif function.device & DEVICE and device & (ANYWHERE | HOST):
            device = DEVICE | (device & ANYWHERE)
        elif function.device & ANYWHERE and device == HOST:
            device = HOST | ANYWHERE
        if self.grad_is_off() or function.graph == DETACHED:
            graph = DETACHED
        else:
            graph = ATTACHED if function.conf is Confidence.SURE or function.graph != MAYBE else base.graph | MAYBE
            if function.kind is Kind.MODULE:
                graph = ATTACHED
        if result is not None:
            if result.kind is Kind.UNKNOWN:
                return Value(Kind.BATCH, Confidence.LIKELY, device=device, graph=graph, origins=(site.node,))
            if result.device & ANYWHERE and function.device & DEVICE:
                result = result.but(device=device)
            if result.graph & MAYBE and graph == ATTACHED:
                result = result.but(graph=ATTACHED)
            return result
        return Value(
            Kind.BATCH,
            Confidence.LIKELY,
            device=device,
            graph=graph,
            origins=(site.node,),
            deps=base.deps | function.deps,
        )

    def _note_layers(self, site: sites.Call) -> None:
        """A loop that calls the very modules it iterates is a loop over layers."""
        if not self.recording:
            return
        name = dotted(site.node.func)
        if name is None:
            return
        for context in self.context.enclosing_loops():
            target = self._loop_target(context.node)
            if target is not None and name.split(".", 1)[0] in target:
                assert context.loop is not None
                context.loop.calls_layers = True
                return

    def _loop_target(self, node: cst.CSTNode | None) -> set[str] | None:
        if isinstance(node, cst.For):
            target = node.target
        elif isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)):
            target = node.for_in.target
        else:
            return None
        names: set[str] = set()
        todo: list[cst.BaseExpression] = [target]
        while todo:
            expression = todo.pop()
            if isinstance(expression, cst.Name):
                names.add(identifier(expression.value))
            elif isinstance(expression, (cst.Tuple, cst.List)):
                todo += [element.value for element in expression.elements]
        return names

    def call_unknown(self, site: sites.Call) -> Value:
        """Something that nothing is known of; with tensors going in, or moved to a device, it acts as a module does."""
        function = site.function
        tensors = [a.value for a in site.arguments if a.value.is_tensor]
        unique = self.unique_method(site)
        if unique is not None:
            return self.call_own(unique, self.instance_of(unique.cls) if unique.cls is not None else None, site)
        holder = function.bound if function.bound is not None else site.receiver
        if site.method is None or (holder is not None and (holder.cls is not None or holder.kind is Kind.MODULE)):
            # A parameter, an attribute or the result of an expression is called.
            given = function.deps or holder is not None
            if (
                function.device & DEVICE
                and site.arguments
                or any(v.conf >= Confidence.LIKELY for v in tensors)
                or any(a.value.kind is Kind.UNKNOWN and a.value.device == DEVICE for a in site.arguments)
                or (given and site.arguments and self.grad_is_off())
            ):
                return self.call_module(function.but(kind=Kind.UNKNOWN), site)
        if tensors:
            self.effect(EffectKind.LAUNCH, site.node, function)
            base = self.tensor(site.node, [a.value for a in site.arguments])
            conf = Confidence.POSSIBLE
            if site.receiver is not None and site.receiver.kind is Kind.MODULE:
                conf = Confidence.LIKELY
                if not self.grad_is_off():
                    base.graph = ATTACHED
            return Value(
                Kind.BATCH, conf, device=(base.device | (site.receiver.device if site.receiver else 0)) or ANYWHERE,
                graph=base.graph | MAYBE if base.graph != DETACHED or not self.grad_is_off() else DETACHED, origins=(site.node,), deps=base.deps,
            )  # fmt: skip
        device = function.device or ANYWHERE
        if site.receiver is not None and site.receiver.device and site.receiver.kind is Kind.UNKNOWN:
            device = site.receiver.device
        return Value(Kind.UNKNOWN, device=device, graph=MAYBE, origins=(site.node,), deps=function.deps)

    def unique_method(self, site: sites.Call) -> FunctionInfo | None:
        """The one method of that name in the file, for a receiver of unknown kind."""
        receiver, method = site.receiver, site.method
        if receiver is None or method is None or receiver.kind is not Kind.UNKNOWN or receiver.qual:
            return None
        owners = [cls for cls in self.model.classes.values() if method in cls.methods]
        if len(owners) != 1 or method.startswith("__"):
            return None
        info = owners[0].methods[method]
        if info.method != "instance" or info.cls is None or info.role not in (Role.PLAIN, Role.STEP):
            return None
        given = sum(1 for argument in site.arguments if not argument.star)
        wanted = [p for p in info.parameters[1:] if not p.star]
        if given > len(wanted) or any(
            a.name is not None and all(a.name != p.name for p in wanted) for a in site.arguments
        ):
            return None
        required = sum(1 for p in wanted if p.default is None)
        if given < required and not site.opaque_arguments:
            return None
        if method in _COMMON_METHODS and given < 2:
            return None
        return info

    # Methods of values that are known

    def call_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        kind = receiver.kind
        if kind is Kind.TENSOR or kind is Kind.BATCH:
            return self.tensor_method(receiver, method, site)
        if kind is Kind.MODULE:
            return self.module_method(receiver, method, site)
        if kind is Kind.CONTAINER or kind is Kind.PARAMETERS:
            return self.container_method(receiver, method, site)
        if kind is Kind.STRING:
            if method in ("format", "format_map"):
                for argument in site.arguments:
                    self.formatted(site.node, argument.node, argument.value, "format")
            if method in ("split", "rsplit", "splitlines"):
                return Value(Kind.CONTAINER, elem=STRING, qual="list")
            return NUMBER if method in ("startswith", "endswith", "find", "count", "isdigit") else STRING
        if kind is Kind.NDARRAY:
            if method in ("item",):
                return NUMBER
            if method == "tolist":
                return Value(Kind.CONTAINER, qual="list", elem=NUMBER)
            return Value(Kind.NDARRAY, device=HOST, origins=(site.node,), dtype=receiver.dtype)
        if kind is Kind.SHAPE:
            return (
                NUMBER.but(qual="tensor size")
                if method in ("numel", "count", "index")
                else Value(Kind.CONTAINER, qual="list", elem=NUMBER.but(qual="tensor size"))
            )
        if kind is Kind.OPTIMIZER and receiver.cls is None:
            return self.optimizer_method(method, site)
        if kind is Kind.OPTIMIZER and method in ("step", "zero_grad"):
            return self.optimizer_method(method, site)
        if kind is Kind.SCALER:
            return self.scaler_method(method, site)
        if kind is Kind.EVENT:
            if method in ("synchronize", "query"):
                self.effect(EffectKind.WAIT, site.node, receiver)
            elif method == "record":
                self.effect(EffectKind.RECORD, site.node, receiver)
            elif method == "elapsed_time":
                self.effect(EffectKind.ELAPSED, site.node, receiver)
            return NUMBER
        if kind is Kind.STREAM:
            if method == "synchronize":
                self.effect(EffectKind.WAIT, site.node, receiver)
            return NONE
        if kind is Kind.UNKNOWN:
            return self.unknown_method(receiver, method, site)
        if kind is Kind.OBJECT and receiver.qual:
            return self.object_method(receiver, method, site)
        if kind in (Kind.NUMBER, Kind.CLOCK):
            return NUMBER
        if kind is Kind.LOADER:
            return None
        return None

    def tensor_method(self, receiver: Value, method: str, site: sites.Call) -> Value:
        node = site.node
        arguments = site.arguments
        what = known.TENSOR_METHOD_RESULTS.get(method)
        if receiver.kind is Kind.BATCH and method in _MAPPING_METHODS:
            mapping = Value(Kind.CONTAINER, qual="dict", elem=receiver.but(ident=None), items=receiver.items)
            return self.container_method(mapping, method, site) or UNKNOWN
        if what == "number":
            if method == "item":
                self._host_read(receiver, node)
                return NUMBER.but(origins=(node,))
            return NUMBER
        if what == "shape":
            if arguments:
                return NUMBER.but(qual="tensor size")
            return Value(Kind.SHAPE, qual="tensor size")
        if what == "ndarray":
            return Value(Kind.NDARRAY, device=HOST, origins=(node,), dtype=receiver.dtype)
        if what == "container":
            self._host_read(receiver, node)
            return Value(Kind.CONTAINER, qual="list", elem=NUMBER, origins=(node,))
        if what == "none":
            if method == "backward":
                self.effect(EffectKind.BACKWARD, node, receiver)
                self.effect(EffectKind.LAUNCH, node, receiver)
                self.note_root(site.receiver_node)
            return NONE
        if method in ("to", "cpu", "cuda", "xpu", "npu", "type", "type_as", "pin_memory"):
            return self.moved(receiver, method, site)
        if method == "numpy_":
            return receiver
        conf = receiver.conf
        if conf is Confidence.POSSIBLE and (
            method in known.TENSOR_ONLY_METHODS or (method in known.REDUCTIONS and self.is_given_to_forward(receiver))
        ):
            conf = Confidence.LIKELY
        operands = [receiver, *(a.value for a in arguments)]
        dtype = known.CAST_METHODS.get(method)
        if dtype is None:
            dtype = self.result_dtype(method, receiver)
        if method in known.NEW_METHODS:
            device = self.device_argument(site)
            return Value(
                Kind.TENSOR,
                Confidence.SURE if conf is Confidence.SURE else Confidence.LIKELY,
                device=device if device else receiver.device,
                graph=DETACHED,
                dtype=dtype,
                origins=(node,),
                deps=receiver.deps,
            )
        if method in ("detach", "detach_", "requires_grad_"):
            graph = (
                DETACHED
                if method != "requires_grad_" or (arguments and arguments[0].value.const is False)
                else ATTACHED
            )
            return receiver.but(
                kind=Kind.TENSOR if receiver.kind is Kind.TENSOR else Kind.BATCH,
                conf=max(conf, Confidence.LIKELY),
                graph=graph,
                origins=(node,),
                ident=receiver.ident if method.endswith("_") else None,
            )
        result = self.tensor(node, operands, conf, dtype=dtype)
        if receiver.device == DEVICE or receiver.device == HOST:
            result.device = receiver.device
        if method in known.GRAPH_FREE:
            result.graph = DETACHED
        if receiver.kind is Kind.BATCH and method not in known.TENSOR_ONLY_METHODS and method not in known.REDUCTIONS:
            result.kind = Kind.BATCH
        result.rank = self.result_rank(method, receiver, arguments, 0)
        if receiver.kind is not Kind.BATCH or method in known.TENSOR_ONLY_METHODS:
            result.pinned = self.pinned_after(method, receiver, result)
        result.loaders = receiver.loaders
        if method.endswith("_") and not method.endswith("__"):
            result.ident = receiver.ident
        self.launch(result, node)
        return self.tupled(method, arguments, result, 0)

    def pinned_after(self, name: str, operand: Value, result: Value) -> bool | None:
        """Whether the result of an operation on the host lies in pinned memory: computing allocates ordinary memory."""
        if name in known.VIEWS or (name.endswith("_") and not name.endswith("__")):
            return operand.pinned
        if name in known.PERHAPS_VIEWS or name in known.CAST_METHODS:
            return None if operand.pinned else operand.pinned
        return False if result.on_host else None

    def is_given_to_forward(self, value: Value) -> bool:
        """Whether it comes from an argument of forward: what is reduced there is a tensor."""
        return bool(value.deps) and self.frame.info.role in (Role.FORWARD, Role.AUTOGRAD)

    def tupled(self, name: str, arguments: Arguments, result: Value, first: int) -> Value:
        """The tuple of tensors that some functions give."""
        if name in known.VALUES_AND_INDICES:
            by_dim = any(a.name in ("dim", "axis", "k") for a in arguments)
            positional = [a for a in arguments if a.name is None and not a.star][first:]
            if (
                name in ("topk", "sort", "kthvalue", "mode", "cummax", "cummin")
                or by_dim
                or (positional and positional[0].value.kind is Kind.NUMBER)
            ):
                indices = result.but(dtype="int64", graph=DETACHED)
                return Value(
                    Kind.CONTAINER, qual="tuple", elem=result,
                    items={0: result, 1: indices, "values": result, "indices": indices}, origins=result.origins,
                )  # fmt: skip
            return result
        if name in known.TUPLES:
            return Value(Kind.CONTAINER, qual="tuple", elem=result, origins=result.origins)
        if name in ("unique", "unique_consecutive") and any(
            a.name in ("return_inverse", "return_counts") for a in arguments
        ):
            return Value(Kind.CONTAINER, qual="tuple", elem=result, origins=result.origins)
        if name == "nonzero" and any(a.name == "as_tuple" and a.value.const is True for a in arguments):
            return Value(Kind.CONTAINER, qual="tuple", elem=result, origins=result.origins)
        return result

    def result_dtype(self, name: str, operand: Value | None) -> str | None:
        if name in known.BOOLEAN:
            return "bool"
        if name in known.INTEGER:
            return "int64"
        if operand is not None and operand.is_tensor:
            if name in ("sum", "cumsum", "prod") and operand.dtype == "bool":
                return "int64"
            if name in ("mean", "softmax", "log_softmax", "exp", "log") and operand.dtype in ("bool", "int64"):
                return None
            return operand.dtype
        return None

    def result_rank(self, name: str, operand: Value, arguments: Arguments, first: int) -> int | None:
        if name in known.REDUCTIONS:
            rest = [a for a in arguments if a.name is None][first:]
            named = {a.name for a in arguments}
            if name in ("dot", "vdot", "dist"):
                return 0
            if name in ("norm",) and not named & {"dim", "axis"} and len(rest) <= 1:
                return 0
            if (
                name in ("std", "var")
                and not named & {"dim", "axis"}
                and (not rest or rest[0].value.const in (True, False))
            ):
                return 0
            if not rest and not named & {"dim", "axis"} and not any(a.star for a in arguments):
                return 0
            return None
        if name in _SAME_RANK:
            return operand.rank
        if name in ("unsqueeze",) and operand.rank is not None:
            return operand.rank + 1
        if name in ("nonzero", "argwhere"):
            return 2
        if name in ("flatten", "ravel") and not arguments[first:]:
            return 1
        return None

    def _host_read(self, value: Value, node: cst.CSTNode) -> None:
        if not value.on_host:
            self.effect(EffectKind.WAIT, node, value)

    def device_argument(self, site: sites.Call) -> int:
        """Where `device=` puts a new tensor; 0 where it is absent."""
        argument = site.argument(None, "device")
        if argument is None or argument.value.kind is Kind.NONE:
            return 0
        self.note_accelerator(argument)
        return argument.value.device or ANYWHERE

    def note_accelerator(self, argument: sites.Argument) -> None:
        """Code that names the device it works on, and not as the host, is written for accelerators."""
        if (argument.name == "device" or argument.value.kind is Kind.DEVICE) and argument.value.device != HOST:
            self.model.accelerated = True

    def moved(self, receiver: Value, method: str, site: sites.Call) -> Value:
        """`.to`, `.cuda`, `.cpu` of a tensor or of something unknown."""
        node = site.node
        device = receiver.device or ANYWHERE
        dtype = receiver.dtype
        conf = receiver.conf
        pinned: bool | None = None
        deps = receiver.deps
        blocking = not any(a.name == "non_blocking" and a.value.const is not False for a in site.arguments)
        if method == "cpu":
            device, deps = HOST, 0
        elif method in ("cuda", "xpu", "npu"):
            device, deps = DEVICE, 0
            self.model.accelerated = True
        elif method == "pin_memory":
            device, pinned = HOST, True  # whatever it was before: pinned memory is the host's
        elif method == "type":
            for argument in site.arguments:
                dtype = argument.value.dtype
                if argument.value.qual and ".cuda." in argument.value.qual:
                    device = DEVICE
        elif method == "type_as":
            other = site.arguments[0].value if site.arguments else UNKNOWN
            device, dtype, deps = other.device or ANYWHERE, other.dtype, other.deps
        else:
            target = self.target_of(site)
            if target is not None:
                device, deps = target
            for argument in site.arguments:
                if argument.value.kind is Kind.DTYPE:
                    dtype = argument.value.dtype
                elif argument.value.kind is Kind.TENSOR and argument.name is None:
                    dtype = argument.value.dtype
        if device == HOST and not receiver.on_host and method != "pin_memory" and blocking:
            self._host_read(receiver, node)
        if device == HOST and method != "pin_memory":
            if receiver.on_host:
                pinned = receiver.pinned if dtype == receiver.dtype or not receiver.pinned else None
            elif receiver.device == DEVICE or not blocking:
                pinned = not blocking  # what `.to("cpu", non_blocking=True)` makes is pinned
        graph = receiver.graph
        return receiver.but(
            device=device, dtype=dtype, conf=conf, pinned=pinned, graph=graph, origins=(node,), ident=None,
            deps=deps,
            items={k: v.but(device=device) for k, v in receiver.items.items()} if receiver.items else None,
        )  # fmt: skip

    def target_of(self, site: sites.Call) -> tuple[int, int] | None:
        """Where `.to(...)` moves, and on which parameters that depends; None where its arguments are of other sorts."""
        target: tuple[int, int] | None = None
        for index, argument in enumerate(site.arguments):
            value = argument.value
            if argument.name == "device" or (argument.name is None and index == 0):
                self.note_accelerator(argument)
                if argument.star:
                    return ANYWHERE, 0
                if value.kind in (Kind.DTYPE, Kind.NONE):
                    continue
                if value.kind is Kind.NUMBER:
                    target = DEVICE, 0
                    continue
                name = dotted(argument.node) or ""
                if value.kind is Kind.UNKNOWN and argument.name is None and "dtype" in name:
                    continue
                target = value.device or ANYWHERE, value.deps
        return target

    def module_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        node = site.node
        if method in _MODULE_MOVES:
            device: int | None = receiver.device
            if method in ("cuda", "xpu", "npu"):
                device = DEVICE
                self.model.accelerated = True
            elif method == "cpu":
                device = HOST
            elif method == "to" or method == "to_empty":
                target = self.target_of(site)
                device = target[0] if target is not None else receiver.device
            return receiver.but(device=device, ident=receiver.ident)
        if method in _RETURNS_SELF:
            if method == "requires_grad_" and site.arguments and site.arguments[0].value.const is False:
                return receiver.but(graph=DETACHED)
            return receiver
        if method == "compile":
            self.compile_value(receiver, self.wants_fullgraph(node))
            return NONE
        if method in ("parameters", "buffers"):
            return Value(Kind.PARAMETERS, device=receiver.device)
        if method in ("named_parameters", "named_buffers"):
            pair = Value(Kind.CONTAINER, qual="tuple", items={0: STRING, 1: PARAMETER}, elem=PARAMETER)
            return Value(Kind.PARAMETERS, elem=pair, device=receiver.device)
        if method in ("modules", "children"):
            return Value(
                Kind.CONTAINER,
                qual="modules",
                elem=Value(Kind.MODULE, Confidence.LIKELY, device=receiver.device, graph=MAYBE),
            )
        if method in ("named_modules", "named_children"):
            inner = Value(Kind.MODULE, Confidence.LIKELY, device=receiver.device, graph=MAYBE)
            return Value(
                Kind.CONTAINER,
                qual="modules",
                elem=Value(Kind.CONTAINER, qual="tuple", items={0: STRING, 1: inner}, elem=inner),
            )
        if method == "state_dict":
            return Value(
                Kind.CONTAINER, qual="dict", elem=PARAMETER.but(graph=DETACHED, device=receiver.device or ANYWHERE)
            )
        if method in ("register_buffer", "register_parameter") and receiver.cls is not None:
            name = site.argument(0, "name")
            tensor = site.argument(1, "tensor") or site.argument(1, "param")
            if name is not None and tensor is not None and isinstance(name.value.const, str):
                value = tensor.value
                if value.kind is Kind.TENSOR:
                    value = value.but(device=ANYWHERE, ident=None, deps=0)  # moves with its module
                receiver.cls.store(name.value.const, node, value)
            return NONE
        if method in ("add_module", "register_module", "load_state_dict", "zero_grad", "append", "extend", "insert"):
            if method == "zero_grad":
                self.effect(EffectKind.ZERO_GRAD, node, receiver)
            elif receiver.cls is None and site.arguments:
                part = site.arguments[-1].value
                part = self.element(part) if method == "extend" else part
                if part.kind is Kind.MODULE and part is not receiver:
                    self.grow(receiver, part, None)
            return NONE
        if method in ("get_submodule",):
            return Value(Kind.MODULE, Confidence.LIKELY, device=receiver.device, graph=MAYBE)
        if method in ("values",) and receiver.elem is not None:
            return Value(Kind.CONTAINER, qual="modules", elem=receiver.elem)
        if method in ("items",) and receiver.elem is not None:
            return Value(
                Kind.CONTAINER,
                qual="modules",
                elem=Value(Kind.CONTAINER, qual="tuple", items={0: STRING, 1: receiver.elem}, elem=receiver.elem),
            )
        if method in ("keys",):
            return Value(Kind.CONTAINER, elem=STRING)
        if method in ("size", "device", "dim", "numel"):
            return NUMBER
        if method == "forward" or method == "__call__":
            return self.call_module(receiver, site)
        if method == "no_sync":
            return Value(Kind.OBJECT, qual="torch.nn.Module.no_sync")
        if method == "backward" and site.arguments:  # an engine: DeepSpeed
            self.effect(EffectKind.BACKWARD, node, site.arguments[0].value)
            self.note_root(site.arguments[0].node)
            return NONE
        if method == "generate" or any(a.value.is_tensor for a in site.arguments):
            self.effect(EffectKind.FORWARD, node, receiver)
            self.effect(EffectKind.LAUNCH, node, receiver)
            return self.module_output(receiver, site, None)
        # A submodule that is called: `self.net.encoder(x)`.
        if site.arguments and receiver.device & DEVICE:
            self.effect(EffectKind.FORWARD, node, receiver)
            self.effect(EffectKind.LAUNCH, node, receiver)
            return Value(
                Kind.BATCH,
                Confidence.POSSIBLE,
                device=receiver.device,
                graph=MAYBE if not self.grad_is_off() else DETACHED,
                origins=(node,),
            )
        return Value(Kind.UNKNOWN, device=receiver.device or ANYWHERE, graph=MAYBE)

    def container_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        elem = receiver.elem
        if method in _CONTAINER_ADDS:
            argument = site.argument(_CONTAINER_ADDS[method])
            if argument is not None:
                self.store_value(receiver, argument, method, site)
            return NONE
        if method in ("extend", "update", "extendleft"):
            for argument in site.arguments:
                if argument.name is not None:
                    self.store_value(receiver, argument, method, site, key=argument.name)
                else:
                    inner = self.element(argument.value, values=True)
                    self.store_value(receiver, argument, method, site, value=inner)
                    if argument.value.items and receiver.qual == "dict":
                        for key, item in argument.value.items.items():
                            self.grow(receiver, item, key)
            return NONE
        if method == "setdefault":
            argument = site.argument(1)
            if argument is not None:
                self.grow(receiver, argument.value, None)
            return receiver.elem or UNKNOWN
        if method in ("values",):
            return Value(Kind.CONTAINER, qual="values", elem=elem or UNKNOWN, items=_enumerated(receiver))
        if method == "items":
            value = elem or UNKNOWN
            pair = Value(Kind.CONTAINER, qual="tuple", elem=value, items={0: STRING, 1: value})
            return Value(Kind.CONTAINER, qual="items", elem=pair)
        if method == "keys":
            return Value(Kind.CONTAINER, qual="list", elem=STRING)
        if method in ("get", "pop", "popleft", "popitem"):
            key = site.argument(0)
            if (
                key is not None
                and receiver.items
                and isinstance(key.value.const, (int, str))
                and key.value.const in receiver.items
            ):
                return receiver.items[key.value.const]
            return elem or UNKNOWN
        if method in ("copy", "to"):
            if method == "to":
                return receiver
            return receiver.but(items=dict(receiver.items) if receiver.items else None)
        if method in ("count", "index"):
            return NUMBER
        if method in ("clear",):
            return NONE
        if method in ("sort", "reverse"):
            return NONE
        return None

    def store_value(
        self,
        container: Value,
        argument: sites.Argument,
        how: str,
        site: sites.Call,
        *,
        value: Value | None = None,
        key: str | None = None,
    ) -> None:
        """A container takes a value: it remembers it, and rules hear of it."""
        stored = argument.value if value is None else value
        self.grow(container, stored.but(ident=None, deps=0) if stored.ident is not None or stored.deps else stored, key)
        self.note_stored_parameter(stored)
        if site.receiver_node is not None:
            self.note_flow(site.receiver_node, factors(argument.node))
        if self.recording:
            name = dotted(site.receiver_node) if site.receiver_node is not None else None
            if name is None and isinstance(site.receiver_node, cst.Subscript):
                name = dotted(site.receiver_node.value)
            self.sites.stores.append(
                sites.Store(site.node, how, container, name, argument.node, stored, self.context, self.statement, key)
            )

    def grow(self, container: Value, value: Value, key: object) -> None:
        container.elem = value if container.elem is None else join(container.elem, value)
        if key is not None:
            if container.items is None:
                container.items = {}
            container.items[key] = join(container.items[key], value) if key in container.items else value

    def optimizer_method(self, method: str, site: sites.Call) -> Value:
        if method == "step":
            self.effect(EffectKind.OPTIMIZER_STEP, site.node, site.receiver)
            self.effect(EffectKind.LAUNCH, site.node, site.receiver)
        elif method == "zero_grad":
            self.effect(EffectKind.ZERO_GRAD, site.node, site.receiver)
        return UNKNOWN if method == "state_dict" else NONE

    def scaler_method(self, method: str, site: sites.Call) -> Value:
        if method == "scale":
            value = site.arguments[0].value if site.arguments else UNKNOWN
            return value.but(origins=(site.node,), ident=None)
        if method == "step":
            self.effect(EffectKind.OPTIMIZER_STEP, site.node, site.receiver)
            self.effect(EffectKind.LAUNCH, site.node, site.receiver)
        return NUMBER if method == "get_scale" else NONE

    def object_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        qual = receiver.qual or ""
        if receiver.cls is not None:
            return None
        if receiver.fn is not None:
            return None
        if qual == "logging.Logger" or (method in known.LOG_METHODS and "ogger" in qual):
            for argument in site.arguments:
                self.formatted(site.node, argument.node, argument.value, "logging")
            return NONE
        if qual.startswith(("accelerate.", "lightning.fabric", "lightning_fabric", "lightning.Fabric")):
            return self.accelerator_method(method, site)
        if qual.startswith("torch.Generator"):
            return receiver
        top = qual.split(".", 1)[0]
        if top in known.HOST_LIBRARIES or top == "numpy":
            if qual.startswith("tqdm.") and method in (
                "set_description",
                "set_postfix",
                "set_postfix_str",
                "write",
                "set_description_str",
            ):
                for argument in site.arguments:
                    self.formatted(site.node, argument.node, argument.value, "tqdm")
                return NONE
            return Value(
                Kind.NDARRAY if top == "numpy" else Kind.OBJECT,
                device=HOST,
                qual=f"{qual}.{method}",
                origins=(site.node,),
            )
        if qual.startswith("torch.") and "lr_scheduler" in qual:
            return NONE
        tensors = [a.value for a in site.arguments if a.value.is_tensor]
        if qual.startswith("torch.distributions."):
            result = self.tensor(site.node, [receiver.but(kind=Kind.UNKNOWN), *tensors], Confidence.LIKELY)
            if method == "sample":
                result.graph = DETACHED
            return self.launch(result, site.node)
        if tensors:
            self.effect(EffectKind.LAUNCH, site.node, receiver)
            base = self.tensor(site.node, tensors)
            return Value(Kind.BATCH, Confidence.POSSIBLE, device=base.device, graph=base.graph, origins=(site.node,))
        return UNKNOWN

    def accelerator_method(self, method: str, site: sites.Call) -> Value:
        """Accelerate's and Fabric's: they move, and run backward."""
        self.model.accelerated = True
        if method in (
            "prepare",
            "setup",
            "setup_dataloaders",
            "prepare_model",
            "prepare_data_loader",
            "prepare_optimizer",
            "setup_module",
            "setup_optimizers",
        ):
            values = [self.prepared(argument.value) for argument in site.arguments]
            if len(values) == 1:
                return values[0]
            return Value(
                Kind.CONTAINER,
                qual="tuple",
                items=dict(enumerate(values)),
                elem=functools.reduce(join, values) if values else UNKNOWN,
            )
        if method == "backward":
            if site.arguments:
                self.effect(EffectKind.BACKWARD, site.node, site.arguments[0].value)
                self.effect(EffectKind.LAUNCH, site.node, site.arguments[0].value)
                self.note_root(site.arguments[0].node)
            return NONE
        if method in ("gather", "gather_for_metrics", "reduce", "pad_across_processes", "all_gather", "all_reduce"):
            value = site.arguments[0].value if site.arguments else UNKNOWN
            return value.but(origins=(site.node,), ident=None)
        if method == "print":
            for argument in site.arguments:
                self.formatted(site.node, argument.node, argument.value, "print")
            return NONE
        if method == "clip_grad_norm_":
            return Value(
                Kind.TENSOR, Confidence.LIKELY, device=DEVICE | ANYWHERE, graph=DETACHED, rank=0, origins=(site.node,)
            )
        return UNKNOWN

    def prepared(self, value: Value) -> Value:
        if value.kind is Kind.LOADER:
            element = self.element(value)
            return value.but(device=DEVICE | ANYWHERE, elem=element.but(device=DEVICE, pinned=None), qual="prepared")
        if value.kind in (Kind.MODULE, Kind.UNKNOWN):
            return value.but(device=DEVICE | ANYWHERE)
        return value

    def unknown_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        """A method of something unknown; some names tell what it must be."""
        node = site.node
        if method == "backward":
            root = receiver
            root_node: cst.BaseExpression | None = site.receiver_node
            if site.arguments and (site.arguments[0].value.is_tensor or self._is_manager(receiver, site)):
                root, root_node = site.arguments[0].value, site.arguments[0].node  # an engine, an accelerator, a scaler
            self.effect(EffectKind.BACKWARD, node, root)
            self.effect(EffectKind.LAUNCH, node, root)
            self.note_root(root_node)
            return NONE
        if method == "manual_backward" and site.arguments:
            self.effect(EffectKind.BACKWARD, node, site.arguments[0].value)
            self.note_root(site.arguments[0].node)
            return NONE
        if method in ("cuda", "to", "cpu", "pin_memory", "xpu", "npu"):
            return self.moved(receiver, method, site)
        if method in ("append", "extend", "add", "insert", "update", "put", "push", "appendleft"):
            for argument in site.arguments[-1:]:
                self.note_stored_parameter(argument.value)
                if site.receiver_node is not None:
                    self.note_flow(site.receiver_node, factors(argument.node))
                if self.recording:
                    name = dotted(site.receiver_node) if site.receiver_node is not None else None
                    self.sites.stores.append(
                        sites.Store(
                            node, method, receiver, name, argument.node, argument.value, self.context, self.statement
                        )
                    )
            if method in ("append", "extend", "insert", "appendleft"):
                return NONE
        if method in known.LOG_METHODS and self._is_logger(site):
            for argument in site.arguments:
                self.formatted(node, argument.node, argument.value, "logging")
            return NONE
        if method in ("set_postfix", "set_description", "set_postfix_str"):
            for argument in site.arguments:
                self.formatted(node, argument.node, argument.value, "tqdm")
            return NONE
        if method in ("parameters", "named_parameters"):
            return self.module_method(receiver.but(kind=Kind.MODULE), method, site)
        if method == "state_dict":  # of a module, most often
            held = PARAMETER.but(conf=Confidence.POSSIBLE, graph=DETACHED, device=receiver.device or ANYWHERE)
            return Value(Kind.CONTAINER, Confidence.POSSIBLE, qual="dict", elem=held)
        if method in ("train", "eval", "requires_grad_"):
            return receiver
        if method == "zero_grad":
            self.effect(EffectKind.ZERO_GRAD, node, receiver)
            return NONE
        if method == "step" and not site.arguments and self._looks_like_optimizer(site):
            self.effect(EffectKind.OPTIMIZER_STEP, node, receiver)
            return UNKNOWN
        if method in ("synchronize", "query"):
            self.effect(EffectKind.WAIT, node, receiver)
            return UNKNOWN
        if method == "elapsed_time":
            self.effect(EffectKind.ELAPSED, node, receiver)
            return NUMBER
        if method == "record":
            self.effect(EffectKind.RECORD, node, receiver)
            return UNKNOWN
        if method == "item" or method == "tolist":
            number = NUMBER.but(origins=(node,))
            return number if method == "item" else Value(Kind.CONTAINER, qual="list", elem=number, origins=(node,))
        if method == "numpy":
            return Value(Kind.NDARRAY, Confidence.LIKELY, device=HOST, origins=(node,))
        if method == "numel":
            return NUMBER
        if method == "size":
            return NUMBER.but(qual="tensor size") if site.arguments else Value(Kind.SHAPE, qual="tensor size")
        if method in ("items", "values", "keys") and not site.arguments:
            inner = (
                receiver.but(origins=(), ident=None, items=None)
                if receiver.device != ANYWHERE or receiver.deps
                else UNKNOWN
            )
            if method == "values":
                return Value(Kind.CONTAINER, qual="values", elem=receiver.elem or inner)
            if method == "keys":
                return Value(Kind.CONTAINER, qual="list", elem=STRING)
            value = receiver.elem or inner
            return Value(
                Kind.CONTAINER,
                qual="items",
                elem=Value(Kind.CONTAINER, qual="tuple", items={0: STRING, 1: value}, elem=value),
            )
        if method in _STRONG_TENSOR_METHODS:
            base = receiver.but(
                kind=Kind.TENSOR,
                conf=Confidence.POSSIBLE,
                device=receiver.device or ANYWHERE,
                graph=receiver.graph or MAYBE,
            )
            return self.tensor_method(base, method, site)
        if method in known.REDUCTIONS or method in _WEAK_TENSOR_METHODS:
            base = receiver.but(
                kind=Kind.TENSOR,
                conf=Confidence.POSSIBLE,
                device=receiver.device or ANYWHERE,
                graph=receiver.graph or MAYBE,
            )
            result = self.tensor_method(base, method, site)
            result = result.but()
            if result.kind in (Kind.TENSOR, Kind.BATCH) and self.model.uses_numpy and not receiver.device & DEVICE:
                result.conf = Confidence.POSSIBLE
            return result
        return None

    def _is_manager(self, receiver: Value, site: sites.Call) -> bool:
        """`accelerator.backward(loss)`, `fabric.backward(loss)`: the argument is the root, not the receiver."""
        value = site.arguments[0].value
        return value.kind is Kind.UNKNOWN and site.arguments[0].name is None and receiver.origins == ()

    def _is_logger(self, site: sites.Call) -> bool:
        name = dotted(site.receiver_node) if site.receiver_node is not None else None
        return name is not None and "log" in name.rsplit(".", 1)[-1].lower()

    def _looks_like_optimizer(self, site: sites.Call) -> bool:
        name = dotted(site.receiver_node) if site.receiver_node is not None else None
        if name is None:
            return False
        duck = self.frame.info.duck.get(name, set())
        if "zero_grad" in duck:
            return True
        last = name.rsplit(".", 1)[-1].lower()
        return last.startswith("opt") or last.endswith(("optimizer", "optim", "_opt"))

    def note_root(self, node: cst.BaseExpression | None) -> None:
        """Remember that backward runs on an expression: on the names it is a sum of."""
        if node is None:
            return
        roots, sure = factors(node), terms(node)
        self.note_graph_makers(node)
        info: FunctionInfo | None = self.frame.info
        while info is not None:
            info.roots |= roots
            info.terms |= sure
            info = info.parent
        for name in sure:
            holder_name, _, attribute = name.rpartition(".")
            if holder_name:
                holder = self.lookup(holder_name)
                if holder is not None and holder.cls is not None:
                    holder.cls.roots.add(attribute)

    def note_flow(self, target: cst.BaseExpression, sources: set[str]) -> None:
        raise NotImplementedError

    def note_graph_makers(self, node: cst.BaseExpression) -> None:
        raise NotImplementedError

    def in_place(self, site: sites.Call) -> None:
        """Calls that change what their receiver's name stands for: `model.cuda()` alone, `x.add_(y)`."""
        receiver, method, node = site.receiver, site.method, site.receiver_node
        if receiver is None or node is None or method is None:
            return
        if method in _MODULE_MOVES or method in ("cuda", "requires_grad_"):
            if receiver.kind is Kind.MODULE:
                self.rename(node, site.result)
            elif (
                receiver.kind is Kind.UNKNOWN
                and isinstance(self.statement, cst.Expr)
                and self.statement.value is site.node
            ):
                self.rename(node, site.result.but(kind=Kind.MODULE, conf=Confidence.LIKELY, graph=MAYBE))
        elif (
            method.endswith("_")
            and not method.endswith("__")
            and receiver.kind is Kind.TENSOR
            and site.result.kind is Kind.TENSOR
        ):
            if site.result.graph != receiver.graph or method in ("detach_", "requires_grad_"):
                self.rename(node, site.result)

    def given_away(self, site: sites.Call) -> None:
        """`batch_to_device(batch, device)`: what is not read may have moved the members of a batch it was given."""
        if len(site.arguments) > 1:
            for argument in site.arguments:
                if argument.value.kind is Kind.BATCH and argument.value.on_host:
                    self.rename(argument.node, argument.value.but(device=HOST | ANYWHERE, pinned=None))

    def rename(self, node: cst.BaseExpression, value: Value) -> None:
        name = dotted(node)
        if name is None:
            return
        if "." in name:
            self.frame.env[name] = value
            self.dotted_bases.add(name.split(".", 1)[0])
            if isinstance(node, cst.Attribute):
                holder = self.eval_quietly(node.value)
                if holder.cls is not None:
                    holder.cls.store(identifier(node.attr.value), node, value.but(ident=None, deps=0))
        elif name in self.frame.env:
            self.frame.env[name] = value

    # Names from outside the file

    def call_external(self, qual: str, site: sites.Call) -> Value:
        """A function or class of another package, or a builtin."""
        top, _, rest = qual.partition(".")
        if not rest:
            builtin = _BUILTIN_CALLS.get(qual)
            if builtin is not None:
                return builtin(self, site)
            if qual in known.BUILTINS:
                return UNKNOWN
            return self.call_unknown(site)
        if top == "torch":
            return self.call_torch(qual, rest, site)
        if qual in known.CLOCKS:
            self.effect(EffectKind.CLOCK, site.node)
            return Value(Kind.CLOCK, origins=(site.node,), qual=qual)
        if top == "numpy":
            return Value(Kind.NDARRAY, device=HOST, origins=(site.node,), qual=None)
        if qual in known.LOADER_WRAPPERS:
            return self.wrapped_iterable(site)
        if top == "math":
            for argument in site.arguments:
                if argument.value.kind is Kind.TENSOR:
                    self._host_read(argument.value, site.node)
            return NUMBER
        if top == "functools" and rest == "partial" and site.arguments:
            first = site.arguments[0].value
            if first.fn is not None:
                values: dict[int, Value] = {}
                parameters = {p.name: p for p in first.fn.parameters}
                for argument in site.arguments[1:]:
                    if argument.name in parameters:
                        self.pass_value(parameters[argument.name], site.node, argument.value, values)
                return first
            if first.kind is Kind.FUNCTION:
                return first.but(items={a.name: a.value for a in site.arguments[1:] if a.name is not None})
            return first
        if top == "copy":
            return site.arguments[0].value.but(ident=None) if site.arguments else UNKNOWN
        if qual in ("collections.defaultdict", "collections.OrderedDict", "collections.deque", "collections.Counter"):
            kind = "dict" if not qual.endswith("deque") else "list"
            elem = None
            if qual.endswith("defaultdict") and site.arguments:
                factory = site.arguments[0].value
                if factory.qual in ("list", "set", "dict"):
                    elem = Value(Kind.CONTAINER, qual=factory.qual)
                elif factory.qual in ("int", "float"):
                    elem = NUMBER
            return Value(Kind.CONTAINER, qual=kind, elem=elem, origins=(site.node,))
        if qual == "itertools.product" or qual == "itertools.zip_longest":
            return _zip(self, site)
        if qual == "logging.getLogger" or qual.endswith("get_logger") or qual.endswith("getLogger"):
            return Value(Kind.OBJECT, qual="logging.Logger")
        if top == "logging" and rest in known.LOG_METHODS:
            for argument in site.arguments:
                self.formatted(site.node, argument.node, argument.value, "logging")
            return NONE
        if (
            qual in known.DATASETS
            or qual.startswith(known.DATASET_PACKAGES)
            or (site.function.kind is Kind.CLASS and qual.rsplit(".", 1)[-1].endswith("Dataset"))
        ):
            return Value(Kind.DATASET, qual=qual, origins=(site.node,))
        if qual in known.LOADERS or (
            site.function.kind is Kind.CLASS and qual.rsplit(".", 1)[-1] in ("DataLoader", "NeighborLoader")
        ):
            return self.loader(qual, site)
        if top in known.HOST_LIBRARIES:
            return Value(Kind.OBJECT, device=HOST, qual=qual, origins=(site.node,))
        if top in ("accelerate", "lightning", "lightning_fabric", "deepspeed"):
            self.model.accelerated = True
        if site.function.kind is Kind.CLASS:
            return self.instance_of_external(qual).but(origins=(site.node,))
        tensors = [a.value for a in site.arguments if a.value.is_tensor]
        if tensors:
            self.effect(EffectKind.LAUNCH, site.node)
            base = self.tensor(site.node, tensors)
            graph = DETACHED if self.grad_is_off() else base.graph | MAYBE
            return Value(
                Kind.BATCH, Confidence.POSSIBLE, device=base.device, graph=graph, origins=(site.node,), deps=base.deps
            )
        return Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE, origins=(site.node,))

    def instance_of_external(self, qual: str) -> Value:
        """An instance of a class of another package."""
        qual = known.canonical(qual)
        last = qual.rsplit(".", 1)[-1]
        if qual in (
            "torch.Tensor",
            "torch.nn.Parameter",
            "torch.FloatTensor",
            "torch.LongTensor",
            "torch.BoolTensor",
        ) or (
            last in ("Tensor", "FloatTensor", "LongTensor", "BoolTensor")
            and (qual == last or qual.startswith("torch.") or qual.startswith("jaxtyping."))
        ):
            graph = ATTACHED if last == "Parameter" else MAYBE
            return Value(Kind.TENSOR, Confidence.LIKELY, device=ANYWHERE, graph=graph)
        if qual.startswith("torch.cuda.") and last.endswith("Tensor"):
            return Value(Kind.TENSOR, Confidence.LIKELY, device=DEVICE, graph=MAYBE)
        if qual in known.MODULE_BASES or (
            qual.startswith("torch.nn.") and last[:1].isupper() and last not in known.NN_NOT_MODULES
        ):
            return Value(Kind.MODULE, Confidence.LIKELY, device=ANYWHERE, graph=MAYBE, qual=qual)
        if qual in known.OPTIMIZER_BASES or (qual.startswith("torch.optim.") and "lr_scheduler" not in qual):
            return Value(Kind.OPTIMIZER, Confidence.LIKELY, qual=qual)
        if qual in known.LOADERS or last == "DataLoader":
            return Value(Kind.LOADER, Confidence.LIKELY, device=HOST, qual=qual)
        if qual in known.DATASETS or last.endswith("Dataset"):
            return Value(Kind.DATASET, Confidence.LIKELY, qual=qual)
        if qual in known.SCALERS or last == "GradScaler":
            return Value(Kind.SCALER, qual=qual)
        if qual == "torch.cuda.Event" or qual == "torch.Event":
            return Value(Kind.EVENT, qual=qual)
        if qual in ("torch.cuda.Stream", "torch.Stream", "torch.cuda.ExternalStream"):
            return Value(Kind.STREAM, qual=qual)
        if qual == "torch.device":
            return Value(Kind.DEVICE, Confidence.LIKELY, device=ANYWHERE)
        if qual == "torch.dtype":
            return Value(Kind.DTYPE)
        if qual == "torch.Size":
            return Value(Kind.SHAPE)
        if qual in ("numpy.ndarray", "numpy.generic", "numpy.float32", "numpy.float64") or qual.startswith(
            "numpy.typing"
        ):
            return Value(Kind.NDARRAY, device=HOST)
        if last in ("Callable", "Any", "TypeVar", "Self", "T", "Protocol", ""):
            return UNKNOWN
        if qual in ("accelerate.Accelerator",) or last in ("Accelerator", "Fabric"):
            self.model.accelerated = True
            return Value(Kind.OBJECT, qual="accelerate.Accelerator")
        top = qual.split(".", 1)[0]
        if "." in qual and (top in known.HOST_LIBRARIES or top == "numpy"):
            return Value(Kind.OBJECT, device=HOST, qual=qual)
        return Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE, qual=None)

    def call_torch(self, qual: str, rest: str, site: sites.Call) -> Value:
        """A function or class under `torch.`."""
        node = site.node
        last = qual.rsplit(".", 1)[-1]
        special = _TORCH_CALLS.get(qual)
        if special is not None:
            return special(self, site)
        if qual in known.FULL_WAITS:
            self.effect(EffectKind.WAIT, node)
            return NONE
        if last.startswith(("is_", "has_")):
            return NUMBER
        if site.function.kind is Kind.CLASS and last[:1].isupper():
            return self.construct_torch(qual, last, site)
        plain = rest == last
        if plain and last in known.FACTORIES:
            return self.factory(last, site)
        if plain and last in known.LIKE_FACTORIES:
            like = site.arguments[0].value if site.arguments else UNKNOWN
            return Value(
                Kind.TENSOR, Confidence.SURE if like.kind is Kind.TENSOR else Confidence.LIKELY,
                device=self.device_argument(site) or like.device or ANYWHERE, graph=DETACHED,
                dtype=self.dtype_argument(site) or like.dtype, rank=like.rank, shape=like.shape, origins=(node,), deps=like.deps,
            )  # fmt: skip
        if plain and last in known.NOT_TENSOR:
            what = known.NOT_TENSOR[last]
            if last in ("allclose", "equal", "is_nonzero") and site.arguments:
                self._host_read(site.arguments[0].value, node)
            return {"number": NUMBER, "none": NONE, "shape": Value(Kind.SHAPE)}.get(
                what, Value(Kind.OBJECT, qual=qual, origins=(node,))
            )
        prefix = qual.rsplit(".", 1)[0]
        if prefix not in _TENSOR_NAMESPACES:
            if prefix == "torch.distributed" and last in ("all_reduce", "all_gather", "broadcast", "reduce", "barrier"):
                self.effect(EffectKind.LAUNCH, node)
                return NONE
            if prefix == "torch.distributed":
                return NUMBER if last in ("get_rank", "get_world_size", "is_initialized", "is_available") else UNKNOWN
            if prefix == "torch.utils.checkpoint" or prefix == "torch.func":
                return self.call_unknown_torch(site)
            if prefix == "torch.nn.init":
                return site.arguments[0].value if site.arguments else UNKNOWN
            if prefix.startswith("torch.backends") or prefix.startswith("torch.cuda"):
                return NUMBER
            return (
                Value(Kind.OBJECT, qual=qual, origins=(node,))
                if not any(a.value.is_tensor for a in site.arguments)
                else self.call_unknown_torch(site)
            )
        operands: list[Value] = []
        for argument in site.arguments:
            value = argument.value
            if value.kind is Kind.CONTAINER and value.elem is not None and value.elem.is_tensor:
                value = value.elem
            operands.append(value)
        first = operands[0] if operands else UNKNOWN
        result = self.tensor(
            node,
            operands,
            Confidence.SURE if _sure(operands) else Confidence.LIKELY,
            dtype=self.result_dtype(last, first),
        )
        device = self.device_argument(site)
        if device:
            result.device = device
        if last in known.GRAPH_FREE:
            result.graph = DETACHED
        result.pinned = self.pinned_after(last, first, result)
        if last in known.LOSSES and prefix == "torch.nn.functional":
            reduction = site.argument(None, "reduction")
            if reduction is None or reduction.value.const != "none":
                result.rank = 0
        elif first.is_tensor or first.kind is Kind.UNKNOWN:
            result.rank = self.result_rank(last, first, site.arguments, 1)
        self.launch(result, node)
        if (
            last in ("split", "chunk", "unbind", "tensor_split", "meshgrid", "broadcast_tensors")
            or last in known.TUPLES
            or last in known.VALUES_AND_INDICES
        ):
            if last in ("max", "min") and len(site.arguments) > 1 and operands[1].is_tensor:
                return result
            return self.tupled(last, site.arguments, result, 1)
        if last in ("unique", "unique_consecutive", "nonzero"):
            return self.tupled(last, site.arguments, result, 1)
        return result

    def call_unknown_torch(self, site: sites.Call) -> Value:
        operands = [a.value for a in site.arguments]
        self.effect(EffectKind.LAUNCH, site.node)
        base = self.tensor(site.node, operands, Confidence.LIKELY)
        return Value(
            Kind.BATCH, Confidence.LIKELY, device=base.device, graph=base.graph, origins=(site.node,), deps=base.deps
        )

    def dtype_argument(self, site: sites.Call) -> str | None:
        argument = site.argument(None, "dtype")
        return argument.value.dtype if argument is not None else None

    def factory(self, name: str, site: sites.Call) -> Value:
        """`torch.zeros(...)` and its kin."""
        device = self.device_argument(site)
        data = site.arguments[0].value if site.arguments else UNKNOWN
        dtype = self.dtype_argument(site)
        graph = DETACHED
        wanted = site.argument(None, "requires_grad")
        if wanted is not None and wanted.value.const is True:
            graph = ATTACHED
        rank: int | None = None
        shape: tuple[int | None, ...] | None = None
        if name in ("tensor", "as_tensor", "asarray", "scalar_tensor"):
            if not device:
                device = (
                    data.device
                    if name != "tensor" and data.kind is Kind.TENSOR and data.device
                    else self.default_device()
                )
                if name == "tensor" and data.kind is Kind.TENSOR:
                    device = data.device
                if data.kind is Kind.UNKNOWN and name != "tensor" and data.device & DEVICE:
                    device = data.device
            if data.kind is Kind.NUMBER:
                rank = 0
                shape = ()
            elif data.kind is Kind.CONTAINER and data.items and all(v.kind is Kind.NUMBER for v in data.items.values()):
                shape = (len(data.items),)
            if dtype is None and data.kind is Kind.NUMBER:
                dtype = {"int": "int64", "float": "float32", "bool": "bool"}.get(data.dtype or "")
            if name == "as_tensor" and data.kind is Kind.TENSOR:
                graph = data.graph
        elif name in ("arange", "linspace", "logspace", "range", "randperm"):
            rank = 1
            if name in ("arange", "randperm") and dtype is None:
                dtype = "int64" if all(a.value.dtype in (None, "int") for a in site.arguments) else None
        elif name == "eye":
            rank = 2
        elif name == "randint":
            dtype = dtype or "int64"
        else:
            sizes = [a.value for a in site.arguments if a.name is None]
            if len(sizes) == 1 and sizes[0].kind is Kind.CONTAINER and sizes[0].items is not None:
                sizes = list(sizes[0].items.values())
                shape = tuple(v.const if isinstance(v.const, int) else None for v in sizes)
            elif name not in ("full", "normal") and sizes and all(v.kind is Kind.NUMBER for v in sizes):
                shape = tuple(v.const if isinstance(v.const, int) else None for v in sizes)
        pin = site.argument(None, "pin_memory")
        out = site.argument(None, "out")
        if not device:
            device = self.default_device()
        pinned: bool | None = None
        if pin is not None:
            pinned = pin.value.const if isinstance(pin.value.const, bool) else None
        elif name in ("as_tensor", "asarray") and data.is_tensor:
            pinned = data.pinned
        elif (
            device == HOST
            and not site.opaque_arguments
            and (name not in ("as_tensor", "asarray") or data.kind is not Kind.UNKNOWN)
        ):
            pinned = False
        result = Value(
            Kind.TENSOR, Confidence.SURE, device=device, graph=graph, dtype=dtype, rank=rank, shape=shape,
            pinned=pinned, origins=(site.node,),
        )  # fmt: skip
        if out is not None:
            return out.value
        return self.launch(result, site.node)

    def default_device(self) -> int:
        """Where a factory without `device=` puts its tensor."""
        for link in self.context.chain():
            for flag in link.flags:
                if flag.startswith("device:"):
                    return int(flag[7:])
        return self.model.default_device

    def construct_torch(self, qual: str, last: str, site: sites.Call) -> Value:
        """An instance of a class under `torch.`."""
        node = site.node
        if qual in known.LOADERS:
            return self.loader(qual, site)
        if qual == "torch.nn.Parameter" or qual == "torch.nn.Buffer":
            data = site.arguments[0].value if site.arguments else UNKNOWN
            wanted = site.argument(1, "requires_grad")
            graph = DETACHED if wanted is not None and wanted.value.const is False else ATTACHED
            return Value(
                Kind.TENSOR, Confidence.SURE, device=data.device or HOST, graph=graph if last == "Parameter" else DETACHED, dtype=data.dtype,
                rank=data.rank, shape=data.shape, qual="torch.nn.Parameter", origins=(node,),
            )  # fmt: skip
        if qual in known.REPLICAS and site.arguments:
            inner = site.arguments[0].value
            return inner.but(
                kind=Kind.MODULE,
                conf=max(inner.conf, Confidence.LIKELY),
                device=DEVICE | inner.device,
                qual=qual if inner.cls is None else inner.qual,
                origins=(node,),
            )
        if qual.startswith("torch.nn.") and last not in known.NN_NOT_MODULES:
            device = self.device_argument(site) or HOST
            elem: Value | None = None
            items: dict[Any, Value] | None = None
            if last in known.NN_CONTAINERS:
                parts = [
                    self.element(a.value) if a.star or a.value.kind is Kind.CONTAINER else a.value
                    for a in site.arguments
                ]
                if last == "ModuleDict" and site.arguments and site.arguments[0].value.kind is Kind.CONTAINER:
                    parts = [self.element(site.arguments[0].value, values=True)]
                if last == "Sequential" and not site.opaque_arguments:
                    items = {index: a.value for index, a in enumerate(site.arguments)}
                parts = [part for part in parts if part.kind is Kind.MODULE]
                for part in parts:
                    elem = part if elem is None else join(elem, part)
            return Value(
                Kind.MODULE,
                Confidence.SURE,
                device=device,
                graph=MAYBE,
                qual=qual,
                elem=elem,
                items=items,
                origins=(node,),
            )
        if qual.startswith("torch.optim."):
            if "lr_scheduler" in qual:
                return Value(Kind.OBJECT, qual=qual)
            return Value(Kind.OPTIMIZER, Confidence.SURE, qual=qual, origins=(node,))
        if qual in ("torch.utils.data.Subset", "torch.utils.data.dataset.Subset") and site.arguments:
            return site.arguments[0].value.but(ident=None)
        made = self.instance_of_external(qual)
        if qual.startswith("torch.distributions."):
            drawn = self.tensor(node, [a.value for a in site.arguments])
            return Value(Kind.OBJECT, device=drawn.device, graph=drawn.graph, qual=qual, origins=(node,))
        if made.kind is Kind.UNKNOWN:
            made = Value(Kind.OBJECT, qual=qual)
        if made.kind is Kind.TENSOR:  # torch.Tensor(n), torch.LongTensor([...]): on the host
            return Value(
                Kind.TENSOR,
                Confidence.SURE,
                device=DEVICE if ".cuda." in qual else HOST,
                graph=DETACHED,
                origins=(node,),
            )
        if made.kind is Kind.SHAPE:
            return made
        return made.but(conf=Confidence.SURE, origins=(node,))

    def loader(self, qual: str, site: sites.Call) -> Value:
        """A DataLoader: its options, as far as they are written here."""
        options: dict[Any, Value] = {}
        for position, name in enumerate(
            ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory")
        ):
            argument = site.argument(position, name)
            if argument is not None:
                options[name] = argument.value
        for argument in site.arguments:
            if argument.name is not None:
                options[argument.name] = argument.value
            elif argument.star == "**":
                options["**"] = argument.value
                if argument.value.items:
                    options.update({k: v for k, v in argument.value.items.items() if k not in options})
        for name in ("collate_fn", "worker_init_fn"):
            collate = options.get(name)
            if collate is not None and collate.fn is not None:
                collate.fn.role = Role.WORKER
        pin = options.get("pin_memory")
        pinned: bool | None = None
        if pin is not None:
            pinned = pin.const if isinstance(pin.const, bool) else None
        elif "**" not in options and not site.opaque_arguments:
            pinned = False
        batch = Value(
            Kind.BATCH, Confidence.LIKELY, device=HOST, graph=DETACHED, pinned=pinned, qual="batch", loaders=(site.node,)
        )  # fmt: skip
        return Value(
            Kind.LOADER,
            Confidence.SURE,
            device=HOST,
            pinned=pinned,
            items=options,
            elem=batch,
            qual=qual,
            origins=(site.node,),
        )

    def wrapped_iterable(self, site: sites.Call) -> Value:
        """`tqdm(loader)`, `itertools.islice(loader, n)`: the same elements."""
        if not site.arguments:
            return Value(Kind.OBJECT, device=HOST, qual="tqdm.tqdm")
        inner = site.arguments[0].value
        if inner.kind is Kind.LOADER or inner.kind is Kind.CONTAINER or inner.kind is Kind.PARAMETERS:
            return inner
        if inner.kind is Kind.UNKNOWN or inner.is_tensor:
            return inner.but(ident=None)
        return UNKNOWN

    # Contexts

    def manager_flags(self, node: cst.BaseExpression, manager: Value) -> frozenset[str]:
        """What entering a context manager means for the code in it."""
        call = node if isinstance(node, cst.Call) else None
        qual = manager.qual or ""
        arguments = {}
        first: Value | None = None
        if call is not None:
            function = self.eval_quietly(call.func)
            qual = function.qual or qual
            for argument in call.args:
                value = self.eval_quietly(argument.value)
                if argument.keyword is not None:
                    arguments[argument.keyword.value] = value
                elif first is None:
                    first = value
        flags: set[str] = set()
        if qual in ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode"):
            mode = arguments.get("mode", first)
            if mode is None or mode.const is True:
                flags.add("no_grad")
                if "inference_mode" in qual:
                    flags.add("inference_mode")
            elif mode.const is not False:
                flags.add("maybe_no_grad")
        elif qual in ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"):
            if first is not None and first.const is False:
                flags.add("no_grad")
            elif first is not None and first.const is True:
                flags.add("enable_grad")
            else:
                flags.add("maybe_no_grad")
        elif qual in ("torch.enable_grad", "torch.autograd.enable_grad"):
            flags.add("enable_grad")
        elif qual in ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"):
            flags.add("autocast")
            dtype = arguments.get("dtype")
            if dtype is not None and dtype.dtype:
                flags.add(f"autocast:{dtype.dtype}")
            if first is not None and first.device & DEVICE or ".cuda." in qual:
                self.model.accelerated = True
        elif qual in ("torch.profiler.profile", "torch.autograd.profiler.profile", "torch.autograd.profiler.emit_nvtx"):
            flags.add("profiler")
        elif qual in ("torch.autograd.detect_anomaly", "torch.autograd.set_detect_anomaly"):
            flags.add("anomaly")
        elif qual in ("torch.cuda.stream", "torch.Stream"):
            flags.add("stream")
        elif qual == "torch.cuda.graph":
            flags.add("graph capture")
        elif qual.endswith(".no_sync") or (
            call is not None and isinstance(call.func, cst.Attribute) and call.func.attr.value == "no_sync"
        ):
            flags.add("no_sync")
        elif qual == "torch.device" and first is not None:
            flags.add(f"device:{first.device or ANYWHERE}")
        return frozenset(flags)

    def entered(self, node: cst.BaseExpression, manager: Value) -> Value:
        """What `with manager as name` binds."""
        if manager.cls is not None:
            enter = manager.cls.find_method("__enter__")
            if enter is not None:
                self.called(enter, node)
                result = enter.returns
                return manager if result is None else self.instantiate(enter, result, {0: manager})
        if manager.fn is not None and manager.qual == "context manager":
            self.called(manager.fn, node, "enter")
            returns = manager.fn.returns
            return returns.elem if returns is not None and returns.elem is not None else UNKNOWN
        if manager.kind is Kind.UNKNOWN:
            return UNKNOWN
        return manager

    def left(self, node: cst.BaseExpression, manager: Value, statement: cst.CSTNode) -> None:
        """Leaving a context manager runs its `__exit__`."""
        if manager.cls is not None:
            leave = manager.cls.find_method("__exit__")
            if leave is not None:
                self.called(leave, statement)
        elif manager.fn is not None and manager.qual == "context manager":
            self.called(manager.fn, statement, "exit")


def _sure(operands: list[Value]) -> bool:
    return all(value.conf is Confidence.SURE for value in operands if value.is_tensor) and any(
        value.is_tensor for value in operands
    )


def _enumerated(receiver: Value) -> dict[Any, Value] | None:
    return dict(enumerate(receiver.items.values())) if receiver.items else None


_PARAMETERLESS = frozenset(
    """ReLU GELU SiLU Sigmoid Tanh Softmax LogSoftmax Dropout Dropout2d MaxPool1d MaxPool2d AvgPool2d Flatten Identity
    Upsample LeakyReLU ELU Softplus ReLU6 Hardtanh AdaptiveAvgPool2d AdaptiveMaxPool2d Unflatten Hardswish Mish
    CosineSimilarity PairwiseDistance ZeroPad2d PixelShuffle""".split()
)
_COMMON_METHODS = frozenset(
    """update append add step get set pop items values keys extend insert reset clear copy log write close read run
    sample save load format join split index count sort forward train eval backward record start stop""".split()
)
_MAPPING_METHODS = frozenset("items values keys get pop update setdefault".split())
_STRONG_TENSOR_METHODS = known.TENSOR_ONLY_METHODS - frozenset(
    "half type chunk exp log copy_ gather scatter pow flatten float double long abs square add_ view numel".split()
)
_WEAK_TENSOR_METHODS = frozenset(
    "view flatten float long double half abs square exp log pow chunk reshape transpose t copy_ gather scatter astype".split()
) - {"astype"}
_TENSOR_NAMESPACES = frozenset(
    """torch torch.nn.functional torch.linalg torch.fft torch.special torch.nn.utils torch.nn.utils.rnn torch.sparse
    torch.Tensor torch.autograd torch.ops torch._C torch.nn.attention""".split()
)

# Builtins and single functions of torch that need a word of their own.


def _number(reader: CallReader, site: sites.Call) -> Value:
    for argument in site.arguments[:1]:
        value = argument.value
        if value.kind is Kind.TENSOR:
            reader._host_read(value, site.node)
            return NUMBER.but(origins=(site.node,))
        if value.kind is Kind.NUMBER:
            return value if value.qual else NUMBER.but(const=value.const, origins=value.origins)
    return NUMBER


def _text(reader: CallReader, site: sites.Call) -> Value:
    for argument in site.arguments[:1]:
        reader.formatted(site.node, argument.node, argument.value, site.callee or "str")
    return STRING


def _print(reader: CallReader, site: sites.Call) -> Value:
    for argument in site.arguments:
        if argument.name is None:
            reader.formatted(site.node, argument.node, argument.value, "print")
    return NONE


def _bool(reader: CallReader, site: sites.Call) -> Value:
    for argument in site.arguments[:1]:
        reader.truth(site.node, argument.value, "bool")
    return NUMBER


def _len(reader: CallReader, site: sites.Call) -> Value:
    value = site.arguments[0].value if site.arguments else UNKNOWN
    return NUMBER.but(qual="tensor size") if value.kind in (Kind.TENSOR, Kind.BATCH, Kind.SHAPE) else NUMBER


def _range(reader: CallReader, site: sites.Call) -> Value:
    values = [argument.value for argument in site.arguments]
    sized = any(v.qual == "tensor size" for v in values)
    numbers = [v.const for v in values]
    count: object = MISSING
    if len(numbers) == 1 and isinstance(numbers[0], int):
        count = numbers[0]
    elif len(numbers) >= 2 and all(isinstance(n, int) for n in numbers):
        count = len(range(*numbers))
    return Value(
        Kind.CONTAINER,
        qual="range of tensor size" if sized else "range",
        elem=NUMBER.but(qual="index"),
        const=count,
        origins=(site.node,),
    )


def _enumerate(reader: CallReader, site: sites.Call) -> Value:
    inner = site.arguments[0].value if site.arguments else UNKNOWN
    element = reader.element(inner)
    index = NUMBER.but(qual="index")
    pair = Value(Kind.CONTAINER, qual="tuple", items={0: index, 1: element}, elem=element)
    return _like_iterable(inner, pair)


def _like_iterable(inner: Value, element: Value) -> Value:
    """An iterator over the same things in another form: what it iterates is still known."""
    if inner.kind in (Kind.LOADER, Kind.PARAMETERS, Kind.MODULE, Kind.TENSOR):
        return (
            inner.but(elem=element, ident=None, const=MISSING)
            if inner.kind is not Kind.TENSOR
            else Value(Kind.CONTAINER, qual="tensor size", elem=element, device=inner.device)
        )
    return Value(
        Kind.CONTAINER,
        qual=inner.qual if inner.qual in ("modules", "range of tensor size", "range", "tensor size") else "iterator",
        elem=element,
        items=None,
        const=inner.const if inner.qual == "range" else MISSING,
    )


def _zip(reader: CallReader, site: sites.Call) -> Value:
    inners = [argument.value for argument in site.arguments if argument.name is None]
    elements = [reader.element(value) for value in inners]
    pair = Value(
        Kind.CONTAINER, qual="tuple", items=dict(enumerate(elements)) if not site.opaque_arguments else None,
        elem=functools.reduce(join, elements) if elements else UNKNOWN,
    )  # fmt: skip
    for inner in inners:
        if inner.kind in (Kind.LOADER, Kind.PARAMETERS, Kind.MODULE):
            return inner.but(elem=pair, ident=None)
    for inner in inners:
        if inner.kind is Kind.TENSOR:
            return _like_iterable(inner, pair)
    return Value(Kind.CONTAINER, qual="iterator", elem=pair)


def _same_elements(reader: CallReader, site: sites.Call) -> Value:
    if not site.arguments:
        return Value(
            Kind.CONTAINER,
            qual=site.callee if site.callee in ("list", "tuple", "set") else "list",
            origins=(site.node,),
        )
    inner = site.arguments[0].value
    if inner.kind in (Kind.LOADER, Kind.PARAMETERS, Kind.MODULE):
        return inner.but(ident=None)
    if inner.kind is Kind.CONTAINER:
        if site.callee in ("list", "tuple", "set") and inner.qual not in ("modules",):
            return inner.but(
                qual=site.callee,
                origins=(site.node,),
                items=dict(inner.items) if inner.items and inner.qual in ("list", "tuple") else None,
            )
        return inner
    if inner.kind is Kind.SHAPE:
        return Value(Kind.CONTAINER, qual="list", elem=NUMBER.but(qual="tensor size"), items=inner.items)
    element = reader.element(inner)
    return Value(Kind.CONTAINER, qual="list", elem=element, origins=(site.node,))


def _next(reader: CallReader, site: sites.Call) -> Value:
    return reader.element(site.arguments[0].value) if site.arguments else UNKNOWN


def _map(reader: CallReader, site: sites.Call) -> Value:
    function = site.arguments[0].value if site.arguments else UNKNOWN
    if function.fn is not None:
        info = function.fn
        values: dict[int, Value] = {}
        start = 1 if function.bound is not None and info.method == "instance" else 0
        for offset, argument in enumerate(site.arguments[1:]):
            if start + offset < len(info.parameters):
                reader.pass_value(info.parameters[start + offset], site.node, reader.element(argument.value), values)
        reader.called(info, site.node)
        if info.returns is not None:
            return Value(Kind.CONTAINER, qual="iterator", elem=reader.instantiate(info, info.returns, values))
    if function.qual in ("float", "int", "str", "len", "bool"):
        return Value(Kind.CONTAINER, qual="iterator", elem=STRING if function.qual == "str" else NUMBER)
    return Value(Kind.CONTAINER, qual="iterator", elem=UNKNOWN)


def _filter(reader: CallReader, site: sites.Call) -> Value:
    return site.arguments[1].value if len(site.arguments) > 1 else UNKNOWN


def _extreme(reader: CallReader, site: sites.Call) -> Value:
    """`max`, `min`: one of the arguments, or of the elements."""
    values = [argument.value for argument in site.arguments if argument.name is None and not argument.star]
    if len(values) == 1:
        result = reader.element(values[0], values=True)
    elif values:
        result = functools.reduce(join, values)
    else:
        return UNKNOWN
    if result.kind is Kind.TENSOR:
        result = result.but(origins=(site.node,), ident=None)
        if not result.on_host:
            reader.effect(EffectKind.WAIT, site.node, result)
    elif result.kind is Kind.NUMBER:
        result = NUMBER.but(qual="tensor size") if any(v.qual == "tensor size" for v in values) else NUMBER
    return result


def _sum(reader: CallReader, site: sites.Call) -> Value:
    element = reader.element(site.arguments[0].value, values=True) if site.arguments else UNKNOWN
    if element.kind in (Kind.TENSOR, Kind.BATCH):
        return reader.launch(reader.tensor(site.node, [element], rank=element.rank, dtype=element.dtype), site.node)
    if element.kind is Kind.UNKNOWN:
        return element.but(origins=(site.node,), ident=None)
    return NUMBER


def _truths(reader: CallReader, site: sites.Call) -> Value:
    element = reader.element(site.arguments[0].value, values=True) if site.arguments else UNKNOWN
    if element.kind is Kind.TENSOR and not element.on_host:
        reader.effect(EffectKind.WAIT, site.node, element)
    return NUMBER


def _abs(reader: CallReader, site: sites.Call) -> Value:
    value = site.arguments[0].value if site.arguments else UNKNOWN
    if value.is_tensor:
        return reader.launch(reader.tensor(site.node, [value], dtype=value.dtype, rank=value.rank), site.node)
    return NUMBER if value.kind is Kind.NUMBER else value.but(ident=None)


def _getattr(reader: CallReader, site: sites.Call) -> Value:
    if len(site.arguments) < 2:
        return UNKNOWN
    base, name = site.arguments[0].value, site.arguments[1].value.const
    if isinstance(name, str):
        found = reader.attribute_of(base, identifier(name), site.node)
        if len(site.arguments) > 2 and found.kind is Kind.UNKNOWN:
            return UNKNOWN
        return found
    if base.kind is Kind.NAMESPACE and base.qual in ("torch.optim", "torch.nn"):
        return Value(Kind.FUNCTION, qual=f"{base.qual}.?")
    return UNKNOWN


def _setattr(reader: CallReader, site: sites.Call) -> Value:
    if len(site.arguments) == 3:
        base, name, value = (argument.value for argument in site.arguments)
        if base.cls is not None and isinstance(name.const, str):
            base.cls.store(name.const, site.node, value.but(ident=None, deps=0))
    return NONE


def _isinstance(reader: CallReader, site: sites.Call) -> Value:
    return NUMBER


def _super(reader: CallReader, site: sites.Call) -> Value:
    cls = reader.frame.info.cls
    if cls is None and reader.frame.info.parent is not None:
        cls = reader.frame.info.parent.cls
    parents = cls.parents() if cls is not None else []
    if parents:
        return reader.instance_of(parents[0])
    if cls is not None and reader.is_module(cls):
        return Value(Kind.MODULE, Confidence.LIKELY, device=ANYWHERE, graph=MAYBE, qual="super")
    return Value(Kind.OBJECT, qual="super")


def _dict_call(reader: CallReader, site: sites.Call) -> Value:
    items: dict[Any, Value] = {}
    elem: Value | None = None
    for argument in site.arguments:
        value = argument.value
        if argument.name is not None:
            items[argument.name] = value
            elem = value if elem is None else join(elem, value)
        elif value.kind is Kind.CONTAINER:
            items.update({k: v for k, v in (value.items or {}).items() if isinstance(k, str)})
            inner = reader.element(value, values=True)
            elem = inner if elem is None else join(elem, inner)
    return Value(Kind.CONTAINER, qual="dict", items=items or None, elem=elem, origins=(site.node,))


_BUILTIN_CALLS: dict[str, Callable[[CallReader, sites.Call], Value]] = {
    "float": _number,
    "int": _number,
    "complex": _number,
    "round": _number,
    "str": _text,
    "repr": _text,
    "format": _text,
    "print": _print,
    "bool": _bool,
    "len": _len,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "iter": _same_elements,
    "list": _same_elements,
    "tuple": _same_elements,
    "set": _same_elements,
    "sorted": _same_elements,
    "reversed": _same_elements,
    "next": _next,
    "map": _map,
    "filter": _filter,
    "max": _extreme,
    "min": _extreme,
    "sum": _sum,
    "any": _truths,
    "all": _truths,
    "abs": _abs,
    "getattr": _getattr,
    "setattr": _setattr,
    "isinstance": _isinstance,
    "hasattr": _isinstance,
    "callable": _isinstance,
    "super": _super,
    "dict": _dict_call,
}


def _device(reader: CallReader, site: sites.Call) -> Value:
    value = site.arguments[0].value if site.arguments else UNKNOWN
    if value.kind is Kind.NUMBER:
        return Value(Kind.DEVICE, device=DEVICE)
    if isinstance(value.const, str):
        return Value(Kind.DEVICE, device=device_bits(value.const) or ANYWHERE)
    if value.kind in (Kind.STRING, Kind.DEVICE, Kind.UNKNOWN):
        name = site.arguments[0].node if site.arguments else None
        if isinstance(name, cst.FormattedString):
            head = name.parts[0] if name.parts else None
            if isinstance(head, cst.FormattedStringText):
                return Value(Kind.DEVICE, device=device_bits(head.value) or ANYWHERE)
        return Value(Kind.DEVICE, device=value.device or ANYWHERE)
    return Value(Kind.DEVICE, device=ANYWHERE)


def _from_numpy(reader: CallReader, site: sites.Call) -> Value:
    data = site.arguments[0].value if site.arguments else UNKNOWN
    return Value(
        Kind.TENSOR, Confidence.SURE, device=HOST, graph=DETACHED, pinned=False, dtype=data.dtype, origins=(site.node,)
    )


def _load(reader: CallReader, site: sites.Call) -> Value:
    place = site.argument(1, "map_location")
    device = HOST | ANYWHERE
    if place is not None:
        device = place.value.device or ANYWHERE
    return Value(Kind.BATCH, Confidence.LIKELY, device=device, graph=DETACHED, origins=(site.node,))


def _compile(reader: CallReader, site: sites.Call) -> Value:
    if not site.arguments or site.arguments[0].name not in (None, "model"):
        return Value(Kind.FUNCTION, qual="torch.compile")
    value = site.arguments[0].value
    reader.compile_value(value, reader.wants_fullgraph(site.node))
    return value.but(ident=None)


def _no_grad_globally(reader: CallReader, site: sites.Call) -> Value:
    return Value(Kind.OBJECT, qual="torch.set_grad_enabled")


def _set_default_device(reader: CallReader, site: sites.Call) -> Value:
    value = site.arguments[0].value if site.arguments else UNKNOWN
    reader.model.default_device = value.device or ANYWHERE
    return NONE


def _cat(reader: CallReader, site: sites.Call) -> Value:
    parts = site.argument(0, "tensors")
    value = parts.value if parts is not None else UNKNOWN
    element = reader.element(value)
    operands = [element]
    if value.kind is Kind.CONTAINER and value.items:
        operands = [item for key, item in value.items.items() if isinstance(key, int)] or operands
    result = reader.tensor(
        site.node, operands, Confidence.SURE if _sure(operands) else Confidence.LIKELY, dtype=element.dtype
    )
    result.pinned = reader.pinned_after("cat", element, result)
    return reader.launch(result, site.node)


def _autograd_grad(reader: CallReader, site: sites.Call) -> Value:
    first = site.arguments[0].value if site.arguments else UNKNOWN
    reader.effect(EffectKind.BACKWARD, site.node, first)
    reader.effect(EffectKind.LAUNCH, site.node, first)
    for argument in site.arguments[:2]:  # what it runs from, and what it runs back to
        if not argument.star:
            reader.note_root(argument.node)
    create = site.argument(3, "create_graph")
    graph = ATTACHED if create is not None and create.value.const is True else DETACHED
    tensor = Value(
        Kind.TENSOR,
        Confidence.SURE,
        device=first.device or ANYWHERE,
        graph=graph,
        origins=(site.node,),
        deps=first.deps,
    )
    return Value(Kind.CONTAINER, qual="tuple", elem=tensor, origins=(site.node,))


def _backward(reader: CallReader, site: sites.Call) -> Value:
    if site.arguments:
        reader.effect(EffectKind.BACKWARD, site.node, site.arguments[0].value)
        reader.note_root(site.arguments[0].node)
    return NONE


def _clip(reader: CallReader, site: sites.Call) -> Value:
    reader.effect(EffectKind.LAUNCH, site.node)
    return Value(Kind.TENSOR, Confidence.SURE, device=ANYWHERE, graph=DETACHED, rank=0, origins=(site.node,))


def _cuda_number(reader: CallReader, site: sites.Call) -> Value:
    return NUMBER


def _foreach(reader: CallReader, site: sites.Call) -> Value:
    element = reader.element(site.arguments[0].value) if site.arguments else UNKNOWN
    tensor = reader.tensor(site.node, [element], Confidence.SURE)
    reader.launch(tensor, site.node)
    return Value(Kind.CONTAINER, qual="list", elem=tensor, origins=(site.node,))


_TORCH_CALLS: dict[str, Callable[[CallReader, sites.Call], Value]] = {
    "torch.device": _device,
    "torch.from_numpy": _from_numpy,
    "torch.from_dlpack": lambda reader, site: Value(Kind.TENSOR, device=ANYWHERE, graph=DETACHED, origins=(site.node,)),
    "torch.load": _load,
    "torch.compile": _compile,
    "torch.set_grad_enabled": _no_grad_globally,
    "torch.set_default_device": _set_default_device,
    **dict.fromkeys(
        [f"torch.{owner}.{name}_stream" for owner in ("cuda", "accelerator", "xpu") for name in ("current", "default")],
        lambda reader, site: Value(Kind.STREAM, qual="torch.cuda.Stream"),
    ),
    "torch.utils.data.random_split": lambda reader, site: Value(
        Kind.CONTAINER,
        qual="list",
        elem=site.arguments[0].value if site.arguments else Value(Kind.DATASET),
        origins=(site.node,),
    ),
    **dict.fromkeys(
        (
            "torch.cat",
            "torch.concat",
            "torch.concatenate",
            "torch.stack",
            "torch.hstack",
            "torch.vstack",
            "torch.dstack",
            "torch.block_diag",
        ),
        _cat,
    ),
    "torch.autograd.grad": _autograd_grad,
    "torch.autograd.backward": _backward,
    "torch.nn.utils.clip_grad_norm_": _clip,
    "torch.nn.utils.clip_grad_value_": lambda reader, site: NONE,
    **dict.fromkeys(
        """torch.cuda.is_available torch.cuda.device_count torch.cuda.current_device torch.cuda.memory_allocated
        torch.cuda.max_memory_allocated torch.cuda.memory_reserved torch.cuda.get_device_name torch.cuda.mem_get_info
        torch.cuda.get_device_properties torch.cuda.get_device_capability torch.cuda.is_bf16_supported""".split(),
        _cuda_number,
    ),
    **dict.fromkeys(
        [
            f"torch._foreach_{name}"
            for name in "add mul sub div sqrt neg norm exp abs pow lerp maximum minimum reciprocal".split()
        ],
        _foreach,
    ),
    "torch.Tensor.backward": _backward,
}

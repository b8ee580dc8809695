"""Calls and methods of modules, and of things that may be modules."""

from __future__ import annotations

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.knowledge.devices import MOVES, PLACING
from torchlint.semantics import sites
from torchlint.semantics.functions import EffectKind, FunctionInfo, Role
from torchlint.semantics.names import dotted
from torchlint.semantics.reading.elements import PARAMETER
from torchlint.semantics.reading.tensors import TensorReader
from torchlint.semantics.targets import bindings_in, loop_names
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    NONE,
    NUMBER,
    OWN_GRAPH,
    STRING,
    Kind,
    Value,
    grow,
)

MODULE_MOVES = frozenset(("cpu", "half", "float", "double", "bfloat16", "to_empty", *PLACING))
# Methods that give a module something to hold, or to copy into what it holds: they compute nothing.
_REGISTERS = frozenset(
    """register_buffer register_parameter add_module register_module load_state_dict append extend insert""".split()
)


_RETURNS_SELF = frozenset("train eval requires_grad_ apply compile_ share_memory zero_grad_".split())


# What no module is called with alone: `report(step, total)`.
_NO_INPUTS = frozenset({Kind.NUMBER, Kind.STRING, Kind.SHAPE, Kind.NONE, Kind.CLOCK})


_COMMON_METHODS = frozenset(
    """update append add step get set pop items values keys extend insert reset clear copy log write close read run
    sample save load format join split index count sort forward train eval backward record start stop""".split()
)


def _holds_modules(holder: Value, attribute: str) -> bool:
    """Whether what an object has under a name that is not known may be a module: not by the names of plain methods."""
    if holder.kind is Kind.MODULE:
        return True
    return holder.cls is not None and (attribute == "forward" or attribute not in _COMMON_METHODS)


class ModuleReader(TensorReader):
    """Evaluates calls of modules and of what is not known."""

    def follow_module(self, function: Value, site: sites.Call) -> None:
        """A batch given to a module that was moved to a device has been moved as well, or the call would fail."""
        if function.device & DEVICE:
            for argument in site.arguments:
                if argument.value.kind is Kind.BATCH and argument.value.on_host:
                    argument.value = argument.value.but(device=DEVICE | ANYWHERE, pinned=None)

    def processed(self, site: sites.Call) -> Value:
        """What a tokenizer or processor gives: it works on the host, whatever holds it."""
        return Value(Kind.BATCH, Confidence.LIKELY, device=HOST, graph=DETACHED, origins=(site.node,))

    def call_module(self, function: Value, site: sites.Call) -> Value:
        """A module whose forward is not in this file."""
        if any(argument.name == "return_tensors" for argument in site.arguments):
            return self.processed(site)
        self.effect(EffectKind.FORWARD, site.node, function)
        self.effect(EffectKind.LAUNCH, site.node, function)
        self.note_layers(site)
        self._note_options(site)
        known_module = (
            function.qual is not None and function.qual.startswith("torch.nn.") and function.qual.count(".") == 2
        )
        operands = [argument.value for argument in site.arguments]
        if known_module:
            last = (function.qual or "").rsplit(".", 1)[-1]
            loss = last.endswith("Loss")
            result = self.tensor(site.node, operands, Confidence.SURE if all_sure(operands) else Confidence.LIKELY)
            if not loss and last not in known.PARAMETERLESS and not self.grad_is_off():
                result.graph = ATTACHED
                result.deps |= OWN_GRAPH
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
        self.note_layers(site)
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

    def _note_options(self, site: sites.Call) -> None:
        """`model(ids, use_cache=True)`: that is asked of the modules of this file, whichever of them it is."""
        for argument in site.arguments:
            if isinstance(argument.value.const, bool):
                for forward in self.model.methods.get("forward", ()):
                    if forward.cls is not None and forward.cls.node in self.model.classes:
                        for parameter in forward.parameters:
                            if parameter.name == argument.name:
                                parameter.asked.add(argument.value.const)

    def note_layers(self, site: sites.Call) -> None:
        """A loop that calls the very modules it iterates is a loop over layers."""
        if not self.recording:
            return
        function = site.node.func
        if isinstance(function, cst.Subscript) and isinstance(function.slice[0].slice, cst.Index):
            function = function.slice[0].slice.value  # `self.blocks[i](x)`
        name = dotted(function)
        if name is None:
            return
        for context in self.context.enclosing_loops():
            assert context.node is not None
            if name.split(".", 1)[0] in self.once(_elements_of, context.node):
                assert context.loop is not None
                context.loop.calls_layers = True
                return

    def call_unknown(self, site: sites.Call) -> Value:
        """Something that nothing is known of; with tensors going in, or moved to a device, it acts as a module does."""
        function = site.function
        self.note_handed(site)
        if any(a.name == "return_tensors" for a in site.arguments):
            return self.processed(site)
        tensors = [a.value for a in site.arguments if a.value.is_tensor]
        unique = self.unique_method(site)
        if unique is not None:
            return self.call_own(unique, self.instance_of(unique.cls) if unique.cls is not None else None, site)
        holder = function.bound if function.bound is not None else site.receiver
        if site.method is None or (holder is not None and _holds_modules(holder, site.method)):
            # A parameter, an attribute or the result of an expression is called.
            given = function.deps or holder is not None
            if (
                function.device & DEVICE
                and site.arguments
                or any(v.conf >= Confidence.LIKELY for v in tensors)
                or any(a.value.kind is Kind.UNKNOWN and a.value.device == DEVICE for a in site.arguments)
                or (given and self.grad_is_off() and any(a.value.kind not in _NO_INPUTS for a in site.arguments))
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
                Kind.BATCH,
                conf,
                device=(base.device | (site.receiver.device if site.receiver else 0)) or ANYWHERE,
                graph=base.graph | MAYBE if base.graph != DETACHED or not self.grad_is_off() else DETACHED,
                origins=(site.node,),
                deps=base.deps,
            )
        device = function.device or ANYWHERE
        if site.receiver is not None and site.receiver.device and site.receiver.kind is Kind.UNKNOWN:
            device = site.receiver.device
        return Value(Kind.UNKNOWN, device=device, graph=MAYBE, origins=(site.node,), deps=function.deps)

    def note_handed(self, site: sites.Call) -> None:
        """`getattr(hook, name)(self, loss)`: remember what the method gets, which each caller names."""
        getter = site.function.origin
        if type(getter) is cst.Call and type(getter.func) is cst.Name and getter.func.value == "getattr":
            named = self.eval_quietly(getter.args[1].value).ident
            info = self.frame.info
            if named is not None and (named in info.named_methods or named in info.named_anywhere):
                info.handed[named] = [(a.name, a.value) for a in site.arguments if not a.star]

    def unique_method(self, site: sites.Call) -> FunctionInfo | None:
        """The one method of that name in the file, or else in all that is read, for a receiver of unknown kind."""
        receiver, method = site.receiver, site.method
        if receiver is None or method is None or receiver.qual or receiver.cls is not None:
            return None
        if receiver.kind not in (Kind.UNKNOWN, Kind.MODULE):
            return None
        everywhere = {info.cls for info in self.model.methods.get(method, ()) if info.cls is not None}
        here = {cls for cls in everywhere if cls.node in self.model.classes}
        if not here and self.model.is_ambiguous(method):
            return None
        # A method and those that override it are one.
        owners = [cls for cls in here or everywhere if not any(parent.find_method(method) for parent in cls.parents())]
        if len(owners) != 1 or method.startswith("__"):
            return None
        info = owners[0].methods[method]
        if info.method != "instance" or info.cls is None or info.role not in (Role.PLAIN, Role.STEP):
            return None
        given = sum(1 for argument in site.arguments if not argument.star)
        wanted = [p for p in info.parameters[1:] if not p.star]
        # What takes anything tells nothing by taking this: `*args` and `**kwargs` count beside what must be given.
        stars = {p.star for p in info.parameters[1:]} if any(p.default is None for p in wanted) else set()
        left = [a for a in site.arguments if a.name is not None and all(a.name != p.name for p in wanted)]
        if (left and "**" not in stars) or (given - len(left) > len(wanted) and "*" not in stars):
            return None
        required = sum(1 for p in wanted if p.default is None)
        if given < required and not site.opaque_arguments:
            return None
        if method in _COMMON_METHODS and given < 2 and all(a.value.kind is not Kind.MODULE for a in site.arguments):
            return None  # Python's own containers have it, though they take no module
        return info

    def call_unknown_torch(self, site: sites.Call) -> Value:
        operands = [a.value for a in site.arguments]
        self.effect(EffectKind.LAUNCH, site.node)
        base = self.tensor(site.node, operands, Confidence.LIKELY)
        return Value(
            Kind.BATCH, Confidence.LIKELY, device=base.device, graph=base.graph, origins=(site.node,), deps=base.deps
        )

    def module_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        """What a method of a module does and gives, where it is none of a class that is read."""
        node = site.node
        if method in MODULE_MOVES:
            return self._moved_module(receiver, method, site)
        if method in _RETURNS_SELF:
            if method == "requires_grad_" and site.arguments and site.arguments[0].value.const is False:
                return receiver.but(graph=DETACHED)
            return receiver
        if method == "compile":
            self.compile_value(receiver, self.wants_fullgraph(node))
            return NONE
        if method in _REGISTERS:
            self._register(receiver, site)
            return NONE
        if method == "zero_grad":
            self.effect(EffectKind.ZERO_GRAD, node, receiver)
            return NONE
        held = _held_by(receiver, method)
        if held is not None:
            return held
        if method == "forward" or method == "__call__":
            return self.call_module(receiver, site)
        if method == "backward" and site.arguments:  # an engine: DeepSpeed
            self.effect(EffectKind.BACKWARD, node, site.arguments[0].value)
            self.note_root(site.arguments[0].node)
            return NONE
        unique = self.unique_method(site)
        if unique is not None and unique.cls is not None:
            return self.call_own(unique, self.instance_of(unique.cls).but(device=receiver.device), site)
        return self._run_by_method(receiver, method, site)

    def _moved_module(self, receiver: Value, method: str, site: sites.Call) -> Value:
        """A module that a call moves or converts: it stays the one that it is."""
        device: int | None = receiver.device
        if method in MOVES:
            device = DEVICE
            self.model.accelerated = True
        elif method == "cpu":
            device = HOST
            self.host_read(receiver, site.node)
        elif method == "to" or method == "to_empty":
            target = self.target_of(site)
            device = target[0] if target is not None else receiver.device
        return receiver.but(device=device, ident=receiver.ident)

    def _register(self, receiver: Value, site: sites.Call) -> None:
        """A module is given a tensor or a module to hold."""
        if site.method in ("register_buffer", "register_parameter"):
            name = site.argument(0, "name")
            tensor = site.argument(1, "tensor") or site.argument(1, "param")
            if receiver.cls is None or tensor is None or name is None:
                return
            if isinstance(name.value.const, str):
                value = tensor.value
                if value.kind is Kind.TENSOR:
                    value = value.but(device=ANYWHERE, ident=None, deps=0)  # moves with its module
                self.store(receiver.cls, name.value.const, site.node, value)
        elif receiver.cls is None and site.arguments:
            part = site.arguments[-1].value
            part = self.element(part) if site.method == "extend" else part
            if part.kind is Kind.MODULE and part is not receiver:
                grow(receiver, part, None)

    def _acts_on_itself(self, site: sites.Call) -> bool:
        """Whether a module's own method calls one that it inherits, and drops what that gives: it sets something."""
        info = self.frame.info
        return (
            type(self.statement) is cst.Expr
            and self.statement.value is site.node
            and info.method == "instance"
            and type(site.receiver_node) is cst.Name
            and bool(info.parameters)
            and site.receiver_node.value == info.parameters[0].name
        )

    def _run_by_method(self, receiver: Value, method: str, site: sites.Call) -> Value:
        """A method that nothing is known of: with tensors, or on the device, it runs the module."""
        node = site.node
        if method == "generate" or any(a.value.is_tensor for a in site.arguments):
            if not self._acts_on_itself(site):
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


def _held_by(module: Value, method: str) -> Value | None:
    """What a method that only looks gives of what a module holds; None of other methods."""
    if method in ("parameters", "buffers"):
        return Value(Kind.PARAMETERS, device=module.device)
    if method in ("named_parameters", "named_buffers"):
        return Value(Kind.PARAMETERS, elem=_named(PARAMETER), device=module.device)
    if method in ("modules", "children"):
        return Value(Kind.CONTAINER, qual="modules", elem=_part_of(module, method))
    if method in ("named_modules", "named_children"):
        return Value(Kind.CONTAINER, qual="modules", elem=_named(_part_of(module, method)))
    if method == "state_dict":
        return Value(Kind.CONTAINER, qual="dict", elem=PARAMETER.but(graph=DETACHED, device=module.device or ANYWHERE))
    if method == "get_submodule":
        return Value(Kind.MODULE, Confidence.LIKELY, device=module.device, graph=MAYBE)
    if method == "values" and module.elem is not None:
        return Value(Kind.CONTAINER, qual="modules", elem=module.elem)
    if method == "items" and module.elem is not None:
        return Value(Kind.CONTAINER, qual="modules", elem=_named(module.elem))
    if method == "keys":
        return Value(Kind.CONTAINER, elem=STRING)
    if method in ("size", "device", "dim", "numel"):
        return NUMBER
    return Value(Kind.OBJECT, qual="torch.nn.Module.no_sync") if method == "no_sync" else None


def _named(value: Value) -> Value:
    """A name with what goes by it."""
    return Value(Kind.CONTAINER, qual="tuple", items={0: STRING, 1: value}, elem=value)


def _part_of(module: Value, method: str) -> Value:
    """One of the modules that a module holds: the children of a list or table of modules are what it has taken."""
    part = module.elem if method.endswith("children") else None
    if part is None or part.kind is not Kind.MODULE:
        return Value(Kind.MODULE, Confidence.LIKELY, device=module.device, graph=MAYBE)
    return part.but(conf=Confidence.LIKELY, device=module.device or ANYWHERE)


def all_sure(operands: list[Value]) -> bool:
    return all(value.conf is Confidence.SURE for value in operands if value.is_tensor) and any(
        value.is_tensor for value in operands
    )


def _elements_of(loop: cst.CSTNode) -> frozenset[str]:
    """The names of what a loop iterates, and of what its body takes by their number: `block = self.blocks[i]`."""
    names = loop_names(loop)
    for name, value in bindings_in(loop):
        if isinstance(value, cst.Subscript) and isinstance(value.slice[0].slice, cst.Index):
            index = value.slice[0].slice.value
            if isinstance(index, cst.Name) and index.value in names:
                names.add(name)
    return frozenset(names)

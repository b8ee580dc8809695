"""Calls: who is called, what that gives, and what it changes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.semantics import sites
from torchlint.semantics.functions import EffectKind, Role
from torchlint.semantics.names import dotted, identifier
from torchlint.semantics.reading.containers import Arguments
from torchlint.semantics.reading.managers import ManagerReader
from torchlint.semantics.reading.modules import MODULE_MOVES
from torchlint.semantics.values import (
    ANYWHERE,
    HOST,
    MAYBE,
    MAYBE_TENSORS,
    UNKNOWN,
    Kind,
    Value,
    join,
)

# The classes under whose names methods are known, by what a receiver is.
_CLASSES: Final = {
    Kind.TENSOR: "torch.Tensor",
    Kind.BATCH: "torch.Tensor",
    Kind.OPTIMIZER: "torch.optim.Optimizer",
    Kind.SCALER: "torch.amp.GradScaler",
    Kind.EVENT: "torch.cuda.Event",
    Kind.STREAM: "torch.cuda.Stream",
    Kind.NDARRAY: "numpy.ndarray",
    Kind.STRING: "str",
}
# What only modules have, among all that a file may hold.
_OF_MODULES: Final = frozenset("eval train parameters named_parameters modules named_modules children".split())


class CallReader(ManagerReader):
    """Evaluates calls."""

    def call(self, node: cst.Call) -> Value:
        function_node = node.func
        method: str | None = None
        receiver: Value | None = None
        receiver_node: cst.BaseExpression | None = None
        if type(function_node) is cst.Attribute:
            method = identifier(function_node.attr.value)
            receiver_node = function_node.value
            self.callees.add(function_node)
            function = self.eval(function_node)
            self.callees.discard(function_node)
            receiver = self.model.values.get(receiver_node) if self.recording else None
            if receiver is None:
                receiver = function.bound if function.bound is not None else self.eval_quietly(receiver_node)
            if receiver.kind is Kind.BATCH and method in _OF_MODULES:  # `torch.load` gave a whole model
                receiver = Value(Kind.MODULE, Confidence.LIKELY, receiver.device, MAYBE, origins=receiver.origins)
                self.rename(receiver_node, receiver)
                function = self.attribute_of(receiver, method, function_node)
        else:
            function = self.eval(function_node)
        arguments: Arguments = []
        for argument in node.args:
            value = self.eval(argument.value)
            keyword = identifier(argument.keyword.value) if argument.keyword is not None else None
            arguments.append(sites.Argument(keyword, argument.star, argument.value, value))
        callee = self.callee_name(function, receiver, method)
        site = sites.Call(
            node, callee, method, receiver, receiver_node, function, arguments, UNKNOWN, self.context, self.statement
        )
        result = self.apply(site)
        site.result = result
        if self.recording:
            self.sites.calls.append(site)
            if result.kind is Kind.OPTIMIZER and function.kind is Kind.CLASS:
                self.frame.info.begins = True
                for around in self.context.enclosing_loops()[:1]:
                    assert around.loop is not None
                    around.loop.begins = True
        if function.kind is not Kind.NAMESPACE and method is not None and receiver_node is not None:
            self.in_place(site)
        if function.fn is None and type(self.statement) is cst.Expr and self.statement.value is node:
            self.given_away(site)
        return result

    def callee_name(self, function: Value, receiver: Value | None, method: str | None) -> str | None:
        if function.fn is not None or (function.cls is not None and function.kind is Kind.CLASS):
            return None if function.qual in known.BUILTINS else function.qual  # a `sum` of the program's own
        if receiver is not None and method is not None:
            if receiver.kind in _CLASSES:
                return f"{_CLASSES[receiver.kind]}.{method}"
            if receiver.kind is Kind.MODULE and receiver.cls is None and function.kind is not Kind.MODULE:
                return f"torch.nn.Module.{method}"
            if receiver.kind is Kind.CONTAINER:
                return f"{receiver.qual if receiver.qual in ('list', 'dict', 'set', 'tuple') else 'list'}.{method}"
            if receiver.kind is Kind.OBJECT and receiver.qual and function.kind is not Kind.MODULE:
                return f"{receiver.qual}.{method}"
        if function.kind is Kind.MODULE:
            return function.qual
        return function.qual if function.kind in (Kind.FUNCTION, Kind.CLASS, Kind.NAMESPACE) else None

    def apply(self, site: sites.Call) -> Value:
        """What the call gives, after noting what it does."""
        function = site.function
        if function.choices:
            return self.apply_each(function.choices, site)
        if function.classes and function.kind is not Kind.CLASS:
            return self.apply_each([self.of_class(function, cls) for cls in function.classes], site)
        if site.receiver is not None and site.receiver.classes and site.method is not None:
            receivers = [self.of_class(site.receiver, cls) for cls in site.receiver.classes]
            return self.apply_each(
                [self.attribute_of(receiver, site.method, site.node.func) for receiver in receivers], site, receivers
            )
        if site.method in known.HOOK_REGISTRARS:
            self.register_hook(site, known.HOOK_REGISTRARS[site.method])
            return Value(Kind.OBJECT)
        if function.fn is not None:
            return self.call_own(function.fn, function.bound, site)
        if function.cls is not None:
            if function.kind is Kind.CLASS:
                made = self.construct(function.cls, site)
                return made if function.qual is not None else made.but(origins=())  # one of those below it: see `join`
            called = function.cls.find_method("forward" if function.kind is Kind.MODULE else "__call__")
            if called is None and function.kind is Kind.MODULE:
                return self.call_module(function, site)
            if called is None and not function.origins:  # only those below its class can be called
                called = next(iter(self.model.overrides(function.cls, "__call__")), None)
            if called is not None:
                if function.kind is Kind.MODULE:
                    self.effect(EffectKind.FORWARD, site.node, function)
                    self.effect(EffectKind.LAUNCH, site.node, function)
                    self.follow_module(function, site)
                else:
                    self.note_layers(site)
                result = self.call_own(called, function, site)
                if function.kind is Kind.MODULE and result.kind in MAYBE_TENSORS:
                    return self.module_output(function, site, result)
                return result
        receiver, method = site.receiver, site.method
        if receiver is not None and receiver.qual == "super" and method == "__init__":
            cls = self.frame.info.cls
            base = next((name for name in cls.base_names if name in known.LOADERS), None) if cls is not None else None
            if base is not None and cls is not None and cls.find_method("__iter__") is None:
                return self.loader(base, site)  # a loader of the program's own, by the options that it sets
        if receiver is not None and method is not None and function.kind not in (Kind.MODULE, Kind.NAMESPACE):
            given = self.call_method(receiver, method, site)
            if given is not None:
                return given
        if function.kind is Kind.MODULE:
            return self.call_module(function, site)
        if function.qual is not None and function.kind in (Kind.FUNCTION, Kind.CLASS, Kind.NAMESPACE):
            return self.call_external(function.qual, site)
        if function.kind is Kind.CLASS:
            return Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE, origins=(site.node,))
        return self.call_unknown(site)

    def apply_each(self, functions: Sequence[Value], site: sites.Call, receivers: Sequence[Value] = ()) -> Value:
        """What a call gives that is one of several: of the instances of unrelated classes, or of their methods."""
        function, receiver = site.function, site.receiver
        results = []
        for index, one in enumerate(functions):
            site.function = one
            if receivers:
                site.receiver = receivers[index]
            results.append(self.apply(site))
        site.function, site.receiver = function, receiver
        return functools.reduce(join, results)

    def register_hook(self, site: sites.Call, kind: str) -> None:
        """A function becomes a hook: it runs on every step, with what passes the module."""
        for argument in site.arguments:
            hook = argument.value.fn
            if hook is None and argument.value.kind is Kind.OBJECT and argument.value.cls is not None:
                hook = argument.value.cls.find_method("__call__")
            if hook is not None:
                hook.role = Role.HOOK
                hook.hook = kind
                beforehand = self.given_beforehand(argument.value, site)
                if beforehand:
                    self.bind_arguments(hook, argument.value.bound, replace(site, arguments=beforehand))

    def in_place(self, site: sites.Call) -> None:
        """Calls that change what their receiver's name stands for: `model.cuda()` alone, `x.add_(y)`."""
        receiver, method, node = site.receiver, site.method, site.receiver_node
        if receiver is None or node is None or method is None:
            return
        if method in MODULE_MOVES or method == "requires_grad_":
            if receiver.kind is Kind.MODULE:
                self.rename(node, site.result)
            elif (
                receiver.kind is Kind.UNKNOWN and type(self.statement) is cst.Expr and self.statement.value is site.node
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
            if type(node) is cst.Attribute:
                holder = self.eval_quietly(node.value)
                if holder.cls is not None:
                    self.store(holder.cls, identifier(node.attr.value), node, value.but(ident=None, deps=0))
        elif name in self.frame.env:
            self.frame.env[name] = value

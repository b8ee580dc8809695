"""TL805: a compiled region that is compiled again on every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._growth import grows, varies
from torchlint.rules._wording import because as because_hot
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.compile._regions import because, region
from torchlint.semantics import rounds, sites, surroundings
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import ClassInfo, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.values import Gate, Kind

_COMPILERS = ("torch.compile", "torch.nn.Module.compile")
_PAD_SEQUENCE = "torch.nn.utils.rnn.pad_sequence"
_CUDA_GRAPHS = ("reduce-overhead", "max-autotune")
_GROWS = frozenset("append extend insert appendleft".split())  # not a set, which may hold the same already


@dataclass(frozen=True, slots=True)
class _Compiled:
    """How something was compiled: `static` with `dynamic=False`, `captured` with CUDA graphs, one for each size."""

    node: cst.CSTNode
    static: bool
    captured: bool
    dynamic: bool = False  # it was told that sizes and numbers change


class RecompilePerStep(Rule):
    code = "TL805"
    name = "recompile-per-step"
    bottleneck = "compile"
    impact = Impact.HIGH
    summary = "A compiled region is compiled again on every step"
    torch = "2.0"
    words = ("compile",)
    words_travel = True

    # State that the compiled code reads

    def on_accumulate(self, site: sites.Accumulate, model: Model) -> Iterator[Report]:
        if (
            site.before.kind is not Kind.NUMBER
            and site.added.kind is not Kind.NUMBER
            or surroundings.in_test(site.context)
        ):
            return
        if _is_gated(site.context):
            return
        holder, _, attribute = site.target.rpartition(".")
        reader: FunctionInfo | None = None
        whole = not isinstance(site.added.const, float)
        if not holder:
            reader = self._reader_of_global(site.target, site.context, model)
        elif isinstance(site.target_node, cst.Attribute):
            cls = model.value(site.target_node.value).cls
            if cls is not None:
                whole = whole and _counts(cls, attribute)
                reader = self._reader_of_attribute(cls, attribute, site.context, model)
        if reader is not None:
            yield self._state(site.node, f"`{site.target}`", reader, site.context, model, whole=whole)

    def on_store(self, site: sites.Store, model: Model) -> Iterator[Report]:
        if site.how == "attribute":
            yield from self._on_attribute(site, model)
            return
        owner = site.context.owner
        name = site.owner_name or ""
        if site.how not in _GROWS or not name.startswith("self.") or owner is None:
            return
        function = region(site.context, model)
        if function is None or _is_gated(site.context) or _emptied(name, owner, model):
            return
        yield self._state(site.node, f"the length of `{name}`", function, site.context, model)

    def _on_attribute(self, site: sites.Store, model: Model) -> Iterator[Report]:
        """`model.step = step`: a loop's counter put where the compiled code reads it."""
        cls = site.owner.cls if site.owner is not None else None
        if cls is None or site.key is None or model.hot(site.context) is None:
            return
        number = site.value.kind is Kind.NUMBER
        if not number and site.value.kind is not Kind.UNKNOWN:
            return
        if not varies(site.stored, site.context, model) or isinstance(site.node, cst.AugAssign):
            return
        if region(site.context, model) is None and not _is_gated(site.context):
            reader = self._reader_of_attribute(cls, site.key, site.context, model)
            if reader is not None:
                whole = number and _is_whole(site.stored)
                what = f"`{site.owner_name}.{site.key}`"
                yield self._state(site.node, what, reader, site.context, model, whole=whole)

    def _reader_of_attribute(
        self, cls: ClassInfo, attribute: str, context: Context, model: Model
    ) -> FunctionInfo | None:
        """The compiled function that reads an attribute of a module of the class."""
        if not _is_module(cls):
            return None
        here = region(context, model)
        if here is not None:
            return here
        if model.hot(context) is None:
            return None
        for method in cls.methods.values():
            body = method.body
            if body is not None and region(body, model) is not None and _reads(method, f"self.{attribute}"):
                return method
        return None

    def _reader_of_global(self, name: str, context: Context, model: Model) -> FunctionInfo | None:
        """The compiled function that reads a global which code at `context` changes on every step."""
        functions = (f for f in model.functions.values() if f.body is not None and region(f.body, model) is not None)
        readers = [f for f in functions if _reads(f, name) and not _binds(f, name, model)]
        owner = context.owner
        if not readers or (model.hot(context) is None and region(context, model) is None):
            return None
        return readers[0] if owner is None or _declares_global(owner, name) else None

    def _state(
        self,
        node: cst.CSTNode,
        what: str,
        function: FunctionInfo,
        context: Context,
        model: Model,
        *,
        whole: bool = True,
    ) -> Report:
        """`whole`: it is an integer, or a length; a float becomes a symbol at its second value."""
        return Report(
            node,
            f"{what} changes on every step and `{function.qualname}`, which is compiled, is guarded on it: every call "
            "compiles again, until the limit is reached and it runs uncompiled",
            "keep it in a tensor (a buffer), or pass it as an argument",
            Confidence.LIKELY if whole else Confidence.POSSIBLE,
            (*because(function), *because_hot(model.hot(context))),
        )

    # Arguments

    def on_module(self, model: Model) -> Iterator[Report]:
        makers = [call for call in model.sites.calls if _makes_compiled(call)]
        bare = [f for f in model.functions.values() if any(d.qual == "torch.compile" for _, d in f.decorators)]
        if not makers and not bare:
            return
        marked = any((call.callee or "").endswith(".mark_dynamic") for call in model.sites.calls)
        for site in model.sites.calls:
            loop = next(iter(site.context.enclosing_loops()), None)
            if not site.arguments or site in makers:
                continue
            made = _compiled_by(site, makers, model)
            if made is not None and marked:
                made = replace(made, dynamic=True)
            if made is not None and not surroundings.in_test(site.context) and model.compiled(site.context) is None:
                yield from self._called(site, made, loop, model)

    def _called(self, site: sites.Call, made: _Compiled, loop: Context | None, model: Model) -> Iterator[Report]:
        hot = model.hot(site.context)
        if hot is None and (loop is None or site.context.rare or rounds.iterates(loop) is Iterates.EPOCHS):
            return
        for argument in site.arguments:
            what = self._changes(argument, site, made, loop, model)
            confidence = Confidence.LIKELY
            if what is None and not made.dynamic:
                # The compiler takes most of what changes for a symbol when it compiles for the second time.
                always = _Compiled(made.node, static=True, captured=True)
                what, confidence = self._changes(argument, site, always, loop, model), Confidence.POSSIBLE
            if what is not None:
                yield Report(
                    site.node,
                    f"{quote(argument.node)} {what}, and {quote(site.node.func)} is compiled for what it has seen: "
                    "every call compiles again, until the limit is reached and it runs uncompiled",
                    "pass one tensor that is written at a position, pad to a few sizes, or compile with `dynamic=True`",
                    confidence,
                    (("it is compiled here", made.node), *because_hot(hot)),
                )
                return

    def _changes(
        self, argument: sites.Argument, site: sites.Call, made: _Compiled, loop: Context | None, model: Model
    ) -> str | None:
        """In what way an argument is another thing on each round for the compiler; None where it is not."""
        value = argument.value
        if value.kind is Kind.CONTAINER and not argument.star:
            return "is longer on every round" if loop is not None and grows(argument.node, loop, model) else None
        if isinstance(argument.node, cst.FormattedString):
            return "is another text on every round" if varies(argument.node, site.context, model) else None
        if value.kind is Kind.NUMBER or (value.kind is Kind.UNKNOWN and _is_arithmetic(argument.node)):
            counter = varies(argument.node, site.context, model) and not isinstance(value.const, float)
            if counter and (made.static or _unrolls(argument, site)):
                return "is another number on every round"
            return None
        if made.static or made.captured:
            if loop is not None and grows(argument.node, loop, model):
                return "has another size on every round"
            if any(_pads_to_the_longest(loader, model) for loader in value.loaders):
                return "is as long as the longest row of its batch"
        return None


def _is_arithmetic(node: cst.BaseExpression) -> bool:
    """Whether an expression is written as a number: of names, literals and operators alone."""
    return not any(isinstance(part, (cst.Call, cst.Subscript, cst.Attribute)) for part in within([node]))


def _pads_to_the_longest(loader: cst.CSTNode, model: Model) -> bool:
    """Whether the function that a loader makes batches with pads each to its own longest row."""
    site = model.call(loader)
    given = site.argument(None, "collate_fn") if site is not None else None
    collate = given.value.fn if given is not None else None
    return collate is not None and any(
        call.callee == _PAD_SEQUENCE and call.context.owner is collate for call in model.sites.calls
    )


def _is_gated(context: Context) -> bool:
    """Whether the code runs on some steps only."""
    return any(
        link.scope is Scope.HANDLER or (link.scope is Scope.BRANCH and link.gate is not Gate.NONE)
        for link in context.in_function()
    )


def _is_module(cls: ClassInfo | None) -> bool:
    """Whether instances are modules: the compiler guards on their integers, not on those of other objects."""
    if cls is None:
        return False
    return "forward" in cls.methods or any(base.startswith("torch.nn.") for base in cls.base_names)


def _is_whole(node: cst.BaseExpression) -> bool:
    """Whether nothing in an expression makes its number a float."""
    return not any(isinstance(part, (cst.Divide, cst.Float, cst.Call)) for part in within([node]))


def _counts(cls: ClassInfo, attribute: str) -> bool:
    """Whether an attribute begins as an integer."""
    values = list(cls.stores.get(attribute, {}).values()) or list(filter(None, [cls.class_attributes.get(attribute)]))
    return any(type(value.const) is int for value in values)


def _reads(function: FunctionInfo, name: str) -> bool:
    return any(
        isinstance(node, (cst.Name, cst.Attribute)) and dotted(node) == name for node in within(function.body_nodes)
    )


def _binds(function: FunctionInfo, name: str, model: Model) -> bool:
    if any(parameter.name == name for parameter in function.parameters):
        return True
    bound = any(assign.context.owner is function for assign in model.sites.assigned(name))
    return bound and not _declares_global(function, name)


def _declares_global(function: FunctionInfo, name: str) -> bool:
    return any(
        isinstance(node, cst.Global) and any(item.name.value == name for item in node.names)
        for node in within(function.body_nodes)
    )


def _emptied(name: str, function: FunctionInfo, model: Model) -> bool:
    """Whether the function itself empties what it fills, or fills it anew."""
    return any(assign.context.owner is function for assign in model.sites.assigned(name)) or any(
        call.method in ("clear", "pop", "popleft") and call.context.owner is function and call.receiver_node is not None
        and dotted(call.receiver_node) == name
        for call in model.sites.calls
    )  # fmt: skip


def _makes_compiled(call: sites.Call) -> bool:
    return call.callee in _COMPILERS and bool(call.arguments or call.method == "compile")


def _compiled_by(site: sites.Call, makers: list[sites.Call], model: Model) -> _Compiled | None:
    """How what is called here was compiled; None where it was not."""
    name = dotted(site.node.func)
    for call in makers:
        given = call.argument(0, "model")
        made = given.value if given is not None else call.receiver
        if made is not None and (
            (made.fn is not None and made.fn is site.target)
            or (made.cls is not None and made.kind is Kind.MODULE and made.cls is site.function.cls)
        ):
            return _options(call)
        if name is not None and any(assign.name == name for assign in model.sites.given_by(call.node)):
            return _options(call)
    for node, decorator in site.target.decorators if site.target is not None else ():
        made_by = model.call(node)
        if made_by is not None and made_by.callee == "torch.compile":
            return _options(made_by)
        if decorator.qual == "torch.compile":
            return _Compiled(node, static=False, captured=False)
    return None


def _options(call: sites.Call) -> _Compiled:
    dynamic, mode = call.argument(None, "dynamic"), call.argument(None, "mode")
    return _Compiled(
        call.node,
        static=dynamic is not None and dynamic.value.const is False,
        captured=mode is not None and mode.value.const in _CUDA_GRAPHS,
        dynamic=dynamic is not None and dynamic.value.const is not False,
    )


def _unrolls(argument: sites.Argument, site: sites.Call) -> bool:
    """Whether the compiled function counts up to the argument: the compiler unrolls such a loop."""
    if site.target is None:
        return False
    names = [p.name for p in site.target.parameters if site.target.method != "instance" or p.index]
    index = next((i for i, other in enumerate(site.arguments) if other is argument), 0)
    name = argument.name or (names[index] if index < len(names) else None)
    return any(
        isinstance(node, cst.For)
        and isinstance(node.iter, cst.Call)
        and dotted(node.iter.func) == "range"
        and name in names_read(node.iter)
        for node in within(site.target.body_nodes)
    )

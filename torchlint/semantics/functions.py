"""What is known of the functions and classes of a file: the summaries that let callers see through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge.names import EXITS, MEMOS
from torchlint.semantics.asking import question
from torchlint.semantics.enumeration import Enumeration
from torchlint.semantics.names import dotted
from torchlint.semantics.values import MISSING, Kind, Value, join_optional

if TYPE_CHECKING:
    from torchlint.semantics.contexts import Asked, Context


class Role(Enumeration):
    """What a function is for, as its class, its name's contract or its decorators tell."""

    PLAIN = "plain"
    FORWARD = "forward"  # an nn.Module's forward
    STEP = "step"  # training_step and relatives, compute_loss: once per step by contract
    OPTIMIZER_STEP = "optimizer step"
    AUTOGRAD = "autograd"  # forward or backward of a torch.autograd.Function
    HOOK = "hook"  # a forward or backward hook
    WORKER = "worker"  # runs in a loader worker: Dataset methods, collate functions
    SETUP = "setup"  # construction, loading, saving, exporting
    TEST = "test"


HOT_ROLES = frozenset({Role.FORWARD, Role.STEP, Role.OPTIMIZER_STEP, Role.AUTOGRAD, Role.HOOK})
COLD_ROLES = frozenset({Role.SETUP, Role.TEST, Role.WORKER})


OF_TENSOR = " tensor"  # stands in an ask for a text: that the argument is a tensor


class EffectKind(Enumeration):
    """What running a line does to the two timelines."""

    CLOCK = "clock"  # reads a host clock
    WAIT = "wait"  # the host waits for all work it launched
    LAUNCH = "launch"  # puts work on the device
    BACKWARD = "backward"
    OPTIMIZER_STEP = "optimizer step"
    ZERO_GRAD = "zero grad"
    FORWARD = "forward"  # calls a module
    PLAY = "play"  # a simulator takes a step: `obs, reward, done, info = env.step(action)`
    CALL = "call"  # calls a function of this file: its effects follow in its own list
    RECORD = "record"  # records an event
    ELAPSED = "elapsed"  # reads the time between two events
    YIELD = "yield"  # hands control to whoever iterates, or to the body of a `with`


@dataclass(slots=True)
class Effect:
    """One effect, in the order of evaluation within its function."""

    kind: EffectKind
    node: cst.CSTNode
    context: Context
    value: Value | None = None  # what it acts on: the backward's root, the module called, the clock's value
    callee: FunctionInfo | None = None  # with CALL
    part: str = ""  # with CALL of a generator behind a `with`: "enter" up to its yield, "exit" after it


@dataclass(slots=True, eq=False)
class CallerSite:
    """A place that calls a function of this file."""

    node: cst.CSTNode
    context: Context
    rounds: Context | None = None  # the loop that iterates what the call gives


@dataclass(slots=True, eq=False)
class Parameter:
    """A parameter: what its annotation and default tell, and what its callers pass."""

    name: str
    index: int
    annotation: cst.BaseExpression | None
    default: cst.BaseExpression | None
    declared: Value | None = None  # from annotation and default
    passed: dict[cst.CSTNode, Value] = field(default_factory=dict)  # by call site in this file
    star: str = ""  # "*" or "**"
    # Truths that the file gives by this name to modules of which it is not known whether they are of this class.
    asked: set[bool] = field(default_factory=set)

    def told(self, given: Value, text: str) -> bool | None:
        """Whether what a call gives is true, or is that text, or a tensor; None where that is not known."""
        if text == OF_TENSOR:
            if given.kind is Kind.TENSOR:
                return True if given.conf is not Confidence.POSSIBLE and not given.optional else None
            return False if given.is_no_tensor else None
        if given.const is MISSING:
            return None
        return bool(given.const == text) if text else bool(given.const)

    def left_out(self, text: str) -> bool | None:
        """The same where no call gives anything, by its default; None where it is no switch."""
        default = self.default
        if text == OF_TENSOR:
            return None
        if text:
            return default.raw_value == text if isinstance(default, cst.SimpleString) else None
        return {"True": True, "False": False}.get(default.value) if isinstance(default, cst.Name) else None


@dataclass(slots=True, eq=False)
class FunctionInfo:
    """A function or method, its body's summary, and where it is called."""

    node: cst.FunctionDef | cst.Lambda | cst.Module  # the module's own body is a function as well
    name: str
    qualname: str
    cls: ClassInfo | None
    parent: FunctionInfo | None
    context: Context | None  # where it is defined; None for the module
    parameters: list[Parameter] = field(default_factory=list)
    decorators: list[tuple[cst.BaseExpression, Value]] = field(default_factory=list)
    role: Role = Role.PLAIN
    method: str = ""  # "", "instance", "class", "static", "property"
    is_abstract: bool = False  # its body only says that a subclass does the work
    is_context_manager: bool = False  # decorated with contextlib.contextmanager
    hook: str = ""  # with the role HOOK, what it is given: see `knowledge.names.HOOK_REGISTRARS`
    body: Context | None = None
    # What callers had passed for each parameter when its body was read last.
    taken: list[dict[cst.CSTNode, Value]] = field(default_factory=list)
    # What its parameters hold where its body is read, by index: the device and graph bits its own values may come from.
    entry: dict[int, tuple[int, int]] = field(default_factory=dict)
    # The summary.
    returns: Value | None = None
    return_sites: list[tuple[cst.CSTNode, Value, Context]] = field(default_factory=list)
    # What it returns on each way, with what must be true of its parameters there; empty where all ways ask for nothing.
    ways: list[tuple[Asked, Value]] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    callers: list[CallerSite] = field(default_factory=list)
    is_generator: bool = False
    no_grad: bool = False  # a decorator turns autograd off
    begins: bool = False  # it makes optimizers: what it trains begins anew with each call
    held: frozenset[str] | None = None  # the flags of the `with` around each of its yields
    compiled: bool = False  # a decorator or a call of torch.compile covers it
    fullgraph: bool = False
    uncompiled: bool = False  # a decorator keeps the compiler out of it and of what it calls
    stored: int = 0  # parameters, as bits, put where they outlive the call
    # Parameters, by index, that name a method to call, with what it is called on: `getattr(hook, name)(...)`.
    named_methods: dict[int, Value] = field(default_factory=dict)
    named_anywhere: set[int] = field(default_factory=set)  # the same, where nothing is known of what it is called on
    handed: dict[int, list[tuple[str | None, Value]]] = field(default_factory=dict)  # by these, what those are given
    attributes: list[tuple[ClassInfo, str, cst.CSTNode]] = field(default_factory=list)  # what it stores in objects
    stores: list[tuple[ClassInfo, str, cst.CSTNode]] = field(default_factory=list)  # the same, and the fields it fills
    # How much was known of the attributes that it read when its body was read last, where that may have become more.
    read_early: dict[tuple[ClassInfo, str], int] = field(default_factory=dict)
    passed_on: bool = False  # used as a value: it may be called from anywhere
    # Names (`loss`, `self.total`) to the attributes used on them, and those on which backward is called.
    duck: dict[str, set[str]] = field(default_factory=dict)
    roots: set[str] = field(default_factory=set)
    terms: set[str] = field(default_factory=set)  # of the roots, those that surely have a graph
    flows: dict[str, set[str]] = field(default_factory=dict)  # a name to the names whose sum or product it is
    sums: dict[str, set[str]] = field(default_factory=dict)  # a name to those of them that are terms, not mere factors
    returned: set[str] = field(default_factory=set)  # names in its return expressions
    answers: dict[object, Any] = field(default_factory=dict)  # to questions about it that were asked once

    @property
    def body_nodes(self) -> list[cst.CSTNode]:
        """What its body is made of: one suite or expression, or the statements of the module."""
        body = self.node.body
        return [body] if isinstance(body, cst.CSTNode) else list(body)

    @property
    def keeps_result(self) -> bool:
        """Whether what a call gives is kept: further calls with the same arguments do nothing."""
        return any(decorator.qual in MEMOS for _, decorator in self.decorators)

    @property
    def always_fails(self) -> bool:
        """Whether all that a call comes to is an error: somebody's unfinished work, and no step of a program."""
        body = self.node.body
        last = body.body[-1] if type(body) is cst.IndentedBlock and body.body else None
        raises = type(last) is cst.SimpleStatementLine and type(last.body[-1]) is cst.Raise
        return raises and not self.return_sites and not self.is_generator

    @property
    def ends_program(self) -> bool:
        """Whether all that a call comes to is the end of the process: no loop goes on to call it again."""
        body: object = self.node.body
        while type(body) is cst.IndentedBlock and body.body:
            last = body.body[-1]
            if type(last) is cst.Try and last.finalbody is not None:
                body = last.finalbody.body
                continue
            call = last.body[-1] if type(last) is cst.SimpleStatementLine else None
            made = call.value if type(call) is cst.Expr else None
            return type(made) is cst.Call and dotted(made.func) in EXITS
        return False

    def outward(self) -> Iterator[FunctionInfo]:
        """The function and those that it is defined in, the innermost first."""
        function: FunctionInfo | None = self
        while function is not None:
            yield function
            function = function.parent

    @question(False)
    def does(self, kinds: frozenset[EffectKind]) -> bool:
        """Whether a call of it has one of these effects, itself or through the functions that it calls."""
        return any(
            effect.kind in kinds or (effect.callee is not None and effect.callee.does(kinds)) for effect in self.effects
        )

    def note_flow(self, name: str, factors: set[str], terms: set[str]) -> None:
        """Remember what a name is a sum or product of."""
        for flows, sources in ((self.flows, factors), (self.sums, terms)):
            if sources - {name}:
                flows.setdefault(name, set()).update(sources - {name})

    def needs_graph(self, name: str) -> bool:
        """Whether a backward in this function may run through the name: as a term or a factor of what it runs on."""
        return _reaches(self.roots, self.flows, name)

    def has_graph(self, name: str) -> bool:
        """Whether a graph must hang on the name: it is what backward runs on, or a term of that."""
        return _reaches(self.terms, self.sums, name)


def _reaches(roots: set[str], flows: dict[str, set[str]], name: str) -> bool:
    seen: set[str] = set()
    todo = list(roots)
    while todo:
        root = todo.pop()
        if root == name:
            return True
        if root not in seen:
            seen.add(root)
            todo.extend(flows.get(root, ()))
    return False


@dataclass(slots=True, eq=False)
class ClassInfo:
    """A class: its bases, methods, and what its instances hold."""

    node: cst.ClassDef
    name: str
    qualname: str
    context: Context
    bases: list[Value] = field(default_factory=list)
    _parents: tuple[list[Value], list[ClassInfo]] = field(init=False, default=([], []))
    base_names: tuple[str, ...] = ()  # qualified names of all known ancestors, nearest first
    methods: dict[str, FunctionInfo] = field(default_factory=dict)
    stores: dict[str, dict[cst.CSTNode, Value]] = field(default_factory=dict)  # `self.name = ...`, by statement
    class_attributes: dict[str, Value] = field(default_factory=dict)
    duck: dict[str, set[str]] = field(default_factory=dict)  # attribute to what is used on it
    roots: set[str] = field(default_factory=set)  # attributes on which backward is called
    instances: list[cst.CSTNode] = field(default_factory=list)  # the calls that construct it
    subclasses: list[ClassInfo] = field(default_factory=list)  # the direct ones that are read
    compiled: bool = False
    fullgraph: bool = False

    def store(self, name: str, node: cst.CSTNode, value: Value) -> None:
        """Note that a statement gives the attribute a value; a later reading of the same statement replaces it."""
        self.stores.setdefault(name, {})[node] = value

    def parents(self) -> list[ClassInfo]:
        """Base classes that are read."""
        bases, found = self._parents
        if bases is not self.bases:  # asked more often than all else
            found = [base.cls for base in self.bases if base.cls is not None]
            self._parents = self.bases, found
        return found

    def find_method(self, name: str, _depth: int = 0) -> FunctionInfo | None:
        """The method of that name, here or in a base class."""
        method = self.methods.get(name)
        if method is None and _depth < 8:
            for parent in self.parents():
                method = parent.find_method(name, _depth + 1)
                if method is not None:
                    break
        return method

    def overrides(self, name: str) -> list[FunctionInfo]:
        """The methods of that name that the classes below have: what runs where an instance is one of those.

        They may have them from others of their bases, as from a mixin.
        """
        own = self.find_method(name) if self.subclasses else None
        found: list[FunctionInfo] = []
        todo, seen = list(self.subclasses), {self}
        while todo:
            cls = todo.pop()
            if cls not in seen:
                seen.add(cls)
                todo += cls.subclasses
                method = cls.find_method(name)
                if method is not None and method is not own and method not in found:
                    found.append(method)
        return found

    def common_base(self, other: ClassInfo) -> ClassInfo | None:
        """The nearest class that both are, or descend from."""
        theirs = other.lineage()
        return next((cls for cls in self.lineage() if cls in theirs), None)

    def lineage(self) -> list[ClassInfo]:
        """The class and those it descends from, nearest first."""
        found = [self]
        for cls in found:  # grows meanwhile
            found += [parent for parent in cls.parents() if parent not in found]
        return found

    def find_attribute(self, name: str, _depth: int = 0) -> Value | None:
        """What `self.name` holds, as far as any method of the class or its bases tells."""
        value: Value | None = None
        for stored in self.stores.get(name, {}).values():
            value = join_optional(value, stored)
        if value is None:
            value = self.class_attributes.get(name)
        if value is None and _depth < 8:
            for parent in self.parents():
                value = parent.find_attribute(name, _depth + 1)
                if value is not None:
                    break
        return value

    def is_a(self, *names: str) -> bool:
        """Whether one of the qualified names is among its ancestors."""
        return any(name in self.base_names for name in names)

"""The one pass over a file: statements, scopes, branches and loops.

An abstract interpreter: it walks each function in the order of evaluation with an environment from names to values.
Branches are walked apart and joined; the body of a loop is walked twice, so that its second round sees its first; a
function of the file is summarised once, and its parameters are the join of what its call sites pass.

A file is read in two stages. In the first, nothing is recorded: it collects summaries, what callers pass, what classes
hold and how names are used. The second records every site once, with what the first has learned.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import CallerSite, EffectKind, FunctionInfo, Role
from torchlint.semantics.reading.attributes import known_of
from torchlint.semantics.reading.base import Env, Frame
from torchlint.semantics.reading.statements import StatementReader
from torchlint.semantics.values import (
    NONE,
    UNKNOWN,
    Kind,
    Value,
    holds_functions,
    join,
    same,
)

if TYPE_CHECKING:
    from torchlint.semantics.model import Model


class Interpreter(StatementReader):
    """Reads one module into a `Model`."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.active: set[FunctionInfo] = set()
        self.read_with: dict[FunctionInfo, tuple[object, ...]] = {}  # what was known of its arguments
        self.done: set[FunctionInfo] = set()
        self.pull = True  # read a callee at once where its summary is missing
        self.begun = False

    def read_names(self) -> None:
        """Read the module's own body, once, so that other files find what it defines."""
        if not self.begun:
            self.begun = True
            self.read_module(self.model.module, self.model.root)

    def names(self) -> Env:
        """What the module binds, as far as its body was read."""
        return self.module_frame.env

    def learn(self) -> bool:
        """Read the functions of which more is known than when they were last read; whether there were any."""
        self.done.clear()
        stale = [info for info in self.frames if self._is_stale(info)]
        for info in stale:
            if self._is_stale(info):  # still: where it was called since, it was read
                self.read_function(info)
        self._drain()
        return bool(stale)

    def _is_stale(self, info: FunctionInfo) -> bool:
        """Whether more is known of what a function is given, or looks at, than when it was last read."""
        return (
            self.parameters_of(info) != self.read_with.get(info)
            or any(known_of(cls.find_attribute(name)) > known for (cls, name), known in info.read_early.items())
            or any(
                holds_functions(self.registers[node]) and not same(self.registers[node].elem, found)
                for node, found in self.looked_up.get(info, {}).items()
            )
        )

    def forget_callers(self) -> None:
        """Before the second stage, which finds the callers again."""
        for info in self.model.functions.values():
            info.callers.clear()
        for cls in self.model.classes.values():
            cls.instances.clear()

    def record(self) -> None:
        """The second stage: read everything once more, and record the sites."""
        self.pull = False
        self.recording = True
        self.done.clear()
        self.read_module(self.model.module, self.model.root)
        self._drain()

    def _drain(self) -> None:
        while self.pending:
            info, _ = self.pending.pop(0)
            if info not in self.done and (self.recording or self._is_stale(info)):
                self.read_function(info)

    def read_module(self, module: cst.Module, root: FunctionInfo) -> None:
        self.context = Context(Scope.MODULE, module, None, function=root)
        root.role = Role.TEST if self.model.is_test_file else Role.PLAIN
        root.body = self.context
        root.effects.clear()
        self.frame = self.module_frame = Frame(root, None)
        self.block(module.body)

    def read_function(self, info: FunctionInfo) -> None:
        """Walk a function's body once and renew its summary."""
        node = info.node
        if info in self.active or info not in self.frames or isinstance(node, cst.Module):
            return
        self.active.add(info)
        self.done.add(info)
        saved = (self.frame, self.context, self.statement)
        frame = Frame(info, self.frames[info])
        self.frame = frame
        body = Context(Scope.FUNCTION, info.node, info.context, function=info)
        info.body = body
        self.context = body
        info.effects = []
        info.read_early.clear()
        self.looked_up.pop(info, None)
        info.return_sites = []
        before = len(self.model.values)
        if not self.recording:
            self.read_with[info] = self.parameters_of(info)
            # What it stored when less was known would outweigh what it stores now.
            for cls, name, statement in info.attributes:
                cls.stores[name].pop(statement, None)
            info.attributes.clear()
            info.stores.clear()
        info.taken = [parameter.passed.copy() for parameter in info.parameters]
        info.is_generator = False
        info.held = None
        info.begins = False
        self.bind_parameters(info)
        if isinstance(node, cst.Lambda):
            self.statement = saved[2]
            frame.results.append(self.eval(node.body))
        else:
            falls_through = not self.suite(node.body)
            if falls_through and frame.results:
                frame.results.append(NONE)
                frame.ways.append((frozenset(), NONE))
        if frame.yields:
            info.is_generator = True
            elem = functools.reduce(join, frame.yields)
            passed = frame.passes.pop() if len(frame.passes) == 1 else None
            if passed is None:
                info.returns = Value(Kind.CONTAINER, elem=elem, origins=(node,))
            else:  # iterating it gives what iterating the argument gives
                info.returns = UNKNOWN.but(elem=elem, ident=passed, origins=(node,))
        else:
            info.returns = self.as_declared(functools.reduce(join, frame.results) if frame.results else NONE, node)
            info.ways = frame.ways if any(asks for asks, _ in frame.ways) else []
        self.frame, self.context, self.statement = saved
        self.active.discard(info)
        if self.recording:
            self.sites.functions.append(sites.Function(node, info))
            if not isinstance(node, cst.Lambda):  # which is read where it stands, amid others
                self.model.recorded.append((before, len(self.model.values), node))

    def as_declared(self, value: Value, node: cst.FunctionDef | cst.Lambda | cst.Module) -> Value:
        """What a function gives: what its annotation says, where that is a number or text and its body tells less."""
        returns = node.returns if isinstance(node, cst.FunctionDef) else None
        if returns is None or value.kind not in (Kind.UNKNOWN, Kind.BATCH):
            return value
        declared = self.annotated(returns.annotation)
        return declared if declared.kind in (Kind.NUMBER, Kind.STRING) else value

    def called(self, info: FunctionInfo, node: cst.CSTNode, part: str = "") -> None:
        """Record that a function of this file is called here."""
        if self.recording:
            self.model.home[node] = self.model
            if part in ("", "created"):
                info.callers.append(CallerSite(node, self.context))
            if part != "created":
                self.effect(EffectKind.CALL, node, None, info, part)
        elif self.pull and info.returns is None:
            self.home_of(info).read_function(info)

    def home_of(self, info: FunctionInfo) -> Interpreter:
        """The reader of the file that a function stands in."""
        project = self.model.project
        home = project.reader_of(info) if project is not None and info not in self.frames else None
        return home or self

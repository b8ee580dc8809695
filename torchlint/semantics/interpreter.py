"""The one pass over a file: statements, scopes, branches and loops.

An abstract interpreter: it walks each function in the order of evaluation with an environment from names to values.
Branches are walked apart and joined; the body of a loop is walked twice, so that its second round sees its first; a
function of the file is summarised once, and its parameters are the join of what its call sites pass.

A file is read in two stages. In the first, nothing is recorded: it collects summaries, what callers pass, what classes
hold and how names are used. The second records every site once, with what the first has learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics import sites
from torchlint.semantics.calls import CallReader
from torchlint.semantics.expressions import MAKES_GRAPHS
from torchlint.semantics.contexts import Context, LoopFacts, Scope
from torchlint.semantics.functions import (
    CallerSite,
    ClassInfo,
    Effect,
    EffectKind,
    FunctionInfo,
    Parameter,
    Role,
)
from torchlint.semantics.names import dotted, factors, identifier, terms
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    MAYBE,
    MISSING,
    NONE,
    UNKNOWN,
    Gate,
    Kind,
    Value,
    join,
    same,
)

if TYPE_CHECKING:
    from torchlint.semantics.model import Model

Env = dict[str, Value]


class Frame:
    """A function's (or the module's, or a class body's) walk: its environment and where names outside it are found."""

    __slots__ = ("breaks", "cls", "continues", "env", "info", "nonlocals", "parent", "results", "yields")

    def __init__(self, info: FunctionInfo, parent: Frame | None, cls: ClassInfo | None = None) -> None:
        self.info = info
        self.parent = parent
        self.cls = cls  # of a class body
        self.env: Env = {}
        self.results: list[Value] = []
        self.yields: list[Value] = []
        self.continues: list[list[Env]] = []
        self.breaks: list[list[Env]] = []
        self.nonlocals: set[str] = set()


class Interpreter(CallReader):
    """Reads one module into a `Model`."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.pending: list[tuple[FunctionInfo, Frame]] = []
        self.active: set[FunctionInfo] = set()
        self.frames: dict[FunctionInfo, Frame] = {}  # where a function is defined: its closure
        self.read_with: dict[FunctionInfo, tuple[Value, ...]] = {}
        self.done: set[FunctionInfo] = set()
        self.pull = True  # read a callee at once where its summary is missing
        self.begun = False

    # The two stages

    def read_names(self) -> None:
        """Read the module's own body, once, so that other files find what it defines."""
        if not self.begun:
            self.begun = True
            self.read_module(self.model.module, self.model.root)

    def names(self) -> Env:
        """What the module binds, as far as its body was read."""
        return self.module_frame.env

    def learn(self) -> bool:
        """Read the functions that are new, or of which more is known than when they were read; whether there were any."""
        self.done.clear()
        stale = [info for info in self.frames if self.parameters_of(info) != self.read_with.get(info)]
        for info in stale:
            self.read_function(info)
        self._drain()
        return bool(stale)

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
            if info not in self.done:
                self.read_function(info)

    def read_module(self, module: cst.Module, root: FunctionInfo) -> None:
        self.context = Context(Scope.MODULE, module, None, function=root)
        root.role = Role.TEST if self.model.is_test_file else Role.PLAIN
        root.body = self.context
        root.effects.clear()
        self.frame = self.module_frame = Frame(root, None)
        self.block(module.body)

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
                        id(value.cls),
                        id(value.fn),
                        value.pinned,
                        value.dtype,
                    )
                )
            facts.append(None)
        return tuple(facts)

    def read_function(self, info: FunctionInfo) -> None:
        """Walk a function's body once and renew its summary."""
        if info in self.active or info not in self.frames:
            return
        self.active.add(info)
        self.done.add(info)
        self.read_with[info] = self.parameters_of(info)  # type: ignore[assignment]
        saved = (self.frame, self.context, self.statement)
        frame = Frame(info, self.frames[info])
        self.frame = frame
        body = Context(Scope.FUNCTION, info.node, info.context, function=info)
        info.body = body
        self.context = body
        info.effects = []
        info.return_sites = []
        if not self.recording:
            # What it stored when less was known would outweigh what it stores now.
            for cls, name, node in info.attributes:
                cls.stores[name].pop(node, None)
            info.attributes.clear()
        info.is_generator = False
        self.bind_parameters(info)
        node = info.node
        if isinstance(node, cst.Lambda):
            self.statement = saved[2]
            frame.results.append(self.eval(node.body))
        else:
            falls_through = not self.suite(node.body)
            if falls_through and frame.results:
                frame.results.append(NONE)
        if frame.yields:
            info.is_generator = True
            element = frame.yields[0]
            for value in frame.yields[1:]:
                element = join(element, value)
            info.returns = Value(Kind.CONTAINER, elem=element, origins=(node,))
        elif frame.results:
            result = frame.results[0]
            for value in frame.results[1:]:
                result = join(result, value)
            info.returns = result
        else:
            info.returns = NONE
        self.frame, self.context, self.statement = saved
        self.active.discard(info)
        if self.recording:
            self.sites.functions.append(sites.Function(node, info))

    def bind_parameters(self, info: FunctionInfo) -> None:
        for parameter in info.parameters:
            value = self.parameter_value(info, parameter)
            info.entry[parameter.index] = (value.device, value.graph)
            self.frame.env[parameter.name] = value

    def parameter_value(self, info: FunctionInfo, parameter: Parameter) -> Value:
        """What a parameter holds: its declaration, what callers pass, and how the body uses it."""
        bit = 1 << min(parameter.index, 60)
        if parameter.index == 0 and info.cls is not None and info.method in ("instance", "property"):
            return self.instance_of(info.cls).but(ident=0, deps=bit)
        if parameter.index == 0 and info.cls is not None and info.method == "class":
            return Value(Kind.CLASS, cls=info.cls, qual=info.cls.qualname, ident=0)
        if parameter.star == "*":
            return Value(Kind.CONTAINER, elem=self._joined(parameter) or UNKNOWN, deps=bit)
        if parameter.star == "**":
            return Value(Kind.CONTAINER, elem=self._joined(parameter) or UNKNOWN, qual="dict", deps=bit)
        value = parameter.declared
        passed = self._joined(parameter)
        if passed is not None:
            if value is None or value.kind in (Kind.UNKNOWN, Kind.NONE):
                value = passed if value is None or not value.optional else passed.but(optional=True)
            elif value.kind is passed.kind or passed.kind in (Kind.TENSOR, Kind.BATCH, Kind.NDARRAY, Kind.DEVICE):
                value = (
                    join(passed, value) if value.kind is passed.kind and value.device not in (0, ANYWHERE) else passed
                )
        if info.role is Role.HOOK and (value is None or value.kind is Kind.UNKNOWN):
            graph = ATTACHED if info.hook == "forward" else DETACHED
            value = Value(Kind.BATCH, Confidence.LIKELY, device=ANYWHERE, graph=graph)
        elif value is None or value.kind is Kind.UNKNOWN:
            value = self.refine(value or UNKNOWN, info.duck.get(parameter.name))
            if value.kind is Kind.UNKNOWN and info.role in (Role.FORWARD, Role.AUTOGRAD):
                value = Value(Kind.TENSOR, Confidence.POSSIBLE, device=ANYWHERE, graph=MAYBE)
            elif value.kind is Kind.TENSOR and info.role in (Role.FORWARD, Role.AUTOGRAD):
                value = value.but(conf=max(value.conf, Confidence.LIKELY))
            elif (
                value.kind is Kind.UNKNOWN
                and info.role is Role.STEP
                and parameter.name not in ("self", "return_outputs")
            ):
                value = Value(Kind.BATCH, Confidence.LIKELY, device=ANYWHERE, graph=MAYBE)
        value = value.but(deps=bit, ident=parameter.index)
        return self.rooted(value, parameter.name)

    def _joined(self, parameter: Parameter) -> Value | None:
        result: Value | None = None
        for value in parameter.passed.values():
            result = value if result is None else join(result, value)
        return result

    # Statements

    def block(self, statements: Iterable[cst.BaseStatement | cst.BaseSmallStatement]) -> bool:
        """Walk statements in order; whether control surely leaves them early."""
        saved = self.context
        try:
            for statement in statements:
                if isinstance(statement, cst.SimpleStatementLine):
                    for small in statement.body:
                        if self.small(small):
                            return True
                elif isinstance(statement, cst.If):
                    left = self.if_statement(statement)
                    if left is None:
                        return True
                    if left is not self.context:
                        self.context = left
                elif self.compound(statement):
                    return True
            return False
        finally:
            self.context = saved

    def suite(self, body: cst.BaseSuite) -> bool:
        if isinstance(body, cst.SimpleStatementSuite):
            return any([self.small(small) for small in body.body])
        assert isinstance(body, cst.IndentedBlock)
        return self.block(body.body)

    def compound(self, node: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
        if isinstance(node, cst.BaseSmallStatement):
            return self.small(node)
        self.statement = node
        if isinstance(node, cst.For):
            self.for_statement(node)
        elif isinstance(node, cst.With):
            return self.with_statement(node)
        elif isinstance(node, cst.FunctionDef):
            self.define_function(node)
        elif isinstance(node, cst.ClassDef):
            self.define_class(node)
        elif isinstance(node, cst.While):
            self.while_statement(node)
        elif isinstance(node, (cst.Try, cst.TryStar)):
            return self.try_statement(node)
        elif isinstance(node, cst.Match):
            self.match_statement(node)
        return False

    def small(self, node: cst.BaseSmallStatement) -> bool:
        self.statement = node
        if isinstance(node, cst.Expr):
            self.eval(node.value)
        elif isinstance(node, cst.Assign):
            self.assign_statement(node)
        elif isinstance(node, cst.AugAssign):
            self.augmented(node)
        elif isinstance(node, cst.AnnAssign):
            declared = self.annotated(node.annotation.annotation)
            if node.value is not None:
                value = self.eval(node.value)
                if value.kind is Kind.UNKNOWN and declared.kind is not Kind.UNKNOWN:
                    value = declared
                self.assign(node.target, value, node, node.value)
            elif self.frame.cls is not None and isinstance(node.target, cst.Name):
                self.frame.env[identifier(node.target.value)] = declared
        elif isinstance(node, cst.Return):
            value = self.eval(node.value) if node.value is not None else NONE
            self.frame.results.append(value)
            info = self.frame.info
            if self.recording and node.value is not None:
                info.return_sites.append((node.value, value, self.context))
            if node.value is not None:
                info.returned.update(factors(node.value))
                if isinstance(node.value, (cst.Tuple, cst.List)):
                    for element in node.value.elements:
                        info.returned.update(factors(element.value))
            return True
        elif isinstance(node, cst.Raise):
            if node.exc is not None:
                with self.within(Context(Scope.HANDLER, node, self.context)):
                    self.eval(node.exc)
                    if isinstance(node.cause, cst.From):
                        self.eval(node.cause.item)
            return True
        elif isinstance(node, cst.Assert):
            self.condition(node.test, "assert")
            if node.msg is not None:
                with self.within(Context(Scope.HANDLER, node, self.context)):
                    self.eval(node.msg)
            self.narrow(node.test, True)
        elif isinstance(node, cst.Break):
            if self.frame.breaks:
                self.frame.breaks[-1].append(self.frame.env.copy())
            return True
        elif isinstance(node, cst.Continue):
            if self.frame.continues:
                self.frame.continues[-1].append(self.frame.env.copy())
            return True
        elif isinstance(node, cst.Import):
            self.import_statement(node)
        elif isinstance(node, cst.ImportFrom):
            self.import_from(node)
        elif isinstance(node, (cst.Global, cst.Nonlocal)):
            self.frame.nonlocals.update(identifier(item.name.value) for item in node.names)
        elif isinstance(node, cst.Del):
            self.delete(node.target)
        return False

    def delete(self, target: cst.BaseExpression) -> None:
        name = dotted(target)
        if name is not None:
            self.frame.env.pop(name, None)
        elif isinstance(target, cst.Tuple):
            for element in target.elements:
                self.delete(element.value)
        elif isinstance(target, cst.Subscript):
            self.subscript(target, "delete", None)

    # Imports

    def import_statement(self, node: cst.Import) -> None:
        assert not isinstance(node.names, cst.ImportStar)
        for alias in node.names:
            full = dotted(alias.name)
            if full is None:
                continue
            self.model.imports.add(full)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                self.bind(identifier(alias.asname.name.value), Value(Kind.NAMESPACE, qual=full))
            else:
                top = full.split(".")[0]
                self.bind(top, Value(Kind.NAMESPACE, qual=top))

    def import_from(self, node: cst.ImportFrom) -> None:
        module = dotted(node.module) if node.module is not None else ""
        source = f"{'.' * len(node.relative)}{module}"
        project = self.model.project
        if project is not None and node.relative:
            source = project.absolute(self.model, len(node.relative), module or "") or source
        self.model.imports.add(source)
        if isinstance(node.names, cst.ImportStar):
            self.model.star_imports.add(source)
            for name, value in project.names_of(source).items() if project is not None else ():
                self.bind(name, value)
            return
        for alias in node.names:
            name = dotted(alias.name)
            if name is None:
                continue
            bound = name
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                bound = identifier(alias.asname.name.value)
            self.bind(bound, self.external(f"{source}{name}" if source.endswith(".") else f"{source}.{name}"))

    # Binding

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value in this scope."""
        frame = self.frame
        if name in frame.nonlocals:
            outer = frame.parent
            while outer is not None:
                if name in outer.env:
                    outer.env[name] = join(outer.env[name], value)
                    return
                outer = outer.parent
        frame.env[name] = value
        if name in self.dotted_bases:
            prefix = name + "."
            for key in [key for key in frame.env if key.startswith(prefix)]:
                del frame.env[key]

    def assign_statement(self, node: cst.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target.target, value, node, node.value)
        if len(node.targets) == 1:
            self.note_sum(node.targets[0].target, node.value)
            self.self_sum(node, node.targets[0].target, value)

    def note_sum(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        """Remember that a name is a sum or product of others: a backward through it runs through them."""
        name = dotted(target)
        if name is not None:
            self.frame.info.note_flow(name, factors(value), terms(value))
        elif isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
            for left, right in zip(target.elements, value.elements):
                self.note_sum(left.value, right.value)

    def note_flow(self, target: cst.BaseExpression, sources: set[str]) -> None:
        """Remember that the names of a target hold parts of others."""
        if not sources:
            return
        todo = [target]
        while todo:
            part = todo.pop()
            if isinstance(part, (cst.Tuple, cst.List)):
                todo += [element.value for element in part.elements]
            else:
                name = dotted(part)
                if name is not None:
                    self.frame.info.note_flow(name, sources, sources)

    def self_sum(self, node: cst.Assign, target: cst.BaseExpression, result: Value) -> None:
        """`a = a + b` is an accumulation."""
        if not self.recording:
            return
        value = node.value
        if not isinstance(value, cst.BinaryOperation) or not isinstance(value.operator, (cst.Add, cst.Subtract)):
            return
        name = self.text_of(target)
        if name is None:
            return
        for mine, other in ((value.left, value.right), (value.right, value.left)):
            if self.text_of(mine) == name:
                before = self.model.values.get(mine, UNKNOWN)
                added = self.model.values.get(other, UNKNOWN)
                operator = "+" if isinstance(value.operator, cst.Add) else "-"
                self.sites.accumulations.append(
                    sites.Accumulate(node, name, target, before, other, added, operator, self.context, in_place=False)
                )
                return

    def text_of(self, node: cst.BaseExpression) -> str | None:
        """A target as written: a dotted name, or one with a subscript."""
        name = dotted(node)
        if name is None and isinstance(node, cst.Subscript):
            base = dotted(node.value)
            if base is not None:
                return f"{base}[{self.model.module.code_for_node(node.slice[0])}]" if len(node.slice) == 1 else None
        return name

    def assign(
        self, target: cst.BaseExpression, value: Value, node: cst.CSTNode, value_node: cst.BaseExpression | None
    ) -> None:
        """Give a target a value, taking tuples apart."""
        if isinstance(target, cst.Name):
            name = identifier(target.value)
            if value.kind is Kind.UNKNOWN:
                value = self.refine(value, self.frame.info.duck.get(name))
            rooted = self.rooted(value, name)
            if rooted is not value and value_node is not None:
                self.note_graph_makers(value_node)
            value = rooted
            self.bind(name, value)
            if self.recording:
                self.model.values[target] = value
                self.sites.assigns.append(sites.Assign(node, target, name, None, value_node, value, self.context))
        elif isinstance(target, (cst.Tuple, cst.List)):
            self.unpack(target.elements, value, node, value_node)
        elif isinstance(target, cst.Attribute):
            self.assign_attribute(target, value, node, value_node)
        elif isinstance(target, cst.Subscript):
            self.subscript(target, "write", value)
            self.store_into(target, value, node, value_node)
        elif isinstance(target, cst.StarredElement):
            self.assign(target.value, Value(Kind.CONTAINER, elem=value), node, None)

    def unpack(
        self,
        elements: Iterable[cst.BaseElement],
        value: Value,
        node: cst.CSTNode,
        value_node: cst.BaseExpression | None,
    ) -> None:
        elements = list(elements)
        parts: list[cst.BaseExpression | None] = [None] * len(elements)
        starred = any(isinstance(element, cst.StarredElement) for element in elements)
        if isinstance(value_node, (cst.Tuple, cst.List)) and len(value_node.elements) == len(elements) and not starred:
            parts = [element.value for element in value_node.elements]
        for index, element in enumerate(elements):
            if isinstance(element, cst.StarredElement):
                self.assign(element.value, Value(Kind.CONTAINER, elem=self.element(value)), node, None)
            else:
                self.assign(element.value, self.member(value, index if not starred else None), node, parts[index])

    def assign_attribute(
        self, target: cst.Attribute, value: Value, node: cst.CSTNode, value_node: cst.BaseExpression | None
    ) -> None:
        owner = self.eval(target.value)
        attribute = identifier(target.attr.value)
        name = dotted(target)
        if name is not None:
            base = name.split(".", 1)[0]
            if owner.cls is not None and value.kind is Kind.UNKNOWN:
                value = self.refine(value, owner.cls.duck.get(attribute))
            if owner.cls is not None and attribute in owner.cls.roots:
                value = self.as_root(value)
            self.frame.env[name] = value
            self.dotted_bases.add(base)
        if owner.cls is not None:
            stored = value
            if stored.kind is Kind.TENSOR and owner.kind is Kind.MODULE and stored.qual == "torch.nn.Parameter":
                stored = stored.but(device=ANYWHERE)  # moves with its module
            if stored.deps or stored.ident is not None:
                stored = stored.but(ident=None, deps=0)
            owner.cls.store(attribute, node, stored)
            self.frame.info.attributes.append((owner.cls, attribute, node))
        if owner.kind is Kind.TENSOR and attribute == "data" and name is not None:
            self.frame.env.pop(name, None)
        if owner.kind is Kind.TENSOR and attribute == "requires_grad" and value.const is True:
            base_name = dotted(target.value)
            if base_name is not None:
                self.frame.env[base_name] = owner.but(graph=ATTACHED)
        qualified = (
            f"{owner.qual}.{attribute}" if owner.qual and owner.kind in (Kind.NAMESPACE, Kind.FUNCTION) else None
        )
        self.note_stored_parameter(value)
        if self.recording:
            self.model.values[target] = value
            self.sites.assigns.append(sites.Assign(node, target, name, qualified, value_node, value, self.context))
            if value_node is not None:
                self.sites.stores.append(
                    sites.Store(
                        node, "attribute", owner, dotted(target.value), value_node, value, self.context, node, attribute
                    )
                )

    def store_into(
        self, target: cst.Subscript, value: Value, node: cst.CSTNode, value_node: cst.BaseExpression | None
    ) -> None:
        """`container[key] = value`: the container remembers it."""
        base = self.eval_quietly(target.value)
        if base.kind is Kind.CONTAINER:
            key = self.literal_key(target)
            grow(base, value, key)
        elif base.kind is Kind.UNKNOWN and base.elem is None and dotted(target.value) is not None:
            # Something that is filled by key: remember what goes in under literal keys.
            key = self.literal_key(target)
            if isinstance(key, str):
                if base is UNKNOWN or base.items is None:
                    filled = base.but(items={key: value})
                    name = dotted(target.value)
                    assert name is not None
                    if name in self.frame.env:
                        self.frame.env[name] = filled
                else:
                    base.items[key] = join(base.items[key], value) if key in base.items else value
        self.note_stored_parameter(value)
        if self.recording and value_node is not None and base.kind not in (Kind.TENSOR, Kind.NDARRAY):
            self.sites.stores.append(
                sites.Store(node, "setitem", base, dotted(target.value), value_node, value, self.context, node)
            )

    def note_stored_parameter(self, value: Value) -> None:
        if value.ident is not None and value.ident < 60:
            self.frame.info.stored |= 1 << value.ident

    def augmented(self, node: cst.AugAssign) -> None:
        added = self.eval(node.value)
        operator = _AUGMENTED.get(type(node.operator), "?")
        target = node.target
        if isinstance(target, cst.Subscript):
            before = self.subscript(target, "update", added)
        else:
            before = self.eval(target)
        result = self.arithmetic(node, operator, before, added)
        if before.kind is Kind.CONTAINER:
            if added.kind is Kind.CONTAINER and added.elem is not None:
                grow(before, added.elem, None)
            result = before
        if self.recording:
            name = self.text_of(target)
            if operator in ("+", "-") and name is not None:
                self.sites.accumulations.append(
                    sites.Accumulate(
                        node, name, target, before, node.value, added, operator, self.context, in_place=True
                    )
                )
            self.model.augmented[node] = result
            self.sites.binaries.append(
                sites.Binary(node, operator, target, node.value, before, added, result, self.context, node)
            )
        name = dotted(target)
        if name is not None:
            self.frame.info.note_flow(name, factors(node.value), terms(node.value))
        if isinstance(target, cst.Name):
            self.bind(identifier(target.value), self.rooted(result, identifier(target.value)))
        elif isinstance(target, cst.Attribute):
            self.assign_attribute(target, result, node, None)
        elif isinstance(target, cst.Subscript):
            base = self.eval_quietly(target.value)
            if base.kind is Kind.CONTAINER:
                grow(base, result, self.literal_key(target))

    def rooted(self, value: Value, name: str) -> Value:
        """The value of a name on which backward runs: a tensor with a graph, whatever made it."""
        info: FunctionInfo | None = self.frame.info
        while info is not None:
            if info.terms and info.has_graph(name):
                return self.as_root(value)
            info = info.parent
        return value

    def as_root(self, value: Value) -> Value:
        if value.kind in (Kind.UNKNOWN, Kind.BATCH) or (
            value.kind is Kind.TENSOR and value.conf is Confidence.POSSIBLE
        ):
            return value.but(kind=Kind.TENSOR, conf=Confidence.LIKELY, graph=ATTACHED)
        if value.kind is Kind.TENSOR and value.graph == MAYBE:
            return value.but(graph=ATTACHED)
        return value

    # Branches

    @contextmanager
    def within(self, context: Context) -> Iterator[None]:
        saved = self.context
        self.context = context
        try:
            yield
        finally:
            self.context = saved

    def branch(self, node: cst.CSTNode, test: cst.BaseExpression, gate: Gate, negated: bool) -> Context:
        return Context(Scope.BRANCH, node, self.context, gate=gate, test=test, negated=negated)

    def if_statement(self, node: cst.If) -> Context | None:
        """Walk an `if`; the context of what follows it, or None where nothing does."""
        self.statement = node
        value = self.condition(node.test, "if")
        then_gate, else_gate = self.gates_of(node, value)
        if then_gate is Gate.NONE and _fails(node.body):
            then_gate = Gate.RARE
        if else_gate is Gate.NONE and isinstance(node.orelse, cst.Else) and _fails(node.orelse.body):
            else_gate = Gate.RARE
        before = self.frame.env
        after_test = self.context
        # The branch that is taken.
        self.frame.env = before.copy()
        self.narrow(node.test, True)
        with self.within(self.branch(node, node.test, then_gate, False)):
            then_left = self.suite(node.body)
        then_env = self.frame.env
        # The other.
        self.frame.env = before
        self.narrow(node.test, False)
        else_left = False
        if node.orelse is not None:
            with self.within(self.branch(node, node.test, else_gate, True)):
                if isinstance(node.orelse, cst.Else):
                    else_left = self.suite(node.orelse.body)
                else:
                    else_left = self.if_statement(node.orelse) is None
        else_env = self.frame.env
        if then_left and else_left:
            return None
        if then_left:
            self.frame.env = else_env
            return self.branch(node, node.test, else_gate, True)
        if else_left:
            self.frame.env = then_env
            return self.branch(node, node.test, then_gate, False) if node.orelse is not None else after_test
        self.frame.env = join_envs(then_env, else_env)
        return after_test

    def match_statement(self, node: cst.Match) -> None:
        subject = self.eval(node.subject)
        if subject.kind is Kind.TENSOR:
            self.truth(node.subject, subject, "if")
        before = self.frame.env
        joined: Env | None = None
        for case in node.cases:
            self.frame.env = before.copy()
            if case.guard is not None:
                self.condition(case.guard, "if")
            for name in _captures(case.pattern):
                self.bind(name, UNKNOWN)
            with self.within(Context(Scope.BRANCH, case, self.context)):
                left = self.suite(case.body)
            if not left:
                joined = self.frame.env if joined is None else join_envs(joined, self.frame.env)
        self.frame.env = before if joined is None else join_envs(before, joined)

    def try_statement(self, node: cst.Try | cst.TryStar) -> bool:
        before = self.frame.env.copy()
        with self.within(Context(Scope.TRY, node, self.context)):
            left = self.suite(node.body)
            if not left and node.orelse is not None:
                left = self.suite(node.orelse.body)
        after = self.frame.env
        ends: list[Env] = [] if left else [after]
        start = join_envs(before, after)
        imports = _only_imports(node.body)
        for handler in node.handlers:
            self.frame.env = start.copy()
            if handler.type is not None:
                self.eval(handler.type)
            if handler.name is not None and isinstance(handler.name.name, cst.Name):
                self.bind(identifier(handler.name.name.value), UNKNOWN)
            with self.within(Context(Scope.HANDLER, handler, self.context)):
                handler_left = self.suite(handler.body)
            # `try: import x except ImportError: x = None` - what was imported is what x is.
            if not handler_left and not imports:
                ends.append(self.frame.env)
        if ends:
            joined = ends[0]
            for env in ends[1:]:
                joined = join_envs(joined, env)
            self.frame.env = joined
        else:
            self.frame.env = start
        finally_left = False
        if node.finalbody is not None:
            finally_left = self.suite(node.finalbody.body)
        return finally_left or (left and not ends)

    # Loops

    def loop(
        self,
        node: cst.CSTNode,
        iterable: Value | None,
        enter: object,
        walk: object,
        count: int | None,
    ) -> None:
        """Walk a loop's body: once where nothing is recorded, else twice, the second time with the first's results."""
        before = self.frame.env
        facts = LoopFacts(node, iterable, count)
        self.model.home[node] = self.model
        context = Context(Scope.LOOP, node, self.context, loop=facts)
        self.loop_contexts = context
        recording = self.recording
        rounds = (False, True) if recording else (False,)
        env = before
        ends: list[Env] = []
        for record in rounds:
            self.recording = record
            if record:
                outer = self.context.enclosing_loops()
                if outer and outer[0].loop is not None:
                    outer[0].loop.inner.append(context)
            self.frame.env = env.copy()
            self.frame.continues.append([])
            self.frame.breaks.append([])
            with self.within(context):
                enter()  # type: ignore[operator]
                left = walk()  # type: ignore[operator]
            ends = self.frame.breaks.pop()
            rounds_end = self.frame.continues.pop()
            if not left:
                rounds_end.append(self.frame.env)
            after = before
            for end in rounds_end:
                after = join_envs(after, end)
            env = after
        self.recording = recording
        for end in ends:
            env = join_envs(env, end)
        self.frame.env = env

    def for_statement(self, node: cst.For) -> None:
        iterable = self.eval(node.iter)
        element = self.element(iterable)
        self.iterate_effects(node.iter, iterable)

        def enter() -> None:
            if self.recording:
                self.sites.loops.append(
                    sites.Loop(
                        node, node.target, iterable, node.iter, self.context, self.context.parent or self.context
                    )
                )
            self.assign(node.target, element, node, None)

        self.note_flow(node.target, factors(node.iter))
        self.loop(node, iterable, enter, lambda: self.suite(node.body), self.count_of(iterable))
        if node.orelse is not None:
            self.suite(node.orelse.body)

    def while_statement(self, node: cst.While) -> None:
        def enter() -> None:
            if self.recording:
                self.sites.loops.append(
                    sites.Loop(node, None, None, None, self.context, self.context.parent or self.context)
                )
            self.condition(node.test, "while")
            self.narrow(node.test, True)

        self.loop(node, None, enter, lambda: self.suite(node.body), None)
        if node.orelse is not None:
            self.suite(node.orelse.body)

    # With

    def with_statement(self, node: cst.With) -> bool:
        context = self.context
        saved = self.context
        for item in node.items:
            manager = self.eval(item.item)
            flags = self.manager_flags(item.item, manager)
            context = Context(Scope.WITH, node, self.context, manager=manager, flags=flags)
            self.context = context
            entered = self.entered(item.item, manager)
            if item.asname is not None:
                self.assign(item.asname.name, entered, node, None)
            if self.recording:
                self.sites.withs.append(sites.With(node, item.item, manager, context))
        left = self.suite(node.body)
        for item in reversed(node.items):
            self.left(item.item, self.model.values.get(item.item, UNKNOWN), node)
        self.context = saved
        return left

    # Definitions

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
            if cls is not None:
                cls.methods[name] = info
        info.context = self.context
        info.decorators = decorators
        self.evaluate_defaults(node.params)
        self.classify(info)
        self.frames[info] = self.closure_frame()
        function = Value(Kind.FUNCTION, fn=info, qual=info.qualname)
        for expression, decorator in decorators:
            function = self.decorated(function, info, expression, decorator)
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
        if isinstance(params.star_arg, cst.Param):
            add(params.star_arg, "*")
        for param in params.kwonly_params:
            add(param)
        if params.star_kwarg is not None:
            add(params.star_kwarg, "**")

    def evaluate_defaults(self, params: cst.Parameters) -> None:
        info = self.model.functions.get(self.statement) if self.statement is not None else None
        for parameter in info.parameters if info is not None else ():
            self.declare(parameter)

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
        info.bases = bases
        info.base_names = self.ancestors(bases)
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

    def note_graph_makers(self, node: cst.BaseExpression) -> None:
        """Backward runs on this expression: what is called for it, and for its first argument, acts as a module does."""
        todo = [node]
        while todo:
            part = todo.pop()
            if isinstance(part, cst.BinaryOperation):
                todo += [part.left, part.right]
            elif isinstance(part, (cst.Subscript, cst.Attribute)):
                todo.append(part.value)
            elif isinstance(part, cst.Call):
                todo += [argument.value for argument in part.args[:1]]
                name = dotted(part.func)
                if isinstance(part.func, cst.Attribute):
                    todo.append(part.func.value)
                if name is not None:
                    called = self.eval_quietly(part.func)
                    if called.kind is Kind.UNKNOWN:
                        self.note_evidence(name, MAKES_GRAPHS)

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

    def effect(
        self,
        kind: EffectKind,
        node: cst.CSTNode,
        value: Value | None = None,
        callee: FunctionInfo | None = None,
        part: str = "",
    ) -> None:
        """Record an effect of the code at hand."""
        if not self.recording:
            return
        self.frame.info.effects.append(Effect(kind, node, self.context, value, callee, part))
        if self.context.loops:
            facts = self.context.loops[0].loop
            assert facts is not None
            facts.body_effects.append((kind, callee))

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


def grow(container: Value, value: Value, key: object) -> None:
    """A container takes one more element; aliases of it see that."""
    container.elem = value if container.elem is None else join(container.elem, value)
    if key is not None:
        if container.items is None:
            container.items = {}
        container.items[key] = join(container.items[key], value) if key in container.items else value


def join_envs(a: Env, b: Env) -> Env:
    """The environment after two ways of which one was taken. A name bound on one of them keeps its value."""
    if a is b:
        return a
    result = dict(a)
    for name, value in b.items():
        mine = a.get(name)
        if mine is None:
            result[name] = value
        elif mine is not value:
            result[name] = mine if same(mine, value) and mine.origins == value.origins else join(mine, value)
    return result


_AUGMENTED: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.MatrixMultiplyAssign: "@",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
}


def _fails(body: cst.BaseSuite) -> bool:
    """Whether a branch ends in an error: what it does before, it does once."""
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Raise)


def _only_imports(body: cst.BaseSuite) -> bool:
    if not isinstance(body, cst.IndentedBlock):
        return False
    for statement in body.body:
        if not isinstance(statement, cst.SimpleStatementLine):
            return False
        for small in statement.body:
            if not isinstance(small, (cst.Import, cst.ImportFrom, cst.Assign)):
                return False
    return True


def _captures(pattern: cst.MatchPattern) -> list[str]:
    """The names that a pattern binds."""
    names: list[str] = []

    class Finder(cst.CSTVisitor):
        def visit_MatchAs(self, node: cst.MatchAs) -> None:
            if node.name is not None:
                names.append(identifier(node.name.value))

        def visit_MatchStar(self, node: cst.MatchStar) -> None:
            if node.name is not None:
                names.append(identifier(node.name.value))

    pattern.visit(Finder())
    return names

"""Statements: branches are walked apart and joined, the bodies of loops twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst

from torchlint.knowledge import names as known
from torchlint.semantics import sites
from torchlint.semantics.contexts import Asked, Context, LoopFacts, Scope, ends, leaves
from torchlint.semantics.factors import factors
from torchlint.semantics.functions import FunctionInfo, Role
from torchlint.semantics.names import dotted, identifier
from torchlint.semantics.nodes import within
from torchlint.semantics.reading.base import Env
from torchlint.semantics.reading.definitions import DefinitionReader
from torchlint.semantics.reading.gates import asks_for_recording
from torchlint.semantics.reading.members import replacing
from torchlint.semantics.reading.narrowing import not_none, unnegated
from torchlint.semantics.values import (
    NONE,
    UNKNOWN,
    Gate,
    Kind,
    Value,
    join,
    same,
)


class StatementReader(DefinitionReader):
    """Reads statements."""

    def block(self, statements: Iterable[cst.BaseStatement | cst.BaseSmallStatement]) -> bool:
        """Walk statements in order; whether control surely leaves them early."""
        saved = self.context
        try:
            for statement in statements:
                kind = type(statement)
                if kind is cst.SimpleStatementLine:
                    for small in statement.body:  # type: ignore[union-attr]
                        if self.small(small):
                            return True
                elif kind is cst.If or kind is cst.Try or kind is cst.TryStar:
                    after = self.if_statement(statement) if kind is cst.If else self.try_statement(statement)  # type: ignore[arg-type]
                    if after is None:
                        return True
                    self.context = after
                elif self.compound(statement):
                    return True
            self.reached = self.context
            return False
        finally:
            self.context = saved

    def suite(self, body: cst.BaseSuite) -> bool:
        if type(body) is cst.SimpleStatementSuite:
            self.reached = self.context
            left = [self.small(small) for small in body.body]  # all are walked, also behind a `return`
            return any(left)
        assert type(body) is cst.IndentedBlock
        return self.block(body.body)

    def compound(self, node: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
        self.statement = node
        if type(node) is cst.For:
            self.for_statement(node)
        elif type(node) is cst.With:
            return self.with_statement(node)
        elif type(node) is cst.FunctionDef:
            self.define_function(node)
        elif type(node) is cst.ClassDef:
            self.define_class(node)
        elif type(node) is cst.While:
            self.while_statement(node)
        elif type(node) is cst.Match:
            self.match_statement(node)
        else:  # the body of a suite on one row
            return self.small(node)  # type: ignore[arg-type]
        return False

    def small(self, node: cst.BaseSmallStatement) -> bool:
        self.statement = node
        read = _SMALL.get(type(node))
        return read is not None and bool(read(self, node))

    def expression_statement(self, node: cst.Expr) -> None:
        self.eval(node.value)

    def annotated_assign(self, node: cst.AnnAssign) -> None:
        declared = self.annotated(node.annotation.annotation)
        if node.value is not None:
            value = self.eval(node.value)
            if declared.kind is not Kind.UNKNOWN and (
                value.kind is Kind.UNKNOWN or value.qual in known.FIELDS and self.frame.cls is not None
            ):
                value = declared
            elif value.kind is Kind.NONE and declared.kind is not Kind.UNKNOWN and self.frame.cls is not None:
                value = declared.but(optional=True)  # what instances hold until they are given another
            self.assign(node.target, value, node, node.value)
        elif self.frame.cls is not None and type(node.target) is cst.Name:
            self.frame.env[identifier(node.target.value)] = declared

    def return_statement(self, node: cst.Return) -> bool:
        value = self.eval(node.value) if node.value is not None else NONE
        if isinstance(value.const, bool) and self.context.rare:  # who asks for it learns that it is seldom so
            value = value.but(gates=(Gate.RARE, Gate.NONE) if value.const else (Gate.NONE, Gate.RARE))
        self.frame.results.append(value)
        self.frame.ways += self._ways(node.value, value)
        info = self.frame.info
        if node.value is not None:
            if self.recording:
                info.return_sites.append((node.value, value, self.context))
            info.returned.update(self.once(factors, node.value))
            if info.role is Role.STEP and info.name in known.TRAINED_STEPS:
                for loss in _losses(node.value):
                    self.note_root(loss)  # whoever calls it runs backward on that
            if type(node.value) is cst.Tuple or type(node.value) is cst.List:
                for element in node.value.elements:
                    info.returned.update(self.once(factors, element.value))
        return True

    def _ways(self, node: cst.BaseExpression | None, value: Value) -> Iterator[tuple[Asked, Value]]:
        """What may be returned here, with what must be true of the parameters for each."""
        asked = self.context.asked()
        if type(node) is cst.IfExp and self.asks_of(node.test, True):
            yield asked | self.asks_of(node.test, True), self.eval_quietly(node.body)
            yield asked | self.asks_of(node.test, False), self.eval_quietly(node.orelse)
        else:
            yield asked, value

    def raise_statement(self, node: cst.Raise) -> bool:
        if node.exc is not None:
            with self.within(Context(Scope.HANDLER, node, self.context)):
                self.eval(node.exc)
                if type(node.cause) is cst.From:
                    self.eval(node.cause.item)
        return True

    def assert_statement(self, node: cst.Assert) -> None:
        self.condition(node.test, "assert")
        if node.msg is not None:
            with self.within(Context(Scope.HANDLER, node, self.context)):
                self.eval(node.msg)
        self.narrow(node.test, True)

    def break_statement(self, node: cst.Break) -> bool:
        if self.frame.breaks:
            self.frame.breaks[-1].append(self.frame.env.copy())
        return True

    def continue_statement(self, node: cst.Continue) -> bool:
        if self.frame.continues:
            self.frame.continues[-1].append(self.frame.env.copy())
        return True

    def scope_statement(self, node: cst.Global | cst.Nonlocal) -> None:
        self.frame.nonlocals.update(identifier(item.name.value) for item in node.names)

    def delete_statement(self, node: cst.Del) -> None:
        self.delete(node.target)

    def branch(self, node: cst.CSTNode, test: cst.BaseExpression, gate: Gate, negated: bool) -> Context:
        asks = self.asks_of(test, not negated)
        return Context(Scope.BRANCH, node, self.context, gate=gate, test=test, negated=negated, asks=asks)

    def if_statement(self, node: cst.If) -> Context | None:
        """Walk an `if`; the context of what follows it, or None where nothing does."""
        self.statement = node
        value = self.condition(node.test, "if")
        then_gate, else_gate = self.gates_of(node, value)
        if then_gate is Gate.NONE and (self._fails(node.body) or _warns(node.body)):
            then_gate = Gate.RARE
        other = node.orelse.body if type(node.orelse) is cst.Else else None
        if else_gate is Gate.NONE and other is not None and (self._fails(other) or _warns(other)):
            else_gate = Gate.RARE
        before = self.frame.env
        after_test = self.context
        # The branch that is taken.
        size = len(before)
        self.frame.env = before.copy()
        self.narrow(node.test, True)
        then_told = _added(self.frame.env, size)
        taken = self.branch(node, node.test, then_gate, False)
        taken.leaves, taken.ends = leaves(node.body), ends(node.body)
        with self.within(taken):
            then_left = self.suite(node.body)
        then_rare = self.reached.rare and not then_left
        then_env = self.frame.env
        # The other.
        self.frame.env = before
        self.narrow(node.test, False)
        else_told = _added(before, size)
        else_left = else_rare = False
        if node.orelse is not None:
            with self.within(self.branch(node, node.test, else_gate, True)):
                if type(node.orelse) is cst.If:
                    after = self.if_statement(node.orelse)
                    else_left, self.reached = after is None, after or self.context
                else:
                    else_left = self.suite(node.orelse.body)
            else_rare = self.reached.rare and not else_left
        else_env = self.frame.env
        if then_left and else_left:
            return None
        if then_left:
            self.frame.env = else_env
            return self.branch(node, node.test, Gate.RARE if else_rare else else_gate, True)
        if else_left:
            self.frame.env = then_env
            return self.branch(node, node.test, Gate.RARE if then_rare else then_gate, False)
        test, flipped = unnegated(node.test)
        if asks_for_recording(test):
            self.frame.env = then_env if flipped else else_env
            return after_test
        for told, env in ((then_told, then_env), (else_told, else_env)):
            for name, value in told:
                if env.get(name) is value:  # the test told that of one branch alone
                    del env[name]
        asked = not_none(node.test) if node.orelse is None else None
        held = dotted(asked) if asked is not None else None
        if held is not None and held in then_env:
            else_env[held] = NONE  # `if self.norm is not None: self.norm = self.norm.item()`
        self.frame.env = join_envs(then_env, else_env)
        if then_rare and else_rare and not after_test.rare:
            return Context(Scope.BRANCH, node.test, after_test, gate=Gate.RARE)  # both ways leave but now and then
        return after_test

    def _fails(self, body: cst.BaseSuite) -> bool:
        """Whether a branch ends in an error, or ends the program: what it does before, it does once."""
        last = body.body[-1] if body.body else None
        if type(last) is cst.SimpleStatementLine:
            last = last.body[-1]
        if type(last) is cst.Expr and type(last.value) is cst.Call:
            called = self.eval_quietly(last.value.func).qual
            return called in known.EXITS or (
                called in known.ASSERTIONS and bool(last.value.args) and _is_false(last.value.args[0].value)
            )
        if type(last) is cst.Assert:
            return _is_false(last.test)
        return type(last) is cst.Raise

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

    def try_statement(self, node: cst.Try | cst.TryStar) -> Context | None:
        """Walk a `try`; the context of what follows it, or None where nothing does."""
        self.statement = node
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
            if handler.name is not None and type(handler.name.name) is cst.Name:
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
        if finally_left or (left and not ends):
            return None
        if left:  # `try: return fast(x)`, `except Missing: pass`: what follows is a recovery
            return Context(Scope.HANDLER, node.handlers[0], self.context)
        return self.context

    def loop(
        self,
        node: cst.For | cst.While,
        iterable: Value | None,
        enter: Callable[[], None],
        count: int | None,
        generators: tuple[FunctionInfo, ...] = (),
    ) -> None:
        """Walk a loop's body: once where nothing is recorded, else twice, the second time with the first's results.

        `enter` reads what comes before the body in every round. `count` is the number of rounds, where that is known.
        """
        before = self.frame.env
        facts = LoopFacts(node, iterable, count, generators)
        self.model.home[node] = self.model
        context = Context(Scope.LOOP, node, self.context, loop=facts)
        recording = self.recording
        rounds = (False, True) if recording else (False,)
        env = before
        ends: list[Env] = []
        for record in rounds:
            self.recording = record
            if record:
                self.note_inner(context)
            self.frame.env = env.copy()
            self.frame.continues.append([])
            self.frame.breaks.append([])
            with self.within(context):
                enter()
                left = self.suite(node.body)
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
        element = self.given_to(node.target, node.iter, iterable, node)

        def enter() -> None:
            if self.recording:
                self.sites.loops.append(
                    sites.Loop(
                        node, node.target, iterable, node.iter, self.context, self.context.parent or self.context
                    )
                )
            self.note_rounds(node.iter)
            self.assign(node.target, element, node, None)

        self.note_flow(node.target, self.once(factors, node.iter))
        replaced = replacing(node)
        if replaced is not None:
            self.replacements.update(dict.fromkeys(replaced.writes, replaced))
        self.loop(node, iterable, enter, self.count_of(iterable, node.iter), self.generators_of(node.iter, iterable))
        held = self.frame.env.get(replaced.holder) if replaced is not None else None
        if replaced is not None and replaced.values and held is not None:
            self.frame.env[replaced.holder] = replaced.after(held)
        if node.orelse is not None:
            self.suite(node.orelse.body)

    def generators_of(self, node: cst.BaseExpression, iterable: Value) -> tuple[FunctionInfo, ...]:
        """The generators of the program that a loop iterates, also where it counts or pairs what they give."""
        paired = node.args if type(node) is cst.Call and type(node.func) is cst.Name else ()
        given = (iterable, *(self.eval_quietly(argument.value) for argument in paired if self.recording))
        origins = [origin for value in given if value.kind is Kind.CONTAINER for origin in value.origins]
        made = [(origin, self.model.home.get(origin)) for origin in origins if isinstance(origin, cst.FunctionDef)]
        return tuple(home.functions[origin] for origin, home in made if home is not None and origin in home.functions)

    def while_statement(self, node: cst.While) -> None:
        def enter() -> None:
            if self.recording:
                self.sites.loops.append(
                    sites.Loop(node, None, None, None, self.context, self.context.parent or self.context)
                )
            self.condition(node.test, "while")
            self.narrow(node.test, True)

        self.loop(node, None, enter, None)
        if node.orelse is not None:
            self.suite(node.orelse.body)

    def with_statement(self, node: cst.With) -> bool:
        saved = self.context
        for item in node.items:
            manager = self.eval(item.item)
            flags = self.manager_flags(item.item, manager) | self.stacked_flags(node, item, manager)
            context = Context(Scope.WITH, node, self.context, manager=manager, flags=flags)
            self.context = context
            entered = self.entered(item.item, manager)
            if item.asname is not None:
                self.assign(item.asname.name, entered, node, None)
            if self.recording:
                self.sites.withs.append(sites.With(node, item.item, manager, context))
        left = self.suite(node.body)
        for item in reversed(node.items):
            self.left(self.model.values.get(item.item, UNKNOWN), node)
        self.context = saved
        return left


# What reads a small statement, and whether control surely leaves by it.
_SMALL: dict[type[cst.BaseSmallStatement], Callable[[Any, Any], bool | None]] = {
    cst.Expr: StatementReader.expression_statement,
    cst.Assign: StatementReader.assign_statement,
    cst.AugAssign: StatementReader.augmented,
    cst.AnnAssign: StatementReader.annotated_assign,
    cst.Return: StatementReader.return_statement,
    cst.Raise: StatementReader.raise_statement,
    cst.Assert: StatementReader.assert_statement,
    cst.Break: StatementReader.break_statement,
    cst.Continue: StatementReader.continue_statement,
    cst.Import: StatementReader.import_statement,
    cst.ImportFrom: StatementReader.import_from,
    cst.Global: StatementReader.scope_statement,
    cst.Nonlocal: StatementReader.scope_statement,
    cst.Del: StatementReader.delete_statement,
}


def _is_false(asserted: cst.BaseExpression) -> bool:
    """`assert False`, `torch._assert(False, message)`: it fails."""
    return type(asserted) is cst.Name and asserted.value == "False"


def _losses(returned: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The loss in what a training step returns, which may come with outputs behind it."""
    if type(returned) is cst.IfExp:
        yield from _losses(returned.body)
        yield from _losses(returned.orelse)
    elif type(returned) is cst.Tuple:
        yield from _losses(returned.elements[0].value) if returned.elements else ()
    else:
        yield returned


def _added(env: Env, size: int) -> list[tuple[str, Value]]:
    """What an environment holds beyond the first `size` names."""
    return list(env.items())[size:] if len(env) > size else []


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


def _warns(body: cst.BaseSuite) -> bool:
    """Whether a branch warns or logs an error: it is for what is not to happen."""
    for statement in body.body:
        for small in statement.body if type(statement) is cst.SimpleStatementLine else (statement,):
            call = small.value if type(small) is cst.Expr else None
            if type(call) is not cst.Call or type(call.func) is not cst.Attribute:
                continue
            owner = (dotted(call.func.value) or "").rsplit(".", 1)[-1].lower()
            if call.func.attr.value in known.WARNING_METHODS and ("log" in owner or owner == "warnings"):
                return True
    return False


def _only_imports(body: cst.BaseSuite) -> bool:
    if type(body) is not cst.IndentedBlock:
        return False
    for statement in body.body:
        if type(statement) is not cst.SimpleStatementLine:
            return False
        for small in statement.body:
            if not isinstance(small, (cst.Import, cst.ImportFrom, cst.Assign)):
                return False
    return True


def _captures(pattern: cst.MatchPattern) -> list[str]:
    """The names that a pattern binds."""
    names: list[cst.Name | None] = []
    for node in within([pattern]):
        if isinstance(node, (cst.MatchAs, cst.MatchStar)):
            names.append(node.name)
        elif type(node) is cst.MatchMapping:
            names.append(node.rest)
    return [identifier(name.value) for name in names if name is not None]

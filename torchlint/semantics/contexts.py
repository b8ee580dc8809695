"""Where code stands: the loops, branches, contexts and functions around it.

A `Context` is a link in the chain from a line up to its module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import libcst as cst

from torchlint.semantics.enumeration import Enumeration
from torchlint.semantics.functions import ClassInfo, Effect, FunctionInfo
from torchlint.semantics.values import Gate, Value

if TYPE_CHECKING:
    from torchlint.semantics.hotness import Body, Hot


# Parameters of a function, by index, and the truth that a branch of its body asks of them: of the value itself, or of
# its being a text, as `mode == "train"` asks, or a tensor (`OF_TENSOR`); "" where it is the value itself.
Asked = frozenset[tuple[int, bool, str]]


class Scope(Enumeration):
    """What a link of the chain is."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LOOP = "loop"
    BRANCH = "branch"
    WITH = "with"
    TRY = "try"
    HANDLER = "handler"


class Iterates(Enumeration):
    """What each round of a loop is."""

    STEPS = "steps"  # batches of a loader, training, evaluation, decoding or sampling steps
    EPOCHS = "epochs"
    ELEMENTS = "elements"  # rows, elements, classes or time steps of a tensor
    PARAMETERS = "parameters"
    LAYERS = "layers"
    GROUPS = "groups"  # an optimizer's parameter groups: one or a few
    OTHER = "other"


@dataclass(slots=True, eq=False)
class LoopFacts:
    """What is known of a loop: what it iterates and what its body does."""

    node: cst.CSTNode  # For, While, or a comprehension
    iterable: Value | None  # None for `while`
    count: int | None = None  # rounds, where that is a literal
    generators: tuple[FunctionInfo, ...] = ()  # whose yields are the rounds
    body_effects: list[Effect] = field(default_factory=list)  # not those of inner loops
    inner: list[Context] = field(default_factory=list)
    calls_layers: bool = False  # what it calls are the modules that it iterates
    begins: bool = False  # its rounds make optimizers: what they train begins anew
    answers: dict[object, Any] = field(default_factory=dict)  # to questions about it


@dataclass(slots=True, eq=False)
class Context:
    """One link: what kind of code this is, the node that opens it, and what surrounds it."""

    scope: Scope
    node: cst.CSTNode | None
    parent: Context | None
    function: FunctionInfo | None = None
    cls: ClassInfo | None = None
    loop: LoopFacts | None = None
    gate: Gate = Gate.NONE
    test: cst.BaseExpression | None = None  # of a branch
    negated: bool = False  # the branch runs where the test is false
    leaves: bool = False  # the branch ends by leaving the loop, or the function
    ends: bool = False  # by leaving the function, with all loops around it
    asks: Asked = frozenset()
    manager: Value | None = None  # of a `with`
    flags: frozenset[str] = frozenset()  # of a `with`: "no_grad", "enable_grad", "autocast:bfloat16", "profiler", ...
    # Worked out from the surrounding context when this one is made, since they are asked for everywhere.
    owner: FunctionInfo | None = field(init=False, default=None)  # the function it is in; None at module level
    outer: tuple[Context, ...] = field(init=False, default=())  # the loops around it in its function, innermost first
    grad_off: bool = field(init=False, default=False)  # by a `with` in its function, or a decorator of it
    rare: bool = field(init=False, default=False)  # behind a gate within its innermost loop, or its function
    heat: Hot | Body | bool | None = False  # kept by `hotness.hot`; False where not asked for

    def __post_init__(self) -> None:
        parent = self.parent
        if self.scope is Scope.FUNCTION:
            self.owner = self.function
            self.grad_off = self.function is not None and self.function.no_grad
            return
        if parent is not None:
            self.owner, self.outer, self.grad_off = parent.owner, parent.enclosing_loops(), parent.grad_off
            self.rare = parent.rare
        if self.scope is Scope.LOOP:
            self.rare = False
        elif self.scope is Scope.BRANCH:
            self.rare |= self.gate in (Gate.RARE, Gate.DEBUG)
        elif self.scope is Scope.WITH:
            if "no_grad" in self.flags:
                self.grad_off = True
            elif "enable_grad" in self.flags:
                self.grad_off = False

    @property
    def answers(self) -> dict[object, Any]:
        """The answers to questions about a loop."""
        assert self.loop is not None
        return self.loop.answers

    def chain(self) -> Iterator[Context]:
        """This context and those around it, up to the module, not crossing into callers."""
        context: Context | None = self
        while context is not None:
            yield context
            context = context.parent

    def in_function(self) -> Iterator[Context]:
        """This context and those around it that stand in the same function."""
        for link in self.chain():
            if link.scope is Scope.FUNCTION:
                return
            yield link

    def enclosing(self, scope: Scope) -> Context | None:
        """The nearest context of that sort."""
        for context in self.chain():
            if context.scope is scope:
                return context
        return None

    def enclosing_loops(self) -> tuple[Context, ...]:
        """The loops around it within its function, innermost first; the body of a loop is in that."""
        return (self, *self.outer) if self.scope is Scope.LOOP else self.outer

    def asked(self) -> Asked:
        """What the branches around it ask of the parameters of its function."""
        asks: Asked = frozenset()
        for link in self.in_function():
            asks |= link.asks
        return asks

    def flags_around(self) -> frozenset[str]:
        """The flags of every `with` around it in its function."""
        flags: frozenset[str] = frozenset()
        for link in self.in_function():
            flags |= link.flags
        return flags

    def on_every_way(
        self, holds: Callable[[Context], bool | None], _known: dict[FunctionInfo, bool] | None = None
    ) -> bool:
        """Whether something holds on all ways to the code: around it in its function, or around every call of that.

        Args:
            holds: what a link of the chain, the innermost first, says of all that stands in it; None leaves that to the
                next. Where none says so and nothing in the file calls the function, it does not hold.
        """
        for link in self.chain():
            if (said := holds(link)) is not None:
                return said
            if link.scope is Scope.FUNCTION:
                function = link.function
                assert function is not None
                known = {} if _known is None else _known
                if function not in known:
                    known[function] = False  # within a circle of calls
                    ways = (caller.context.on_every_way(holds, known) for caller in function.callers)
                    known[function] = bool(function.callers) and all(ways)
                return known[function]
        return False

    def excludes(self, other: Context) -> bool:
        """Whether the two stand in branches of one `if` of which only one is taken."""
        taken = {link.node: link.negated for link in self.chain() if link.scope is Scope.BRANCH}
        return bool(taken) and any(
            link.scope is Scope.BRANCH and link.node in taken and taken[link.node] != link.negated
            for link in other.chain()
        )

    def inside(self, other: Context) -> bool:
        """Whether `other` is this context or around it."""
        return any(context is other for context in self.chain())


def leaves(body: cst.BaseSuite) -> bool:
    """Whether a branch ends by leaving the loop around it, or the function: no round comes after it."""
    return type(_last(body)) is cst.Break or ends(body)


def ends(body: cst.BaseSuite) -> bool:
    """Whether a branch ends by leaving the function: no round of any loop in it comes after it."""
    return type(_last(body)) is cst.Return


def _last(body: cst.BaseSuite) -> cst.CSTNode | None:
    """The last statement of a branch."""
    last: cst.CSTNode | None = body.body[-1] if body.body else None
    return last.body[-1] if type(last) is cst.SimpleStatementLine else last

"""The semantic model of one file: what rules ask."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge.names import BUILTINS
from torchlint.semantics import contexts, hotness, surroundings
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context, LoopFacts
from torchlint.semantics.functions import ClassInfo, EffectKind, FunctionInfo, Role
from torchlint.semantics.hotness import Hot
from torchlint.semantics.nodes import LEAVES, children
from torchlint.semantics.sites import Call, Sites
from torchlint.semantics.values import ANYWHERE, DEVICE, HOST, MAYBE_TENSORS, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from torchlint.semantics.project import Project


class Model:
    """What is known of a file: the value of each expression, its functions and classes, the sites rules listen to."""

    def __init__(self, module: cst.Module, path: str = "", project: Project | None = None) -> None:
        self.module = module
        self.path = path
        self.project = project
        # The model of the file that a function, a call or a loop stands in: what makes a line hot may be elsewhere.
        self.home: dict[cst.CSTNode, Model] = {} if project is None else project.home
        # The methods of a name in all that is read together: what a call on something unknown may be.
        self.methods: dict[str, list[FunctionInfo]] = {} if project is None else project.methods
        self.root = FunctionInfo(module, "<module>", "<module>", None, None, None)
        self.values: dict[cst.CSTNode, Value] = {}
        # Where a value that a node made, on one way at least, is read again by its name.
        self.uses: dict[cst.CSTNode, list[cst.BaseExpression]] = {}
        self.augmented: dict[cst.CSTNode, Value] = {}  # the result of an augmented assignment
        self.functions: dict[cst.CSTNode, FunctionInfo] = {}
        self.classes: dict[cst.CSTNode, ClassInfo] = {}
        self.sites = Sites()
        self.imports: set[str] = set()
        self.star_imports: set[str] = set()
        self.accelerated = False  # the file shows a sign of an accelerator
        self.default_device = HOST
        self.grad_off = False  # the file turns autograd off at its top, for all that its program runs
        # The functions as they were recorded, each with how many `values` there were before it and after it.
        self.recorded: list[tuple[int, int, cst.CSTNode]] = []
        self._order: dict[cst.CSTNode, int] = {}
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._unwalked: list[cst.CSTNode] = list(reversed(module.body))
        self._calls: dict[cst.CSTNode, Call] = {}
        self.answers: dict[object, Any] = {}  # to questions about the file that were asked once
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        self.is_test_file = name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"

    def release(self) -> None:
        """Take it apart when nobody asks it any more.

        Its functions, classes and loops hold one another in circles. Left to a search for garbage, these and their
        trees cost a tenth of a whole run.
        """
        for facts in [site.context.loop for site in self.sites.loops]:
            if facts is not None:
                _empty(facts)
        for function in (self.root, *self.functions.values()):
            _empty(function)
        for cls in self.classes.values():
            _empty(cls)
        self.home.clear()
        vars(self).clear()

    @property
    def together(self) -> list[Model]:
        """The models of all files that are read as one program, this one among them.

        To be asked about what becomes of values that the file makes; of all else the others have no say.
        """
        if self.project is None:
            return [self]
        self.project.note(self, ("together", ""))
        return self.project.models

    def everywhere(self, *words: str) -> list[Model]:
        """All models, for what holds in a whole program; where words are given, files without them have no say."""
        if self.project is None:
            return [self]
        self.project.note(self, ("words", " ".join(words)))
        return self.project.models

    def looked_at(self) -> Sites:
        """Its sites, for a question about another file whose answer hangs on the code of this one."""
        if self.project is not None:
            self.project.note_look(self)
        return self.sites

    def overrides(self, cls: ClassInfo, name: str) -> list[FunctionInfo]:
        """The methods of that name in the classes below a class, in all that is read together."""
        if self.project is not None:
            self.project.note(self, ("override", self.project.name_of(cls, name)))
        return cls.overrides(name) if name in self.methods else []

    def note_evidence(self, cls: ClassInfo, attribute: str, evidence: str, function: FunctionInfo) -> None:
        """Note what a function tells of an attribute of a class that it is no part of."""
        if self.project is None:
            return
        while function.parent is not None:
            function = function.parent
        place = function.name if function.cls is None else function.cls.qualname.split(".", 1)[0]
        home = self.home.get(cls.node, self)
        if home is not self or place != cls.qualname.split(".", 1)[0]:
            place = "" if function is self.root else place
            self.project.evidence.setdefault(cls, {}).setdefault((self, place), set()).add((attribute, evidence))

    def is_ambiguous(self, method: str) -> bool:
        """Whether it is known that the classes of the program have several methods of that name, or none."""
        if self.project is None:
            return False
        self.project.note(self, ("method", method))
        return method in self.project.ambiguous

    @property
    def uses_tests(self) -> bool:
        """Whether the file imports a testing framework."""
        return self.is_test_file or any(name.split(".", 1)[0] in ("pytest", "unittest") for name in self.imports)

    @property
    def uses_numpy(self) -> bool:
        """Whether NumPy or its kin are in play: a method name alone then says little."""
        return any(name.split(".", 1)[0] in ("numpy", "pandas", "jax", "scipy", "cupy") for name in self.imports)

    def value(self, node: cst.CSTNode) -> Value:
        """What an expression is at the point where it stands."""
        return self.values.get(node, UNKNOWN)

    def resolve(self, node: cst.BaseExpression) -> str | None:
        """The qualified name of an expression, or None."""
        value = self.value(node)
        if value.fn is not None and value.qual in BUILTINS:
            return None  # a `sum` of the program's own
        return value.qual if value.kind in (Kind.FUNCTION, Kind.CLASS, Kind.NAMESPACE, Kind.MODULE) else None

    def call(self, node: cst.CSTNode) -> Call | None:
        """The site of a call."""
        if not self._calls:
            self._calls = {site.node: site for site in self.sites.calls}
        return self._calls.get(node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node around a node. A question walks a whole definition: ask where there may be something to report."""
        self.looked_at()
        if node not in self._parents and (function := self._function_with(node)) is not None:
            self._walk(function)
        while node not in self._parents and self._unwalked:
            # One definition after the other: what is asked about mostly stands in a few of them.
            statement = self._unwalked.pop()
            self._parents[statement] = self.module
            self._walk(statement)
        return self._parents.get(node)

    def _function_with(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The function in which an expression was evaluated; None where that is not known."""
        if not self._order:
            self._order = {evaluated: place for place, evaluated in enumerate(self.values)}
        place = self._order.get(node)
        if place is None:
            return None
        index = bisect.bisect_right(self.recorded, place, key=_before) - 1
        if index < 0:
            return None
        _, after, function = self.recorded[index]
        return function if place < after else None

    def _walk(self, definition: cst.CSTNode) -> None:
        """Note the parents of all that stands below."""
        todo = [definition]
        while todo:
            around = todo.pop()
            for inner in children(around):
                self._parents[inner] = around
                if type(inner) not in LEAVES:
                    todo.append(inner)

    def hot(self, context: Context) -> Hot | None:
        """Whether code here runs once per step or more often, and why."""
        return hotness.hot(context)

    def autograd_off(self, context: Context) -> bool:
        """Whether autograd is off here, or in every caller that is known."""
        return surroundings.autograd_off(context)

    def compiled(self, context: Context) -> FunctionInfo | None:
        """The compiled function that covers the code, or None."""
        return surroundings.compiled(context)

    def device_confidence(self, value: Value, context: Context, *, by_method: bool = False) -> Confidence | None:
        """How sure it is that reading the value waits for a device; None where it does not.

        A value that is known to be on the host never waits. One of unknown place waits `likely` in a hot interface or a
        file that shows an accelerator, else `possible`. `by_method`: the code calls a method that tensors have on it,
        which is evidence of a tensor where only its name was.
        """
        if value.device == HOST or value.kind not in MAYBE_TENSORS:
            return None
        if surroundings.in_worker(context):
            return None
        conf = value.conf
        if value.kind is Kind.UNKNOWN:
            conf = Confidence.POSSIBLE
            if not by_method:
                return None
            if value.device & DEVICE:
                conf = Confidence.LIKELY
        elif conf is Confidence.POSSIBLE and by_method and (value.device & DEVICE or not self.uses_numpy):
            conf = Confidence.LIKELY
        if value.kind is Kind.BATCH and not by_method:
            conf = Confidence.POSSIBLE
        if not value.device & DEVICE:
            hot = hotness.hot(context)
            if hot is not None and (hot.interface or self._shows_accelerator(hot)) or self.accelerated:
                conf = min(conf, Confidence.LIKELY)
            else:
                conf = Confidence.POSSIBLE
        elif value.device & ANYWHERE:
            conf = min(conf, Confidence.LIKELY)
        return conf

    def _shows_accelerator(self, hot: Hot) -> bool:
        """Whether a file on the way from the loop to the line shows a sign of an accelerator."""
        return any(self.home.get(node, self).accelerated for _, node in hot.reasons)

    def grad_off_for_all(self, context: Context) -> bool:
        """Whether a file on the way to the code turns autograd off at its top."""
        if self.project is not None:
            self.project.note(self, ("words", "set_grad_enabled"))
        hot = self.hot(context)
        return self.grad_off or any(
            self.home.get(node, self).grad_off for _, node in (hot.reasons if hot is not None else ())
        )

    def near(self, context: Context) -> Model:
        """The model of the file in which code stands, which may be another one of the project."""
        return self.home.get(context.owner.node, self) if context.owner is not None else self

    def function_of(self, context: Context) -> FunctionInfo:
        """The function whose body it is in; the module's own for top-level code."""
        if context.owner is not None:
            return context.owner
        module = context.enclosing(contexts.Scope.MODULE)
        return module.function if module is not None and module.function is not None else self.root

    def function_around(self, node: cst.CSTNode) -> FunctionInfo | None:
        """The function whose code a node is a part of, or which it is; None for top-level code."""
        around: cst.CSTNode | None = node
        while around is not None and around not in self.functions:
            around = self.parent(around)
        return self.functions[around] if around is not None else None

    def in_measurement(self, context: Context) -> bool:
        """Whether the code stands in a function that reads clocks or events, and is no step of a training."""
        hot = self.hot(context)
        if hot is not None and hot.trains:
            return False
        return any(map(_measures, self.function_of(context).outward()))

    def is_role(self, context: Context, *roles: Role) -> bool:
        """Whether the function around has one of the roles."""
        owner = context.owner
        return owner is not None and owner.role in roles


def _before(recorded: tuple[int, int, cst.CSTNode]) -> int:
    return recorded[0]


def _empty(held: FunctionInfo | ClassInfo | LoopFacts) -> None:
    for name in held.__slots__:
        setattr(held, name, None)


@question(False)
def _measures(function: FunctionInfo) -> bool:
    """Whether a function reads clocks or events, or calls one that reads clocks."""
    return any(effect.kind in (EffectKind.CLOCK, EffectKind.ELAPSED) for effect in function.effects) or any(
        effect.callee is not None and any(inner.kind is EffectKind.CLOCK for inner in effect.callee.effects)
        for effect in function.effects
    )

"""The ground of all reading: where the reader stands, names, effects, and the tensors that operations give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics import sites
from torchlint.semantics.contexts import Asked, Context, Scope
from torchlint.semantics.functions import ClassInfo, Effect, EffectKind, FunctionInfo
from torchlint.semantics.names import dotted, literal
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    MAYBE_TENSORS,
    PLACES,
    UNKNOWN,
    Kind,
    Value,
)

if TYPE_CHECKING:
    from torchlint.semantics.model import Model
    from torchlint.semantics.reading.members import Replacing


T = TypeVar("T")
Env = dict[str, Value]


class Frame:
    """A function's (or the module's, or a class body's) walk: its environment and where names outside it are found."""

    __slots__ = (
        "breaks",
        "cls",
        "continues",
        "env",
        "info",
        "nonlocals",
        "parent",
        "passes",
        "results",
        "ways",
        "yields",
    )

    def __init__(self, info: FunctionInfo, parent: Frame | None, cls: ClassInfo | None = None) -> None:
        self.info = info
        self.parent = parent
        self.cls = cls  # of a class body
        self.env: Env = {}
        self.results: list[Value] = []
        self.ways: list[tuple[Asked, Value]] = []  # the results, with what is asked of the parameters for each
        self.yields: list[Value] = []
        self.passes: set[int | None] = set()  # of each yield, the parameter whose elements it passes on as they are
        self.continues: list[list[Env]] = []
        self.breaks: list[list[Env]] = []
        self.nonlocals: set[str] = set()


class _Within:
    """Sets a reader's context, and sets it back; branches are too many for a generator each."""

    __slots__ = ("context", "reader", "saved")

    def __init__(self, reader: Reader, context: Context) -> None:
        self.reader = reader
        self.context = context

    def __enter__(self) -> None:
        self.saved = self.reader.context
        self.reader.context = self.context

    def __exit__(self, *_: object) -> None:
        self.reader.context = self.saved


def _place_of(operands: Sequence[Value]) -> int:
    """Where the result of an operation is: host and device do not mix, unless one is a single number."""
    bits, on_host = 0, False
    for value in operands:
        if value.device == DEVICE:
            return DEVICE
        if value.device == HOST:
            on_host = on_host or bool(value.rank)
            if value.rank == 0 and len(operands) > 1:
                continue  # a 0-d host tensor rides along
        bits |= value.device or ANYWHERE
    return HOST if on_host else bits or HOST


def _graph_of(operands: Sequence[Value]) -> int:
    """Whether a graph hangs on the result of an operation: it does where one hangs on any operand."""
    marks = 0
    for value in operands:
        if value.graph == ATTACHED:
            return ATTACHED
        marks |= value.graph or MAYBE
    return marks & ~DETACHED or DETACHED


# What reads an expression, by its type; filled by the classes built on `Reader`.
READS: Final[dict[type[cst.CSTNode], Callable[[Any, Any], Value]]] = {}


class Reader:
    """Holds where the reading stands; evaluates by dispatch to the classes built on it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sites = model.sites
        self.recording = False
        self.frame: Frame = None  # type: ignore[assignment]
        self.module_frame: Frame = None  # type: ignore[assignment]
        self.context = Context(Scope.MODULE, model.module, None)
        self.reached = self.context  # where the suite that was walked last ends
        self.statement: cst.CSTNode | None = None
        self.callees: set[cst.BaseExpression] = set()  # attributes that are being called
        self.dotted_bases: set[str] = set()  # the names that have known attributes in an environment
        self.instances: dict[ClassInfo, Value] = {}
        self.frames: dict[FunctionInfo, Frame] = {}  # where a function is defined: its closure
        self.replacements: dict[cst.CSTNode, Replacing] = {}  # by the statements that give members new values
        self.keyed: dict[cst.CSTNode, bool] = {}  # loops: whether they index what they iterate by what that gives
        self.registers: dict[cst.CSTNode, Value] = {}  # empty dictionaries, as they were filled when last read
        self.looked_up: dict[FunctionInfo, dict[cst.CSTNode, Value | None]] = {}  # what functions found in these
        self.pending: list[tuple[FunctionInfo, Frame]] = []  # defined, and not read yet
        self.sums: set[tuple[cst.BaseExpression, cst.BaseExpression]] = set()  # targets and values that were noted
        self.told: dict[tuple[object, ...], Any] = {}  # what was asked `once`

    # What the classes built on this one provide

    def call(self, node: cst.Call) -> Value:
        raise NotImplementedError

    def lambda_function(self, node: cst.Lambda) -> Value:
        raise NotImplementedError

    def call_property(self, method: FunctionInfo, owner: Value, node: cst.CSTNode) -> Value:
        raise NotImplementedError

    def called(self, info: FunctionInfo, node: cst.CSTNode, part: str = "") -> None:
        raise NotImplementedError

    def read_function(self, info: FunctionInfo) -> None:
        raise NotImplementedError

    def suite(self, body: cst.BaseSuite) -> bool:
        raise NotImplementedError

    def assign(
        self, target: cst.BaseExpression, value: Value, node: cst.CSTNode, value_node: cst.BaseExpression | None
    ) -> None:
        raise NotImplementedError

    # Evaluation

    def eval(self, node: cst.BaseExpression) -> Value:
        """What an expression gives here."""
        read = READS.get(type(node))
        value = read(self, node) if read is not None else UNKNOWN
        if self.recording:
            self.model.values[node] = value
        return value

    def eval_quietly(self, node: cst.BaseExpression) -> Value:
        """The same for an expression that is evaluated elsewhere as well: no site is recorded twice."""
        recorded = self.model.values.get(node) if self.recording else None
        if recorded is not None:
            return recorded
        recording, self.recording = self.recording, False
        try:
            return self.eval(node)
        finally:
            self.recording = recording

    def once(self, ask: Callable[..., T], *about: Any) -> T:
        """What `ask` tells of syntax, which is read several times and stays the same."""
        key = (ask, *about)
        if key not in self.told:
            self.told[key] = ask(*about)
        return self.told[key]  # type: ignore[no-any-return]

    def lookup(self, name: str) -> Value | None:
        frame: Frame | None = self.frame
        while frame is not None:
            value = frame.env.get(name)
            if value is not None:
                return value
            frame = frame.parent
            while frame is not None and frame.cls is not None:
                frame = frame.parent
        project = self.model.project
        if project is not None and project.is_part:
            project.need_own(self.model, name)
        return None

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
        effect = Effect(kind, node, self.context, value, callee, part)
        self.frame.info.effects.append(effect)
        loops = self.context.enclosing_loops()
        if loops:
            facts = loops[0].loop
            assert facts is not None
            facts.body_effects.append(effect)

    def formatted(self, node: cst.BaseExpression, part: cst.BaseExpression, value: Value, how: str) -> None:
        """Record that a value becomes text."""
        if not self.recording:
            return
        if value.kind in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN, Kind.CONTAINER):
            self.sites.formats.append(sites.Format(node, part, value, how, self.context, self.statement))
        if value.kind in (Kind.TENSOR, Kind.BATCH) and not value.on_host:
            self.effect(EffectKind.WAIT, part, value)

    def truth(self, node: cst.BaseExpression, value: Value, how: str) -> None:
        """Record that the truth of a value is taken."""
        if value.kind in MAYBE_TENSORS and self.recording:
            self.sites.truths.append(sites.Truth(node, value, how, self.context, self.statement))
            if value.kind is Kind.TENSOR and not value.on_host:
                self.effect(EffectKind.WAIT, node, value)

    def tensor(
        self,
        node: cst.CSTNode,
        operands: Sequence[Value],
        conf: Confidence | None = None,
        *,
        dtype: str | None = None,
        rank: int | None = None,
        device: int | None = None,
        graph: int | None = None,
    ) -> Value:
        """The tensor that an operation on operands gives."""
        tensors = [value for value in operands if value.kind in MAYBE_TENSORS]
        placed = [value for value in tensors if value.kind is not Kind.UNKNOWN] or tensors
        if device is None:
            device = _place_of(placed)
        if graph is None:
            graph = _graph_of(tensors)
        if graph != DETACHED and self.grad_is_off():
            graph = DETACHED
        if conf is None:
            confs = [value.conf for value in placed if value.kind is not Kind.UNKNOWN]
            conf = min(confs) if confs else Confidence.POSSIBLE
        deps = 0
        for value in tensors:
            deps |= value.deps if value.graph != DETACHED else value.deps & PLACES
        return Value(Kind.TENSOR, conf, device=device, graph=graph, dtype=dtype, rank=rank, origins=(node,), deps=deps)

    def grad_is_off(self) -> bool:
        """Whether autograd is off here by a `with` or a decorator of this function."""
        return self.context.grad_off

    def launch(self, value: Value, node: cst.CSTNode) -> Value:
        """Note that an operation puts work on the device, where its result may be there."""
        if value.device & ~HOST and self.recording:
            self.effect(EffectKind.LAUNCH, node, value)
        return value

    def literal_key(self, node: cst.Subscript) -> Any:
        """The literal key of a subscript, or None."""
        if len(node.slice) == 1 and type(node.slice[0].slice) is cst.Index:
            const = self.eval_quietly(node.slice[0].slice.value).const
            if isinstance(const, (int, str)):
                return const
        return None

    def entry_name(self, node: cst.BaseExpression) -> str | None:
        """The name under which an environment holds what is known of `batch["x"]` alone; None of other expressions."""
        if type(node) is not cst.Subscript or len(node.slice) != 1:
            return None
        index = node.slice[0].slice
        if type(index) is not cst.Index or type(index.value) is not cst.SimpleString:
            return None
        holder = dotted(node.value)
        return f"{holder}.{literal(index.value)!r}" if holder is not None else None

    def store(self, cls: ClassInfo, attribute: str, node: cst.CSTNode, value: Value) -> None:
        """Note that a statement of the code at hand gives the attribute of a class a value."""
        cls.store(attribute, node, value)
        self.frame.info.stores.append((cls, attribute, node))

    def note_stored_parameter(self, value: Value) -> None:
        if value.ident is not None and value.ident < 60:
            self.frame.info.stored |= 1 << value.ident

    def within(self, context: Context) -> _Within:
        """Reads what stands in a `with` statement of this as in the context."""
        return _Within(self, context)

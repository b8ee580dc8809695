"""What an expression is at one point of a program, as far as the source tells.

A `Value` is an abstract value: what kind of thing, where its data lives, whether a graph hangs on it, and how sure that
is. Unknown is a value like any other; nothing is ever concluded from it. Values are never changed after they were made,
with one exception: a container's `elem` and `items` grow in place, so that aliases of one list see what was appended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from torchlint.findings import Confidence
from torchlint.knowledge.devices import ACCELERATORS
from torchlint.semantics.enumeration import Enumeration

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.semantics.functions import ClassInfo, FunctionInfo


class Kind(Enumeration):
    """What sort of thing a value is."""

    UNKNOWN = "unknown"
    TENSOR = "tensor"
    NDARRAY = "ndarray"  # an array or scalar of NumPy and its kin
    NUMBER = "number"  # a Python number or truth value
    STRING = "string"
    NONE = "none"
    SHAPE = "shape"  # torch.Size, or a tuple of sizes
    DEVICE = "device"
    DTYPE = "dtype"
    CLOCK = "clock"  # a number that a host clock gave
    CONTAINER = "container"  # list, tuple, dict, set, iterator or generator of values
    BATCH = "batch"  # what a loader yields: a tensor, or any structure of tensors
    MODULE = "module"  # an nn.Module
    OPTIMIZER = "optimizer"
    LOADER = "loader"
    DATASET = "dataset"
    SCALER = "scaler"  # a gradient scaler
    EVENT = "event"
    STREAM = "stream"
    PARAMETERS = "parameters"  # an iterable of parameters
    FUNCTION = "function"
    CLASS = "class"
    NAMESPACE = "namespace"  # an imported Python module
    OBJECT = "object"  # an instance of a class that is none of the above


MAYBE_TENSORS: Final = frozenset({Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN})  # what may turn out to be a tensor

_NO_TENSORS: Final = frozenset({Kind.NUMBER, Kind.CLOCK, Kind.STRING, Kind.CONTAINER, Kind.NDARRAY})

# Where a value's data may live: a set of possibilities, as bits. 0: the question does not arise.
HOST: Final = 1
DEVICE: Final = 2
ANYWHERE: Final = 4  # not known

# Whether an autograd graph may hang on a tensor: a set of possibilities, as bits.
DETACHED: Final = 1
ATTACHED: Final = 2
MAYBE: Final = 4  # not known

# The parameters that a value comes from, as bits: below, those whose device it shares; above, those whose graph.
_PARAMETERS: Final = 61  # bits for each; parameters beyond share the last but one
PLACES: Final = (1 << _PARAMETERS) - 1
# Beside parameters: on some way it is on a device whatever these are, as after `if cuda: x = x.cuda()`.
OWN_DEVICE: Final = 1 << _PARAMETERS - 1
OWN_GRAPH: Final = OWN_DEVICE << _PARAMETERS  # a graph hangs on it whatever these are, as on what a network makes


def device_bits(text: str) -> int:
    """Where a device string such as "cuda:0" points to; 0 for any other text."""
    kind = text.split(":", 1)[0]
    if kind == "cpu":
        return HOST
    return DEVICE if kind in ACCELERATORS else 0


def dependence(index: int) -> int:
    """The bits of what shares device and graph with the parameter of that index."""
    bit: int = 1 << min(index, _PARAMETERS - 2)
    return bit | bit << _PARAMETERS


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()  # no literal is known


class Gate(Enumeration):
    """What a condition says about how often its body runs."""

    RARE = "rare"  # every N steps, the first or the last step, once
    DEBUG = "debug"  # a debugging, tracing or profiling flag
    HOST = "host"  # only where the tensor is on the host, or on another backend than CUDA
    NONE = "none"


class Value:
    """An abstract value.

    `origins` are the nodes that made it (several after a join), `deps` the parameters of the function at hand whose
    device and graph it shares (see `dependence`), `ident` the parameter that it is. `gates` says what its truth and its
    falsehood tell about how often code runs.
    """

    __slots__ = (
        "bound",
        "choices",
        "classes",
        "cls",
        "conf",
        "const",
        "deps",
        "device",
        "dtype",
        "elem",
        "fn",
        "gates",
        "graph",
        "ident",
        "items",
        "kind",
        "loaders",
        "optional",
        "origins",
        "pinned",
        "qual",
        "rank",
        "shape",
    )

    def __init__(
        self,
        kind: Kind = Kind.UNKNOWN,
        conf: Confidence = Confidence.SURE,
        device: int = 0,
        graph: int = 0,
        dtype: str | None = None,
        rank: int | None = None,
        shape: tuple[int | None, ...] | None = None,
        pinned: bool | None = None,
        elem: Value | None = None,
        items: dict[Any, Value] | None = None,
        const: Any = MISSING,
        qual: str | None = None,
        cls: ClassInfo | None = None,
        classes: tuple[ClassInfo, ...] = (),
        fn: FunctionInfo | None = None,
        bound: Value | None = None,
        origins: tuple[cst.CSTNode, ...] = (),
        deps: int = 0,
        ident: int | None = None,
        gates: tuple[Gate, Gate] | None = None,
        optional: bool = False,
        loaders: tuple[cst.CSTNode, ...] = (),
        choices: tuple[Value, ...] = (),
    ) -> None:
        self.kind = kind
        self.conf = conf
        self.device = device
        self.graph = graph
        self.dtype = dtype  # "float32", "bool", "int64", ..., without "torch."
        self.rank = len(shape) if shape is not None else rank
        self.shape = shape  # sizes; None where a size is not a literal
        self.pinned = pinned
        self.elem = elem  # what iterating or indexing a container gives
        self.items = items  # known members: by index, key or option name
        self.const = const  # the literal
        self.qual = qual  # qualified name: of the thing itself, or of an instance's class
        self.cls = cls
        self.classes = classes  # those that it may be of, where it is one of several that have nothing in common
        self.fn = fn
        self.bound = bound  # the receiver of a bound method
        self.origins = origins
        self.deps = deps
        self.ident = ident
        self.gates = gates
        self.optional = optional  # may be None as well
        self.loaders = loaders  # the calls that made the loaders a batch may come from
        self.choices = choices  # the functions or classes that one to be called is one of

    def but(self, **changes: Any) -> Value:
        """A copy with some fields changed."""
        new = Value.__new__(Value)
        # Written out: values are copied more often than anything else is done, and a loop takes three times as long.
        new.bound = self.bound
        new.choices = self.choices
        new.classes = self.classes
        new.cls = self.cls
        new.conf = self.conf
        new.const = self.const
        new.deps = self.deps
        new.device = self.device
        new.dtype = self.dtype
        new.elem = self.elem
        new.fn = self.fn
        new.gates = self.gates
        new.graph = self.graph
        new.ident = self.ident
        new.items = self.items
        new.kind = self.kind
        new.loaders = self.loaders
        new.optional = self.optional
        new.origins = self.origins
        new.pinned = self.pinned
        new.qual = self.qual
        new.rank = self.rank
        new.shape = self.shape
        for slot, value in changes.items():
            setattr(new, slot, value)
        if changes.get("shape") is not None:
            new.rank = len(changes["shape"])
        return new

    @property
    def origin(self) -> cst.CSTNode | None:
        """The one node that made the value, or None where there are several or none."""
        return self.origins[0] if len(self.origins) == 1 else None

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor or a batch, at any confidence."""
        return self.kind is Kind.TENSOR or self.kind is Kind.BATCH

    @property
    def is_no_tensor(self) -> bool:
        """Whether it is known to be something else: asking whether it is a tensor does not make it one."""
        return self.kind is Kind.SHAPE or (self.kind in _NO_TENSORS and self.conf is Confidence.SURE)

    @property
    def on_host(self) -> bool:
        """Whether it is known to be on the host."""
        return self.device == HOST

    @property
    def may_be_device(self) -> bool:
        """Whether there is evidence that it is on an accelerator."""
        return bool(self.device & DEVICE)

    @property
    def attached(self) -> bool:
        """Whether there is evidence that a graph hangs on it."""
        return bool(self.graph & ATTACHED)

    def __repr__(self) -> str:
        return describe(self)


UNKNOWN: Final = Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE)
NONE: Final = Value(Kind.NONE, const=None)
NUMBER: Final = Value(Kind.NUMBER)
STRING: Final = Value(Kind.STRING)


def _bits(mask: int, names: tuple[str, str, str]) -> str:
    return "|".join(name for bit, name in zip((1, 2, 4), names, strict=True) if mask & bit)


def describe(value: Value) -> str:
    """One line about a value for people: `tensor(device, attached, float32) likely`."""
    facts = []
    if value.device:
        facts.append(_bits(value.device, ("host", "device", "anywhere")))
    if value.graph and value.kind in MAYBE_TENSORS:
        facts.append(_bits(value.graph, ("detached", "attached", "graph?")))
    if value.dtype:
        facts.append(value.dtype)
    if value.shape is not None:
        facts.append("[" + ",".join("?" if n is None else str(n) for n in value.shape) + "]")
    elif value.rank is not None:
        facts.append(f"{value.rank}-d")
    if value.pinned is not None:
        facts.append("pinned" if value.pinned else "pageable")
    if value.cls is not None:
        facts.append(value.cls.name)
    if value.fn is not None:
        facts.append(value.fn.qualname)
    if value.qual:
        facts.append(value.qual)
    if value.const is not MISSING and value.kind is not Kind.NONE:
        facts.append(repr(value.const))
    if value.kind is Kind.CONTAINER and value.elem is not None:
        facts.append(f"of {value.elem.kind.value}")
    if value.optional:
        facts.append("or None")
    text = value.kind.value + (f"({', '.join(facts)})" if facts else "")
    return text if value.conf is Confidence.SURE else f"{text} {value.conf}"


_SCALARS = (Kind.NUMBER, Kind.CLOCK)
_CALLED = (Kind.FUNCTION, Kind.CLASS)
_PLACED_OTHERWISE = (Kind.STRING, Kind.OBJECT)  # than tensors: see `_device`
_NO_MANAGER = "contextlib.nullcontext"
_MOST_CLASSES = 6  # of more, a call tells nothing of any


def _one(a: Any, b: Any) -> Any:
    return a if a == b else None


def join(a: Value, b: Value) -> Value:
    """The value that is `a` or `b`: after branches, between rounds of a loop, over the call sites of a function."""
    if a is b:
        return a
    if a.kind is not b.kind:
        return _join_kinds(a, b)
    if a.kind is Kind.NONE:
        return a
    if a.kind is Kind.NAMESPACE and a.qual != b.qual:
        return UNKNOWN  # `torch.cuda if ... else torch.cpu`: what it has goes by its methods' names
    if a.kind is Kind.OBJECT and a.qual != b.qual and _NO_MANAGER in (a.qual, b.qual):
        entered = b if a.qual == _NO_MANAGER else a
        return entered if entered.optional else entered.but(optional=True)  # as None is to a value
    same_fn = a.fn is b.fn
    cls, classes, origins = a.cls, a.classes, _union(a.origins, b.origins)
    if a.cls is not b.cls or a.classes != b.classes:
        cls = a.cls.common_base(b.cls) if a.cls is not None and b.cls is not None else None
        if cls is not None:
            origins = ()  # an instance of some class below it, not what one of its constructions made
        else:
            classes = _classes(a, b)
    elem = a.elem if a.elem is b.elem else join_optional(a.elem, b.elem)
    items = a.items
    if items is not b.items:
        # Joined anew each round of a loop: equal content gives an equal join, so rounds converge.
        if a.items is None or b.items is None:
            items = None if a.kind is not Kind.LOADER else (a.items or b.items)
        else:
            items = {k: join(v, b.items[k]) if k in b.items else v for k, v in a.items.items()}
            items.update((k, v) for k, v in b.items.items() if k not in items)
    const: Any = MISSING
    if a.const is not MISSING and b.const is not MISSING and type(a.const) is type(b.const) and a.const == b.const:
        const = a.const
    # Written out as in `Value.but`.
    new = Value.__new__(Value)
    new.bound = a.bound if same_fn else None
    new.choices = _choices(a, b) if a.kind in _CALLED and cls is None else ()
    new.classes = classes
    new.cls = cls
    new.conf = a.conf if a.conf is b.conf else min(a.conf, b.conf)
    new.const = const
    new.deps = a.deps if a.deps == b.deps else _deps(a, b)
    new.device = _device(a, b) if a.kind in _PLACED_OTHERWISE else a.device | b.device
    new.dtype = a.dtype if a.dtype == b.dtype else None
    new.elem = elem
    new.fn = a.fn if same_fn else None
    new.gates = a.gates if a.gates == b.gates else _gates(a, b)
    new.graph = a.graph | b.graph
    new.ident = a.ident if a.ident == b.ident else None
    new.items = items
    new.kind = a.kind
    new.loaders = a.loaders if a.loaders is b.loaders else _union(a.loaders, b.loaders)
    new.optional = a.optional or b.optional
    new.origins = origins
    new.pinned = a.pinned if a.pinned == b.pinned else None
    new.qual = a.qual if a.qual == b.qual else None
    new.shape = a.shape if a.shape == b.shape else None
    new.rank = len(new.shape) if new.shape is not None else a.rank if a.rank == b.rank else None
    return new


def _deps(a: Value, b: Value) -> int:
    """The parameters that one of two values comes from, and whether the other is on a device without them."""
    own = (a.device & DEVICE and not a.deps & PLACES) or (b.device & DEVICE and not b.deps & PLACES)
    either = a.deps | b.deps
    return either | OWN_DEVICE if own and either & PLACES else either


def _device(a: Value, b: Value) -> int:
    """Where one of two values is. Of an object that holds others the question does not arise, but of those it does.

    A text that is not known may name a place as well as the one that does.
    """
    either = a.device | b.device
    if either and a.kind is Kind.STRING and b.kind is Kind.STRING and not (a.device and b.device):
        return either | ANYWHERE
    if either and (a.kind is Kind.OBJECT and not a.device or b.kind is Kind.OBJECT and not b.device):
        return either | ANYWHERE
    return either


def _gates(a: Value, b: Value) -> tuple[Gate, Gate] | None:
    """What the truth of one of two values tells: a flag that is off until it is set tells only by its truth."""
    for x, y in ((a, b), (b, a)):
        if x.gates is not None and isinstance(y.const, bool):
            return (Gate.NONE, x.gates[1]) if y.const else (x.gates[0], Gate.NONE)
    return None


def _classes(a: Value, b: Value) -> tuple[ClassInfo, ...]:
    """The classes that one of two values may be of, where those of both are known and few."""
    either = [value.classes or ((value.cls,) if value.cls is not None else ()) for value in (a, b)]
    found = tuple(dict.fromkeys(cls for classes in either for cls in classes)) if all(either) else ()
    return found if len(found) <= _MOST_CLASSES else ()


def _with_unknown(function: Value) -> tuple[Value, ...]:
    """The functions that one may be, where it may be another that is not known as well."""
    choices = function.choices or (function,)
    return choices if UNKNOWN in choices else (*choices, UNKNOWN)


def _choices(a: Value, b: Value) -> tuple[Value, ...]:
    """The functions or classes that one of two values may be, where those of both are known and few."""
    found: list[Value] = []
    for one in (*(a.choices or (a,)), *(b.choices or (b,))):
        if one.fn is None and one.cls is None and one is not UNKNOWN and (one.qual is None or one.bound is not None):
            return ()
        if not any(other.fn is one.fn and other.cls is one.cls and other.qual == one.qual for other in found):
            found.append(one)
    return tuple(found) if 1 < len(found) <= _MOST_CLASSES else ()


def _union(a: tuple[cst.CSTNode, ...], b: tuple[cst.CSTNode, ...]) -> tuple[cst.CSTNode, ...]:
    if a is b or not b:
        return a
    if len(a) == len(b) == 1:  # nearly always
        return a if a[0] is b[0] else a + b
    return tuple({id(node): node for node in (*a, *b)}.values())[:8]


def _join_kinds(a: Value, b: Value) -> Value:
    if b.kind is Kind.NONE:
        return a if a.optional else a.but(optional=True)
    if a.kind is Kind.NONE:
        return b if b.optional else b.but(optional=True)
    for x, y in ((a, b), (b, a)):
        if x.kind is Kind.TENSOR:
            if y.kind in _SCALARS:
                # `total = 0`, then `total += loss`: a tensor from the second round on. What was read is a number, and
                # the other way, as for a loss of zero, is the seldom one.
                conf = Confidence.POSSIBLE if y.kind is Kind.NUMBER and y.origins else Confidence.LIKELY
                return x.but(conf=min(x.conf, conf), origins=_union(a.origins, b.origins), const=MISSING)
            if y.kind in (Kind.UNKNOWN, Kind.BATCH):
                return x.but(
                    conf=min(x.conf, Confidence.LIKELY),
                    device=x.device | (y.device or ANYWHERE),
                    graph=x.graph | (y.graph or MAYBE),
                    origins=_union(a.origins, b.origins),
                    deps=_deps(a, b),
                    ident=None,
                    pinned=_one(a.pinned, b.pinned),
                    const=MISSING,
                )
    for x, y in ((a, b), (b, a)):
        known = x.kind in (Kind.NDARRAY, Kind.MODULE, Kind.CONTAINER) or (x.kind is Kind.OBJECT and x.cls is not None)
        if known and y.kind is Kind.UNKNOWN:
            return x.but(conf=min(x.conf, Confidence.LIKELY), device=x.device | (y.device if x.device else 0))
        if x.kind is Kind.CONTAINER and y.kind is Kind.BATCH and x.elem is not None and x.elem.kind is Kind.TENSOR:
            return x.but(conf=min(x.conf, Confidence.LIKELY))  # the losses as a model gave them, or their means
        if x.kind is Kind.FUNCTION and y.kind is Kind.UNKNOWN and (x.fn is not None or x.choices):
            return x.but(fn=None, bound=None, qual=None, choices=_with_unknown(x))  # `update or default_update`
        if x.kind is Kind.CLOCK and y.kind is Kind.NUMBER:
            return x.but(origins=_union(a.origins, b.origins))
        if x.kind is Kind.PARAMETERS and y.kind is Kind.CONTAINER:
            return x.but(conf=min(x.conf, Confidence.LIKELY))  # `if isinstance(params, Tensor): params = [params]`
        if x.kind is Kind.STRING and y.kind is Kind.DEVICE:
            return y.but(device=a.device | b.device)
        if x.kind in (Kind.STRING, Kind.DEVICE) and x.device and y.kind is Kind.NUMBER:
            return x.but(kind=Kind.DEVICE, device=x.device | DEVICE, const=MISSING)  # `rank if cuda else "cpu"`
    return Value(
        Kind.UNKNOWN,
        min(a.conf, b.conf),
        device=_device(a, b) or ANYWHERE,
        graph=(a.graph | b.graph) or MAYBE,
        origins=_union(a.origins, b.origins),
        deps=_deps(a, b),
        elem=join_optional(a.elem, b.elem),
        # Where only one of them has parts, what takes it apart expects those: a tensor, or a tuple it is the first of.
        items=a.items if b.items is None else b.items if a.items is None else None,
    )


def join_optional(a: Value | None, b: Value | None) -> Value | None:
    """`join`, where either may be absent."""
    if a is None:
        return b
    return a if b is None else join(a, b)


def grow(container: Value, value: Value, key: object) -> None:
    """A container takes one more element, under a key where that is a literal; aliases of it see that."""
    if _holds(value, container):
        value = UNKNOWN  # it would hold itself, and nothing that follows its elements would come to an end
    elem = value if container.elem is None else join(container.elem, value)
    if container.elem is not None and elem.kind is Kind.TENSOR and Kind.BATCH in (container.elem.kind, value.kind):
        elem = elem.but(kind=Kind.BATCH)  # some are tensors, of others that is not known
    container.elem = elem
    if key is not None:
        if container.items is None:
            container.items = {}
        container.items[key] = join(container.items[key], value) if key in container.items else value


def holds_functions(container: Value) -> bool:
    """Whether what a container holds are functions."""
    return container.elem is not None and container.elem.kind is Kind.FUNCTION


def _holds(value: Value, sought: Value) -> bool:
    """Whether a value is the sought one, or one of its elements at any depth is."""
    todo: list[Value] = [value]
    seen: set[Value] = set()
    while todo:
        value = todo.pop()
        if value is sought:
            return True
        if value not in seen and (value.elem is not None or value.items):
            seen.add(value)
            if value.elem is not None:
                todo.append(value.elem)
            todo += (value.items or {}).values()
    return False


def same(a: Value | None, b: Value | None) -> bool:
    """Whether two values tell the same facts; origins and nested members are not compared deeply."""
    if a is b:
        return True
    if a is None or b is None:
        return False
    return (
        a.kind is b.kind
        and a.conf == b.conf
        and a.device == b.device
        and a.graph == b.graph
        and a.dtype == b.dtype
        and a.rank == b.rank
        and a.pinned == b.pinned
        and a.cls is b.cls
        and a.classes == b.classes
        and a.fn is b.fn
        and len(a.choices) == len(b.choices)
        and a.qual == b.qual
        and (a.elem is b.elem or (a.elem is not None and b.elem is not None and a.elem.kind is b.elem.kind))
    )

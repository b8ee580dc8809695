"""What an instance is, of a class of the file, of another package, or of what an annotation names."""

from __future__ import annotations

import functools

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.semantics.functions import ClassInfo
from torchlint.semantics.names import dotted, literal
from torchlint.semantics.reading.evidence import HELD, EvidenceReader
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DEVICE,
    HOST,
    MAYBE,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Kind,
    Value,
    join,
    join_optional,
)

_SIMPLE_TYPES: dict[str, Value] = {
    "int": NUMBER,
    "float": NUMBER,
    "bool": NUMBER.but(dtype="bool"),
    "complex": NUMBER,
    "str": STRING,
    "bytes": STRING,
    "list": Value(Kind.CONTAINER, Confidence.LIKELY, qual="list"),
    "tuple": Value(Kind.CONTAINER, Confidence.LIKELY, qual="tuple"),
    "dict": Value(Kind.CONTAINER, Confidence.LIKELY, qual="dict"),
    "set": Value(Kind.CONTAINER, Confidence.LIKELY, qual="set"),
}


_SEQUENCES = frozenset("list List Sequence Iterable Iterator Generator tuple Tuple set Set Collection deque".split())


@functools.lru_cache(maxsize=4096)
def _of_package(qual: str) -> tuple[Value, bool]:
    """What a canonical name of another package is, and whether its use is a sign of an accelerator."""
    last = qual.rsplit(".", 1)[-1]
    top = qual.split(".", 1)[0]
    accelerates = qual.startswith("torch.cuda") and last not in ("is_available", "device_count", "cuda", "amp")
    if top == "torch":
        if last in known.DTYPES:
            return Value(Kind.DTYPE, dtype=known.DTYPES[last], qual=qual), accelerates
        if last in known.TORCH_CONSTANTS and qual.count(".") == 1:
            return NUMBER.but(qual=qual), accelerates
    elif top in ("math", "numpy") and last in known.NUMBERS:
        return NUMBER, False
    if last[:1].isupper() or qual in ("torch.device", "torch.dtype", "torch.no_grad", "torch.enable_grad"):
        return Value(Kind.CLASS, qual=qual), accelerates
    if qual in known.NAMESPACES:
        return Value(Kind.NAMESPACE, qual=qual), accelerates
    return Value(Kind.FUNCTION, qual=qual), accelerates


class InstanceReader(EvidenceReader):
    """Makes values from classes."""

    def refine(self, value: Value, uses: set[str] | None) -> Value:
        """What `EvidenceReader` tells; else an instance of the one class of the file that has all that is used."""
        refined = super().refine(value, uses)
        cls = self.class_with(uses) if refined.kind is Kind.UNKNOWN and uses else None
        if cls is None:
            return refined
        instance = self.instance_of(cls).but(conf=Confidence.LIKELY, deps=value.deps, optional=value.optional)
        return instance.but(device=HOST) if value.on_host else instance  # all that it holds is there

    def class_with(self, uses: set[str]) -> ClassInfo | None:
        """The one class of the file that has all of these attributes, some of them methods.

        None where several may, or one of another file has them too.
        """
        uses = {use.removeprefix(HELD) for use in uses}
        methods = [name for name in sorted(uses) if name in self.model.methods]
        if not methods or len(uses) < 2:
            return None
        method = max(methods, key=len)
        owners = {info.cls for info in self.model.methods[method] if info.cls is not None}
        if not any(cls.node in self.model.classes for cls in owners):
            return None
        found = [
            cls
            for cls in owners
            if all(cls.find_method(name) is not None or cls.find_attribute(name) is not None for name in uses)
        ]
        if not any(cls.node in self.model.classes for cls in found):
            return None
        self.model.everywhere(method)
        return found[0] if len(found) == 1 else None

    def instance_of(self, cls: ClassInfo) -> Value:
        value = self.instances.get(cls)
        if value is None or value.kind is Kind.OBJECT:
            value = self.new_instance(cls)
            self.instances[cls] = value
        return value

    def new_instance(self, cls: ClassInfo) -> Value:
        if self.is_module(cls):
            return Value(Kind.MODULE, cls=cls, qual=cls.qualname, device=ANYWHERE, graph=MAYBE)
        if cls.is_a(*known.OPTIMIZER_BASES) or any(
            name.startswith("torch.optim.") and "lr_scheduler" not in name for name in cls.base_names
        ):
            return Value(Kind.OPTIMIZER, cls=cls, qual=cls.qualname)
        given = any(base.cls is None and base.kind is Kind.UNKNOWN for base in cls.bases)
        if given and {"step", "zero_grad"} <= cls.methods.keys():  # as `class Private(base)` within a function
            return Value(Kind.OPTIMIZER, Confidence.LIKELY, cls=cls, qual=cls.qualname)
        if self.is_dataset(cls):
            return Value(Kind.DATASET, cls=cls, qual=cls.qualname)
        if cls.is_a(*known.LOADERS):
            return Value(Kind.LOADER, cls=cls, qual=cls.qualname, device=HOST)
        if cls.is_a("torch.Tensor"):
            return Value(Kind.TENSOR, cls=cls, device=ANYWHERE, graph=MAYBE)
        return Value(Kind.OBJECT, cls=cls, qual=cls.qualname)

    def is_module(self, cls: ClassInfo) -> bool:
        """Whether the class is an nn.Module: by a base that is known, or by an unknown base and a `forward`."""
        for name in cls.base_names:
            if (
                name in known.MODULE_BASES
                or name.startswith("torch.nn.")
                or name.rsplit(".", 1)[-1] in ("LightningModule", "PreTrainedModel", "Module")
            ):
                return True
            if name.endswith(("Module", "Model")) and "." in name and not name.startswith(("torch.", "django.")):
                return True
        if "forward" in cls.methods and not cls.is_a(known.AUTOGRAD_FUNCTION):
            return any(
                base.cls is None and base.kind is not Kind.NAMESPACE and base.qual not in known.PLAIN_BASES
                for base in cls.bases
            )
        return False

    def is_dataset(self, cls: ClassInfo) -> bool:
        return any(name in known.DATASETS or name.rsplit(".", 1)[-1].endswith("Dataset") for name in cls.base_names)

    def ancestors(self, bases: list[Value]) -> tuple[str, ...]:
        """Qualified names of all known ancestors."""
        found: list[str] = []
        for base in bases:
            if base.qual:
                found.append(base.qual)
            if base.cls is not None:
                found.extend(base.cls.base_names)
        return tuple(dict.fromkeys(found))

    def external(self, qual: str) -> Value:
        """What a qualified name of another package is."""
        if self.model.project is not None:
            linked = self.model.project.lookup(qual, self.model)
            if linked is not None:
                return linked
        value, accelerates = _of_package(known.canonical(qual))
        if accelerates:
            self.model.accelerated = True
        return value

    def instance_of_external(self, qual: str) -> Value:
        """An instance of a class of another package."""
        qual = known.canonical(qual)
        last = qual.rsplit(".", 1)[-1]
        if qual in (
            "torch.Tensor",
            "torch.nn.Parameter",
            "torch.FloatTensor",
            "torch.LongTensor",
            "torch.BoolTensor",
        ) or (
            last in ("Tensor", "FloatTensor", "LongTensor", "BoolTensor")
            and (qual == last or qual.startswith(("torch.", "jaxtyping.")))
        ):
            graph = ATTACHED if last == "Parameter" else MAYBE
            return Value(Kind.TENSOR, Confidence.LIKELY, device=ANYWHERE, graph=graph)
        if qual.startswith("torch.cuda.") and last.endswith("Tensor"):
            return Value(Kind.TENSOR, Confidence.LIKELY, device=DEVICE, graph=MAYBE)
        if qual in known.MODULE_BASES or (
            qual.startswith("torch.nn.") and last[:1].isupper() and last not in known.NN_NOT_MODULES
        ):
            return Value(Kind.MODULE, Confidence.LIKELY, device=ANYWHERE, graph=MAYBE, qual=qual)
        if qual == "torch.optim.swa_utils.AveragedModel":
            return Value(Kind.MODULE, Confidence.LIKELY, device=ANYWHERE, graph=MAYBE, qual=qual)
        if qual in known.OPTIMIZER_BASES or (
            qual.startswith("torch.optim.") and "lr_scheduler" not in qual and last != "SWALR"
        ):
            return Value(Kind.OPTIMIZER, Confidence.LIKELY, qual=qual)
        if qual in known.LOADERS or last == "DataLoader":
            return Value(Kind.LOADER, Confidence.LIKELY, device=HOST, qual=qual)
        if qual in known.DATASETS or last.endswith("Dataset"):
            return Value(Kind.DATASET, Confidence.LIKELY, qual=qual)
        if qual in known.SCALERS or last == "GradScaler":
            return Value(Kind.SCALER, qual=qual)
        if qual == "torch.cuda.Event" or qual == "torch.Event":
            return Value(Kind.EVENT, qual=qual)
        if qual in ("torch.cuda.Stream", "torch.Stream", "torch.cuda.ExternalStream"):
            return Value(Kind.STREAM, qual=qual)
        if qual == "torch.device":
            return Value(Kind.DEVICE, Confidence.LIKELY, device=ANYWHERE)
        if qual == "torch.dtype":
            return Value(Kind.DTYPE)
        if qual == "torch.Size":
            return Value(Kind.SHAPE)
        # `np.array` is a function, and written for the class all the same.
        if qual in ("numpy.ndarray", "numpy.array", "numpy.generic", "numpy.float32", "numpy.float64") or (
            qual.startswith("numpy.typing")
        ):
            return Value(Kind.NDARRAY, device=HOST)
        if last in ("Callable", "Any", "TypeVar", "Self", "T", "Protocol", ""):
            return UNKNOWN
        if qual in ("accelerate.Accelerator",) or last in ("Accelerator", "Fabric"):
            self.model.accelerated = True
            return Value(Kind.OBJECT, qual="accelerate.Accelerator")
        top = qual.split(".", 1)[0]
        if "." in qual and (top in known.HOST_LIBRARIES or top == "numpy"):
            return Value(Kind.OBJECT, device=HOST, qual=qual)
        return Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE, qual=None)

    def annotated(self, node: cst.BaseExpression | None) -> Value:
        """What an annotation declares."""
        if node is None:
            return UNKNOWN
        if type(node) is cst.SimpleString:
            try:
                text = literal(node)
                return (
                    self.annotated(cst.parse_expression(text)) if isinstance(text, str) and len(text) < 200 else UNKNOWN
                )
            except Exception:  # any text may stand in an annotation
                return UNKNOWN
        if type(node) is cst.BinaryOperation and type(node.operator) is cst.BitOr:
            left, right = self.annotated(node.left), self.annotated(node.right)
            if left.kind is Kind.UNKNOWN and right.kind is not Kind.NONE:
                return UNKNOWN
            return UNKNOWN if right.kind is Kind.UNKNOWN and left.kind is not Kind.NONE else join(left, right)
        if type(node) is cst.Name and node.value in _SIMPLE_TYPES and self.lookup(node.value) is None:
            declared = _SIMPLE_TYPES[node.value]
            return declared.but() if declared.kind is Kind.CONTAINER else declared  # a container grows
        if type(node) is cst.Name and node.value == "None":
            return NONE
        if type(node) is cst.Tuple:  # the second argument of isinstance
            value = None
            for element in node.elements:
                value = join_optional(value, self.annotated(element.value))
            return value or UNKNOWN
        arguments: list[cst.BaseExpression] = []
        base = node
        if type(node) is cst.Subscript:
            base = node.value
            for part in node.slice:
                if type(part.slice) is cst.Index:
                    arguments.append(part.slice.value)
        if not isinstance(base, (cst.Name, cst.Attribute)):
            return UNKNOWN
        target = self.eval_quietly(base)
        if target.cls is not None and target.kind is Kind.CLASS:
            return self.instance_of(target.cls).but(conf=Confidence.LIKELY)
        return self._annotated_by(target.qual or dotted(base) or "", arguments)

    def _annotated_by(self, qual: str, arguments: list[cst.BaseExpression]) -> Value:
        """What an annotation declares that has a name, and perhaps arguments in brackets."""
        last = qual.rsplit(".", 1)[-1]
        if last == "Optional" and arguments:
            return self.annotated(arguments[0]).but(optional=True)
        if last == "Union" and arguments:
            value = self.annotated(arguments[0])
            for argument in arguments[1:]:
                other = self.annotated(argument)
                if value.kind is Kind.UNKNOWN or other.kind is Kind.UNKNOWN:
                    return UNKNOWN
                value = join(value, other)
            return value
        if last in ("Annotated", "Final", "ClassVar", "Required", "NotRequired") and arguments:
            return self.annotated(arguments[0])
        if qual.startswith("jaxtyping.") and arguments:
            inner = self.annotated(arguments[0])
            return inner if inner.kind is Kind.TENSOR else UNKNOWN
        if last in _SEQUENCES and not qual.startswith(("torch.", "numpy.")):
            parts = [self.annotated(argument) for argument in arguments if type(argument) is not cst.Ellipsis]
            joined: Value | None = None
            for member in parts[:1] if last == "Generator" else parts:
                joined = join_optional(joined, member)
            items = None
            if last in ("tuple", "Tuple") and parts and not any(type(a) is cst.Ellipsis for a in arguments):
                items = dict(enumerate(parts))
            return Value(
                Kind.CONTAINER,
                Confidence.LIKELY,
                elem=joined,
                items=items,
                qual="tuple" if last.lower() == "tuple" else "list",
            )
        if last in ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"):
            elem = self.annotated(arguments[1]) if len(arguments) > 1 else None
            return Value(Kind.CONTAINER, Confidence.LIKELY, elem=elem, qual="dict")
        return self.instance_of_external(qual)

"""What each expression gives: names, attributes, operators, displays, comprehensions and conditions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, LoopFacts, Scope
from torchlint.semantics.functions import ClassInfo, EffectKind, FunctionInfo
from torchlint.semantics.names import device_bits, dotted, identifier
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    MISSING,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Gate,
    Kind,
    Value,
    join,
)

if TYPE_CHECKING:
    from torchlint.semantics.interpreter import Frame
    from torchlint.semantics.model import Model

_BINARY: dict[type[cst.BaseBinaryOp], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.MatrixMultiply: "@",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
}
_COMPARE: dict[type[cst.BaseCompOp], str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}
_SWAPPED = (Gate.NONE, Gate.RARE)
_COUNTER_NAMES = frozenset(
    """step global_step num_steps step_idx iteration iter it itr i k batch_idx batch_i batch_index n_iter num_iter
    epoch current_step cur_step update_step steps iters t idx counter count""".split()
)


class ExpressionReader:
    """Evaluates expressions; statements and calls are added by the classes built on it."""

    _dispatch: ClassVar[dict[type[cst.CSTNode], Callable[[Any, Any], Value]]] = {}

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sites = model.sites
        self.recording = False
        self.frame: Frame = None  # type: ignore[assignment]
        self.module_frame: Frame = None  # type: ignore[assignment]
        self.context = Context(Scope.MODULE, model.module, None)
        self.statement: cst.CSTNode | None = None
        self.dotted_bases: set[str] = set()

    # What the classes built on this one provide

    def call(self, node: cst.Call) -> Value:
        raise NotImplementedError

    def effect(
        self,
        kind: EffectKind,
        node: cst.CSTNode,
        value: Value | None = None,
        callee: FunctionInfo | None = None,
        part: str = "",
    ) -> None:
        raise NotImplementedError

    def lambda_function(self, node: cst.Lambda) -> Value:
        raise NotImplementedError

    def call_property(self, method: FunctionInfo, owner: Value, node: cst.CSTNode) -> Value:
        raise NotImplementedError

    def assign(
        self, target: cst.BaseExpression, value: Value, node: cst.CSTNode, value_node: cst.BaseExpression | None
    ) -> None:
        raise NotImplementedError

    # Evaluation

    def eval(self, node: cst.BaseExpression) -> Value:
        """What an expression gives here."""
        method = self._dispatch.get(type(node))
        value = method(self, node) if method is not None else UNKNOWN
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

    def lookup(self, name: str) -> Value | None:
        frame: Frame | None = self.frame
        while frame is not None:
            value = frame.env.get(name)
            if value is not None:
                return value
            frame = frame.parent
            while frame is not None and frame.cls is not None:
                frame = frame.parent
        return None

    def _name(self, node: cst.Name) -> Value:
        name = identifier(node.value)
        value = self.lookup(name)
        if value is not None:
            if self.recording:
                for origin in value.origins:
                    self.model.uses.setdefault(origin, []).append(node)
            return value
        if name == "None":
            return NONE
        if name == "True" or name == "False":
            return _TRUE if name == "True" else _FALSE
        if name in known.BUILTINS:
            return Value(
                Kind.CLASS
                if name in ("int", "float", "str", "bool", "list", "dict", "set", "tuple", "object", "type")
                else Kind.FUNCTION,
                qual=name,
            )
        return UNKNOWN

    def _attribute(self, node: cst.Attribute) -> Value:
        attr = identifier(node.attr.value)
        name = dotted(node)
        if name is not None:
            self.note_use(node, attr)
            base_name = name.split(".", 1)[0]
            if base_name in self.dotted_bases:
                held = self.lookup(name)
                if held is not None and self.lookup(base_name) is not None:
                    if self.recording:
                        self.eval(node.value)
                        for origin in held.origins:
                            self.model.uses.setdefault(origin, []).append(node)
                    return held
        base = self.eval(node.value)
        value = self.attribute_of(base, attr, node)
        if self.recording:
            for origin in value.origins:
                if origin is not node:
                    self.model.uses.setdefault(origin, []).append(node)
        return value

    def note_use(self, node: cst.Attribute, attr: str) -> None:
        """Remember which attributes are used on a name: evidence of what it is."""
        name = dotted(node.value)
        if name is not None:
            self.note_evidence(name, attr)

    def note_evidence(self, name: str, evidence: str) -> None:
        """Remember something that tells what a name, or an attribute of an object, stands for."""
        info = self.frame.info
        info.duck.setdefault(name, set()).add(evidence)
        holder_name, _, attribute = name.rpartition(".")
        if holder_name:
            holder = self.lookup(holder_name)
            if holder is not None and holder.cls is not None:
                holder.cls.duck.setdefault(attribute, set()).add(evidence)
        elif self.frame.parent is not None and name not in self.frame.env:
            outer = self.frame.parent
            if outer.info is not info:
                outer.info.duck.setdefault(name, set()).add(evidence)

    def attribute_of(self, base: Value, attr: str, node: cst.BaseExpression) -> Value:
        """What `base.attr` is."""
        kind = base.kind
        if kind is Kind.NAMESPACE or (
            kind in (Kind.FUNCTION, Kind.CLASS) and base.qual and base.cls is None and base.fn is None
        ):
            return self.external(f"{base.qual}.{attr}")
        if base.cls is not None:
            return self.attribute_of_class(base, attr, node)
        if kind is Kind.TENSOR or kind is Kind.BATCH or kind is Kind.NDARRAY:
            return self.attribute_of_tensor(base, attr, node)
        if kind is Kind.SHAPE:
            return Value(Kind.FUNCTION, bound=base, qual=f"torch.Size.{attr}")
        if kind is Kind.DEVICE:
            return STRING.but(device=base.device, qual="device type") if attr == "type" else NUMBER
        if kind is Kind.MODULE:
            return self.attribute_of_module(base, attr, node)
        if kind is Kind.OPTIMIZER and attr == "param_groups":
            return _PARAM_GROUPS
        if kind is Kind.LOADER and attr == "dataset":
            return Value(Kind.DATASET)
        if kind is Kind.CONTAINER and base.items is not None and attr in base.items:
            return base.items[attr]
        if kind is Kind.UNKNOWN:
            if base.items is not None and attr in base.items:
                return base.items[attr]
            if attr in ("shape",):
                return Value(Kind.SHAPE, Confidence.LIKELY, qual="tensor size")
            if attr == "device":
                return Value(Kind.DEVICE, Confidence.LIKELY, device=base.device or ANYWHERE, deps=base.deps)
            if attr == "dtype":
                return Value(Kind.DTYPE, Confidence.LIKELY)
            if attr in ("grad", "data") and base.deps:
                return Value(Kind.TENSOR, Confidence.LIKELY, device=base.device or ANYWHERE, graph=DETACHED)
            return Value(Kind.UNKNOWN, device=base.device or ANYWHERE, graph=base.graph or MAYBE, bound=base, qual=None)
        if kind is Kind.OBJECT and base.device == HOST:
            return base.but(qual=f"{base.qual}.{attr}" if base.qual else None, bound=base)
        return (
            UNKNOWN
            if kind is not Kind.OBJECT
            else Value(
                Kind.UNKNOWN,
                device=ANYWHERE,
                graph=MAYBE,
                bound=base,
                qual=f"{base.qual}.{attr}" if base.qual else None,
            )
        )

    def attribute_of_class(self, base: Value, attr: str, node: cst.BaseExpression) -> Value:
        cls = base.cls
        assert cls is not None
        method = cls.find_method(attr)
        if method is not None:
            if method.method == "property" and base.kind is not Kind.CLASS:
                return self.call_property(method, base, node)
            return Value(Kind.FUNCTION, fn=method, bound=base, qual=method.qualname)
        held = cls.find_attribute(attr)
        if held is not None:
            if held.kind is Kind.UNKNOWN:
                held = self.refine(held, cls.duck.get(attr))
            elif held.kind is Kind.MODULE and base.kind is Kind.MODULE and held.on_host:
                held = held.but(device=base.device or ANYWHERE)  # made on the host, moved with what holds it
            return self.as_root(held) if attr in cls.roots else held
        if base.kind is Kind.MODULE:
            return self.attribute_of_module(base, attr, node)
        if base.kind is Kind.OPTIMIZER:
            if attr == "param_groups":
                return _PARAM_GROUPS
            if attr == "state":
                return self.optimizer_state(cls)
        if base.kind is Kind.TENSOR:
            return self.attribute_of_tensor(base, attr, node)
        value = self.refine(UNKNOWN, cls.duck.get(attr))
        if attr in cls.roots:
            value = self.as_root(value)
        return value if value is not UNKNOWN else Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE, bound=base)

    def as_root(self, value: Value) -> Value:
        raise NotImplementedError

    def optimizer_state(self, cls: ClassInfo) -> Value:
        """`self.state` of an optimizer: one dictionary per parameter, which all share their keys here."""
        state = cls.find_attribute("state")
        if state is None:
            entry = Value(Kind.CONTAINER, qual="dict", items={})
            state = Value(Kind.CONTAINER, qual="dict", elem=entry)
            cls.class_attributes["state"] = state
        return state

    def attribute_of_module(self, base: Value, attr: str, node: cst.BaseExpression) -> Value:
        if base.items is not None and attr in base.items:
            return base.items[attr]
        if attr in ("weight", "bias"):
            return Value(
                Kind.TENSOR,
                Confidence.LIKELY,
                device=base.device or ANYWHERE,
                graph=ATTACHED,
                qual="torch.nn.Parameter",
                origins=(node,),
            )
        if attr == "training":
            return NUMBER
        if attr == "device":
            return Value(Kind.DEVICE, Confidence.LIKELY, device=base.device or ANYWHERE)
        if attr == "module":  # DistributedDataParallel
            return base
        # A submodule, a buffer, or a method of its own: it lives where the module does.
        return Value(
            Kind.UNKNOWN,
            device=base.device or ANYWHERE,
            graph=MAYBE,
            bound=base,
            qual=f"{base.qual}.{attr}" if base.qual else None,
        )

    def attribute_of_tensor(self, base: Value, attr: str, node: cst.BaseExpression) -> Value:
        what = known.TENSOR_ATTRIBUTES.get(attr)
        if what == "shape":
            return Value(Kind.SHAPE, qual="tensor size", items=dict(enumerate(_sizes(base))) if base.shape else None)
        if what == "device":
            return Value(Kind.DEVICE, device=base.device, deps=base.deps)
        if what == "number":
            if attr == "is_cuda":
                self.model.accelerated = True
                return NUMBER.but(gates=(Gate.NONE, Gate.HOST))
            return NUMBER
        if what == "dtype":
            return Value(Kind.DTYPE, dtype=base.dtype)
        if base.kind is Kind.NDARRAY:
            return (
                Value(Kind.NDARRAY, device=HOST, origins=(node,), dtype=base.dtype)
                if attr in ("T", "real", "imag", "flat")
                else Value(Kind.FUNCTION, bound=base, qual=f"numpy.ndarray.{attr}")
            )
        if what == "detached":
            return base.but(
                graph=DETACHED,
                origins=(node,),
                ident=None,
                kind=Kind.TENSOR,
                conf=max(base.conf, Confidence.LIKELY),
                qual=None,
            )
        if what == "same":
            return base.but(origins=(node,), ident=None, shape=None)
        if what == "other":
            return Value(Kind.OBJECT)
        if base.kind is Kind.BATCH:
            # A structured output or batch: `.loss`, `.logits`, `.obs`. A method if it is called.
            return base.but(origins=(node,), ident=None, bound=base)
        return Value(Kind.FUNCTION, bound=base, qual=f"torch.Tensor.{attr}", device=base.device, graph=base.graph)

    # Names from outside the file

    def external(self, qual: str) -> Value:
        """What a qualified name of another package is."""
        if self.model.project is not None:
            linked = self.model.project.lookup(qual)
            if linked is not None:
                return linked
        qual = known.canonical(qual)
        last = qual.rsplit(".", 1)[-1]
        top = qual.split(".", 1)[0]
        if top == "torch":
            if qual.startswith("torch.cuda") and last not in ("is_available", "device_count", "cuda", "amp"):
                self.model.accelerated = True
            if last in known.DTYPES:
                return Value(Kind.DTYPE, dtype=known.DTYPES[last], qual=qual)
            if (
                last
                in (
                    "inf",
                    "pi",
                    "e",
                    "nan",
                    "newaxis",
                    "strided",
                    "channels_last",
                    "contiguous_format",
                    "preserve_format",
                    "sparse_coo",
                )
                and qual.count(".") == 1
            ):
                return NUMBER.but(qual=qual)
        elif top in ("math", "numpy") and last in ("pi", "e", "inf", "nan", "newaxis"):
            return NUMBER
        if last[:1].isupper() or qual in ("torch.device", "torch.dtype", "torch.no_grad", "torch.enable_grad"):
            return Value(Kind.CLASS, qual=qual)
        if qual in known.NAMESPACES:
            return Value(Kind.NAMESPACE, qual=qual)
        return Value(Kind.FUNCTION, qual=qual)

    # Literals and displays

    def _integer(self, node: cst.Integer) -> Value:
        try:
            return Value(Kind.NUMBER, const=int(node.value.replace("_", ""), 0), dtype="int")
        except ValueError:
            return NUMBER

    def _float(self, node: cst.Float) -> Value:
        return Value(Kind.NUMBER, const=float(node.value.replace("_", "")), dtype="float")

    def _imaginary(self, node: cst.Imaginary) -> Value:
        return NUMBER

    def _string(self, node: cst.SimpleString) -> Value:
        try:
            text = ast.literal_eval(node.value)
        except (ValueError, SyntaxError):
            return STRING
        bits = device_bits(text) if isinstance(text, str) else 0
        if bits & DEVICE:
            self.model.accelerated = True
        return Value(Kind.STRING, const=text, device=bits)

    def _concatenated(self, node: cst.ConcatenatedString) -> Value:
        self.eval(node.left)
        self.eval(node.right)
        return STRING

    def _formatted(self, node: cst.FormattedString | cst.TemplatedString) -> Value:
        for part in node.parts:
            if isinstance(part, (cst.FormattedStringExpression, cst.TemplatedStringExpression)):
                value = self.eval(part.expression)
                if isinstance(node, cst.FormattedString):
                    self.formatted(node, part.expression, value, "f-string")
                for inner in part.format_spec or ():
                    if isinstance(inner, (cst.FormattedStringExpression, cst.TemplatedStringExpression)):
                        self.eval(inner.expression)
        return STRING

    def formatted(self, node: cst.BaseExpression, part: cst.BaseExpression, value: Value, how: str) -> None:
        """Record that a value becomes text."""
        if not self.recording:
            return
        if value.kind in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN, Kind.CONTAINER):
            self.sites.formats.append(sites.Format(node, part, value, how, self.context, self.statement))
        if value.kind in (Kind.TENSOR, Kind.BATCH) and not value.on_host:
            self.effect(EffectKind.WAIT, part, value)

    def _elements(self, elements: Sequence[cst.BaseElement]) -> tuple[Value | None, dict[Any, Value] | None]:
        joined: Value | None = None
        items: dict[Any, Value] | None = {}
        for index, element in enumerate(elements):
            value = self.eval(element.value)
            if isinstance(element, cst.StarredElement):
                value = self.element(value)
                items = None
            elif items is not None:
                items[index] = value
            joined = value if joined is None else join(joined, value)
            self.note_stored_parameter(value)
        return joined, items

    def note_stored_parameter(self, value: Value) -> None:
        raise NotImplementedError

    def _tuple(self, node: cst.Tuple) -> Value:
        joined, items = self._elements(node.elements)
        return Value(Kind.CONTAINER, elem=joined, items=items, qual="tuple", origins=(node,))

    def _list(self, node: cst.List) -> Value:
        joined, items = self._elements(node.elements)
        return Value(Kind.CONTAINER, elem=joined, items=items, qual="list", origins=(node,))

    def _set(self, node: cst.Set) -> Value:
        joined, _ = self._elements(node.elements)
        return Value(Kind.CONTAINER, elem=joined, qual="set", origins=(node,))

    def _dict(self, node: cst.Dict) -> Value:
        joined: Value | None = None
        items: dict[Any, Value] | None = {}
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                key = self.eval(element.key)
                value = self.eval(element.value)
                if items is not None and key.const is not MISSING and _hashable(key.const):
                    items[key.const] = value
                self.note_stored_parameter(value)
            else:
                whole = self.eval(element.value)
                value = self.element(whole, values=True)
                items = {**(items or {}), **(whole.items or {})}
            joined = value if joined is None else join(joined, value)
        return Value(Kind.CONTAINER, elem=joined, items=items, qual="dict", origins=(node,))

    def _starred(self, node: cst.StarredElement) -> Value:
        return self.eval(node.value)

    # Operators

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
        tensors = [value for value in operands if value.kind in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN)]
        placed = [value for value in tensors if value.kind is not Kind.UNKNOWN] or tensors
        if device is None:
            bits = 0
            for value in placed:
                if value.rank == 0 and value.device == HOST and len(placed) > 1:
                    continue  # a 0-d host tensor rides along
                bits |= value.device or ANYWHERE
            if any(value.device == DEVICE for value in placed):
                bits = DEVICE
            device = bits or HOST
        if graph is None:
            marks = 0
            for value in tensors:
                marks |= value.graph or MAYBE
            if any(value.graph == ATTACHED for value in tensors):
                marks = ATTACHED
            elif marks & ~DETACHED:
                marks &= ~DETACHED
            graph = marks or DETACHED
        if graph != DETACHED and self.grad_is_off():
            graph = DETACHED
        if conf is None:
            confs = [value.conf for value in placed if value.kind is not Kind.UNKNOWN]
            conf = min(confs) if confs else Confidence.POSSIBLE
        deps = 0
        for value in tensors:
            deps |= value.deps
        return Value(Kind.TENSOR, conf, device=device, graph=graph, dtype=dtype, rank=rank, origins=(node,), deps=deps)

    def grad_is_off(self) -> bool:
        """Whether autograd is off here by a `with` or a decorator of this function."""
        return self.context.grad_off

    def _binary(self, node: cst.BinaryOperation) -> Value:
        left = self.eval(node.left)
        operator = _BINARY.get(type(node.operator), "?")
        right = self.eval(node.right)
        if operator == "%" and left.kind is Kind.STRING:
            parts: list[tuple[cst.BaseExpression, Value]] = [(node.right, right)]
            if isinstance(node.right, cst.Tuple):
                parts = [
                    (element.value, self.model.values.get(element.value, UNKNOWN)) for element in node.right.elements
                ]
            for part, value in parts:
                self.formatted(node, part, value, "%")
            return STRING
        result = self.arithmetic(node, operator, left, right)
        if self.recording:
            self.sites.binaries.append(
                sites.Binary(node, operator, node.left, node.right, left, right, result, self.context, self.statement)
            )
        return result

    def arithmetic(self, node: cst.CSTNode, operator: str, left: Value, right: Value) -> Value:
        """What an arithmetic operator gives."""
        if left.is_tensor or right.is_tensor:
            if Kind.NDARRAY in (left.kind, right.kind) and (left.device | right.device) & HOST:
                pass
            dtype = (
                left.dtype
                if left.is_tensor and left.dtype not in (None, "bool")
                else right.dtype
                if right.is_tensor
                else None
            )
            if operator in ("&", "|", "^") and (left.dtype == "bool" or right.dtype == "bool"):
                dtype = "bool"
            rank = None
            scalars = (Kind.NUMBER, Kind.CLOCK)
            if left.is_tensor and right.is_tensor:
                if left.rank is not None and right.rank is not None and operator != "@":
                    rank = max(left.rank, right.rank)
            else:
                side = left if left.is_tensor else right
                other = right if left.is_tensor else left
                if other.kind in scalars:
                    rank = side.rank
            return self.launch(self.tensor(node, (left, right), dtype=dtype, rank=rank), node)
        if left.kind is Kind.NDARRAY or right.kind is Kind.NDARRAY:
            return Value(Kind.NDARRAY, device=HOST, origins=(node,))
        if left.kind is Kind.CLOCK or right.kind is Kind.CLOCK:
            if operator == "-" and left.kind is Kind.CLOCK and right.kind is Kind.CLOCK:
                return NUMBER.but(qual="interval", origins=(node,))
            if operator in ("+", "-") and Kind.NUMBER in (left.kind, right.kind):
                return (left if left.kind is Kind.CLOCK else right).but()
            return NUMBER.but(origins=(node,))
        if left.kind is Kind.STRING or right.kind is Kind.STRING:
            return STRING
        if left.kind is Kind.CONTAINER and operator == "+":
            return left.but(
                elem=join(left.elem, right.elem) if left.elem and right.elem else left.elem or right.elem,
                items=None,
                origins=(node,),
            )
        if left.kind is Kind.CONTAINER and operator == "*":
            return left.but(items=None)
        if left.kind is Kind.SHAPE or right.kind is Kind.SHAPE:
            return Value(Kind.SHAPE)
        gates = _SWAPPED if operator == "%" else None
        if left.kind is Kind.NUMBER and right.kind is Kind.NUMBER:
            size = "tensor size" if "tensor size" in (left.qual, right.qual) else None
            return Value(Kind.NUMBER, gates=gates, qual=size, origins=(node,) if left.origins or right.origins else ())
        if left.kind is Kind.UNKNOWN and right.kind is Kind.UNKNOWN or Kind.UNKNOWN in (left.kind, right.kind):
            # Something unknown and a number: a number or a tensor.
            unknown = left if left.kind is Kind.UNKNOWN else right
            return Value(
                Kind.UNKNOWN,
                device=(left.device | right.device) or unknown.device,
                graph=unknown.graph or MAYBE,
                deps=left.deps | right.deps,
                gates=gates,
                origins=(node,),
            )
        return UNKNOWN

    def launch(self, value: Value, node: cst.CSTNode) -> Value:
        """Note that an operation puts work on the device, where its result may be there."""
        if value.device & ~HOST and self.recording:
            self.effect(EffectKind.LAUNCH, node, value)
        return value

    def _unary(self, node: cst.UnaryOperation) -> Value:
        if isinstance(node.operator, cst.Not):
            value = self.condition(node.expression, "not")
            gates = value.gates
            return NUMBER if gates is None else NUMBER.but(gates=(gates[1], gates[0]))
        value = self.eval(node.expression)
        if value.kind is Kind.NUMBER and value.const is not MISSING and isinstance(node.operator, cst.Minus):
            return value.but(const=-value.const) if isinstance(value.const, (int, float)) else NUMBER
        if value.is_tensor:
            return self.launch(self.tensor(node, (value,), dtype=value.dtype, rank=value.rank), node)
        return value

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        how = "and" if isinstance(node.operator, cst.And) else "or"
        left = self.condition(node.left, how)
        right = self.eval(node.right)
        if left.kind is Kind.NUMBER and right.kind is Kind.NUMBER:
            return NUMBER.but(gates=_combine(how, left.gates, right.gates))
        if how == "or" and left.kind is Kind.NONE:
            return right
        return join(left, right)

    def condition(self, node: cst.BaseExpression, how: str) -> Value:
        """Evaluate an expression whose truth decides; each part whose truth is taken is a site."""
        if isinstance(node, cst.BooleanOperation):
            left = self.condition(node.left, how)
            before, saved = self.frame.env, self.context
            self.frame.env = before.copy()
            both = isinstance(node.operator, cst.And)
            self.narrow(node.left, both)
            gate = self.gates_of_test(node.left, left)[0 if both else 1]
            if gate is not Gate.NONE:
                # `step % n == 0 and bad`: the right side is evaluated only where the left lets it.
                self.context = Context(Scope.BRANCH, node, saved, gate=gate, test=node.left, negated=not both)
            right = self.condition(node.right, how)
            self.context = saved
            walrus = {k: v for k, v in self.frame.env.items() if k not in before}
            self.frame.env = before
            before.update(walrus)
            word = "and" if isinstance(node.operator, cst.And) else "or"
            value = NUMBER.but(gates=_combine(word, left.gates, right.gates))
        elif isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            inner = self.condition(node.expression, how)
            gates = inner.gates
            value = NUMBER if gates is None else NUMBER.but(gates=(gates[1], gates[0]))
        else:
            value = self.eval(node)
            self.truth(node, value, how)
            return value
        if self.recording:
            self.model.values[node] = value
        return value

    def truth(self, node: cst.BaseExpression, value: Value, how: str) -> None:
        """Record that the truth of a value is taken."""
        if value.kind in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN) and self.recording:
            self.sites.truths.append(sites.Truth(node, value, how, self.context, self.statement))
            if value.kind is Kind.TENSOR and not value.on_host:
                self.effect(EffectKind.WAIT, node, value)

    def _comparison(self, node: cst.Comparison) -> Value:
        left_node = node.left
        left = self.eval(left_node)
        result = NUMBER
        for index, comparison in enumerate(node.comparisons):
            operator = _COMPARE.get(type(comparison.operator), "?")
            right = self.eval(comparison.comparator)
            if index and result.kind is Kind.TENSOR:
                self.truth(node, result, "and")  # a < b < c
            result = self.compare(node, operator, left_node, left, comparison.comparator, right)
            if self.recording:
                self.sites.binaries.append(
                    sites.Binary(
                        node,
                        operator,
                        left_node,
                        comparison.comparator,
                        left,
                        right,
                        result,
                        self.context,
                        self.statement,
                    )
                )
            left, left_node = right, comparison.comparator
        return result

    def compare(
        self,
        node: cst.Comparison,
        operator: str,
        left_node: cst.BaseExpression,
        left: Value,
        right_node: cst.BaseExpression,
        right: Value,
    ) -> Value:
        """What a comparison gives."""
        if operator in ("is", "is not"):
            return NUMBER
        if operator in ("in", "not in"):
            if right.kind is Kind.CONTAINER and right.qual == "dict":
                return NUMBER  # by hash
            searched = right.elem if right.kind is Kind.CONTAINER else right
            if right.kind is Kind.TENSOR:
                self.truth(node, right, "in")
            elif searched is not None and searched.kind is Kind.TENSOR and left.kind not in (Kind.STRING, Kind.NONE):
                self.truth(node, searched, "in")
            elif left.kind is Kind.TENSOR and right.kind is Kind.CONTAINER and right.qual in ("list", "tuple"):
                self.truth(node, left, "in")
            return NUMBER
        if left.kind is Kind.TENSOR or right.kind is Kind.TENSOR:
            if Kind.STRING in (left.kind, right.kind) or Kind.NONE in (left.kind, right.kind):
                return NUMBER
            tensor = self.tensor(node, (left, right), dtype="bool", graph=DETACHED)
            if left.is_tensor != right.is_tensor:
                tensor.rank = (left if left.is_tensor else right).rank
            elif left.rank is not None and left.rank == right.rank:
                tensor.rank = left.rank
            return self.launch(tensor, node)
        gates = self.gates_of_comparison(operator, left_node, left, right)
        if (
            left.kind in (Kind.BATCH, Kind.UNKNOWN)
            and operator in ("<", ">", "<=", ">=", "==", "!=")
            and right.kind
            in (
                Kind.NUMBER,
                Kind.UNKNOWN,
                Kind.BATCH,
            )
        ):
            if left.kind is Kind.BATCH:
                return self.tensor(node, (left, right), Confidence.POSSIBLE, dtype="bool", graph=DETACHED)
            return Value(Kind.UNKNOWN, device=left.device or ANYWHERE, graph=DETACHED, gates=gates, origins=(node,))
        if left.kind is Kind.NDARRAY or right.kind is Kind.NDARRAY:
            return Value(Kind.NDARRAY, device=HOST, origins=(node,))
        return NUMBER if gates is None else NUMBER.but(gates=gates)

    def gates_of_comparison(
        self, operator: str, left_node: cst.BaseExpression, left: Value, right: Value
    ) -> tuple[Gate, Gate] | None:
        if left.gates == _SWAPPED:  # a remainder
            if operator == "==":
                return (Gate.RARE, Gate.NONE)
            if operator in ("!=", ">"):
                return _SWAPPED
            return None
        if left.qual == "device type" and isinstance(right.const, str):
            on_host = device_bits(right.const) == HOST
            then, other = (Gate.HOST, Gate.NONE) if on_host else (Gate.NONE, Gate.HOST)
            return (then, other) if operator == "==" else (other, then) if operator == "!=" else None
        name = dotted(left_node)
        counter = left.qual == "index" or (
            name is not None and name.rsplit(".", 1)[-1] in _COUNTER_NAMES and left.kind in (Kind.NUMBER, Kind.UNKNOWN)
        )
        if counter and right.kind in (Kind.NUMBER, Kind.UNKNOWN):
            if operator == "==":
                return (Gate.RARE, Gate.NONE)
            if operator == "!=":
                return _SWAPPED
            small = isinstance(right.const, (int, float)) and right.const <= 10
            if operator in ("<", "<=") and small:
                return (Gate.RARE, Gate.NONE)
            if operator in (">", ">=") and small:
                return None
        return None

    def gates_of(self, node: cst.If, value: Value) -> tuple[Gate, Gate]:
        """How often the two branches of an `if` run, as far as its test tells."""
        gates = self.gates_of_test(node.test, value)
        if gates != (Gate.NONE, Gate.NONE):
            return gates
        test, flipped = _unnegated(node.test)
        return (self._gate_of_cache(node, test, flipped), self._gate_of_kept(node, test, flipped))

    def gates_of_test(self, test: cst.BaseExpression, value: Value) -> tuple[Gate, Gate]:
        """How often code runs where a test holds and where it fails, as far as the test alone tells."""
        if value.gates is not None and value.gates != (Gate.NONE, Gate.NONE):
            return value.gates
        test, flipped = _unnegated(test)
        gate = self._gate_of_flag(test)
        return (Gate.NONE, gate) if flipped else (gate, Gate.NONE)

    def _gate_of_flag(self, test: cst.BaseExpression) -> Gate:
        if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
            for part in (test.left, test.right):
                gate = self._gate_of_flag(part)
                if gate is not Gate.NONE:
                    return gate
            return Gate.NONE
        if isinstance(test, cst.Call):
            name = dotted(test.func)
            last = name.rsplit(".", 1)[-1] if name else ""
            if last in ("is_tracing", "is_scripting", "is_in_onnx_export", "isEnabledFor", "_get_tracing_state"):
                return Gate.DEBUG
            return Gate.NONE
        name = dotted(test)
        if name is None and isinstance(test, cst.Subscript):
            key = self.literal_key(test)
            name = key if isinstance(key, str) else None
        if name is None:
            return Gate.NONE
        last = name.rsplit(".", 1)[-1].lower()
        if name == "__debug__" or any(word in last for word in known.DEBUG_WORDS):
            return Gate.DEBUG
        if last in ("first", "is_first", "first_step", "first_batch", "is_last", "last_step", "first_iter"):
            return Gate.RARE
        return Gate.NONE

    def _gate_of_cache(self, node: cst.If, test: cst.BaseExpression, flipped: bool) -> Gate:
        """`if self.x is None: self.x = ...`, `if key not in cache: cache[key] = ...`: once, then kept."""
        kept: cst.BaseExpression | None = None
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            operator = test.comparisons[0].operator
            right = test.comparisons[0].comparator
            if isinstance(operator, (cst.Is, cst.Equal)) and isinstance(right, cst.Name) and right.value == "None":
                kept = None if flipped else test.left
            elif isinstance(operator, cst.NotIn) and not flipped or isinstance(operator, cst.In) and flipped:
                kept = right
            elif isinstance(operator, cst.NotEqual) and isinstance(right, (cst.Name, cst.Attribute)):
                kept = test.left
            elif isinstance(operator, (cst.LessThan, cst.GreaterThan)):
                kept = test.left if dotted(test.left) else right
        elif (
            isinstance(test, cst.Call) and isinstance(test.func, cst.Name) and test.func.value == "hasattr" and flipped
        ):
            kept = test.args[0].value if test.args else None
        elif flipped and isinstance(test, cst.Attribute):
            kept = test  # `if not self.ready: ...; self.ready = True`
        elif isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or):
            for part in (test.left, test.right):
                if self._gate_of_cache(node, part, flipped) is not Gate.NONE:
                    return Gate.RARE
            return Gate.NONE
        name = dotted(kept) if kept is not None else None
        if name is None or ("." not in name and not self._is_outer(name)):
            return Gate.NONE
        return Gate.RARE if _assigns(node.body, name) else Gate.NONE

    def _gate_of_kept(self, node: cst.If, test: cst.BaseExpression, flipped: bool) -> Gate:
        """`if key in cache: return cache[key]`, `if kept is not None: return kept`: what follows, and keeps, runs once."""
        function = self.frame.info.node
        if flipped or not isinstance(test, cst.Comparison) or not isinstance(function, cst.FunctionDef):
            return Gate.NONE
        if not isinstance(node.body.body[-1], cst.SimpleStatementLine) or not isinstance(
            node.body.body[-1].body[-1], cst.Return
        ):
            return Gate.NONE
        comparison = test.comparisons[0]
        kept: cst.BaseExpression | None = None
        if isinstance(comparison.operator, cst.In):
            kept = comparison.comparator
        elif isinstance(comparison.operator, cst.IsNot):
            kept = test.left
            origin = self.eval_quietly(kept).origin
            if (
                isinstance(origin, cst.Call)
                and isinstance(origin.func, cst.Attribute)
                and origin.func.attr.value == "get"
            ):
                kept = origin.func.value
        name = dotted(kept) if kept is not None else None
        if name is None or ("." not in name and not self._is_outer(name)):
            return Gate.NONE
        return Gate.RARE if _assigns(function.body, name) else Gate.NONE

    def _is_outer(self, name: str) -> bool:
        return name in self.frame.nonlocals or name not in self.frame.env

    def _ternary(self, node: cst.IfExp) -> Value:
        value = self.condition(node.test, "ternary")
        before = self.frame.env
        then_gate, else_gate = value.gates or (Gate.NONE, Gate.NONE)
        saved = self.context
        self.frame.env = before.copy()
        self.narrow(node.test, True)
        if then_gate is not Gate.NONE:
            self.context = Context(Scope.BRANCH, node, saved, gate=then_gate, test=node.test)
        then = self.eval(node.body)
        self.frame.env = before.copy()
        self.narrow(node.test, False)
        self.context = saved
        if else_gate is not Gate.NONE:
            self.context = Context(Scope.BRANCH, node, saved, gate=else_gate, test=node.test, negated=True)
        other = self.eval(node.orelse)
        self.frame.env = before
        self.context = saved
        return join(then, other)

    def _walrus(self, node: cst.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.assign(node.target, value, node, node.value)
        return value

    # What a condition tells about values

    def narrow(self, test: cst.BaseExpression, holds: bool) -> None:
        """Change the environment by what is known where a test holds, or fails."""
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            self.narrow(test.expression, not holds)
        elif isinstance(test, cst.BooleanOperation):
            if isinstance(test.operator, cst.And) == holds:
                self.narrow(test.left, holds)
                self.narrow(test.right, holds)
        elif isinstance(test, cst.Call):
            self._narrow_call(test, holds)
        elif isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            comparison = test.comparisons[0]
            right = comparison.comparator
            if isinstance(right, cst.Name) and right.value == "None":
                is_none = isinstance(comparison.operator, (cst.Is, cst.Equal)) == holds
                self._rebind(
                    test.left,
                    lambda v: (
                        NONE
                        if is_none and (v.kind is Kind.NONE)
                        else v.but(optional=False)
                        if v.optional and not is_none
                        else v
                    ),
                )
            elif isinstance(test.left, cst.Attribute) and test.left.attr.value == "type":
                owner = test.left.value
                if isinstance(owner, cst.Attribute) and owner.attr.value == "device":
                    text = self.eval_quietly(right).const
                    bits = device_bits(text) if isinstance(text, str) else 0
                    equal = isinstance(comparison.operator, cst.Equal) == holds
                    if bits:
                        self._place(owner.value, bits if equal else DEVICE if bits == HOST else 0)
        elif isinstance(test, cst.Attribute):
            if test.attr.value == "is_cuda":
                self._place(test.value, DEVICE if holds else HOST)

    def _place(self, node: cst.BaseExpression, bits: int) -> None:
        if bits:
            self._rebind(node, lambda v: v.but(device=bits) if v.device != bits else v)

    def _rebind(self, node: cst.BaseExpression, change: Callable[[Value], Value]) -> None:
        name = dotted(node)
        if name is None:
            return
        value = self.lookup(name)
        if value is None and isinstance(node, cst.Attribute):
            value = self.eval_quietly(node)
            self.dotted_bases.add(name.split(".", 1)[0])
        if value is not None:
            changed = change(value)
            if changed is not value:
                self.frame.env[name] = changed

    def _narrow_call(self, test: cst.Call, holds: bool) -> None:
        if not test.args:
            return
        function = self.eval_quietly(test.func)
        if function.qual == "torch.is_tensor" or (
            function.qual == "isinstance" and len(test.args) == 2 and self._names_tensor(test.args[1].value)
        ):
            if holds:
                self._rebind(
                    test.args[0].value,
                    lambda v: (
                        v
                        if v.kind is Kind.TENSOR
                        else v.but(
                            kind=Kind.TENSOR,
                            conf=Confidence.LIKELY,
                            device=v.device or ANYWHERE,
                            graph=v.graph or MAYBE,
                        )
                    ),
                )
            else:
                self._rebind(
                    test.args[0].value,
                    lambda v: Value(Kind.UNKNOWN, device=HOST, graph=DETACHED) if v.kind is Kind.TENSOR else v,
                )
        elif function.qual == "isinstance" and len(test.args) == 2 and holds:
            declared = self.annotated(test.args[1].value)
            if declared.kind in (Kind.NUMBER, Kind.STRING, Kind.CONTAINER, Kind.NDARRAY, Kind.MODULE):
                self._rebind(
                    test.args[0].value,
                    lambda v: (
                        v
                        if v.kind is declared.kind
                        else declared.but(elem=v if v.kind is Kind.BATCH else declared.elem, deps=v.deps)
                    ),
                )

    def _names_tensor(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.Tuple):
            return any(self._names_tensor(element.value) for element in node.elements)
        return self.eval_quietly(node).qual in (
            "torch.Tensor",
            "torch.nn.Parameter",
            "torch.FloatTensor",
            "torch.cuda.FloatTensor",
        )

    # Indexing

    def literal_key(self, node: cst.Subscript) -> Any:
        """The literal key of a subscript, or None."""
        if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
            const = self.eval_quietly(node.slice[0].slice.value).const
            if isinstance(const, (int, str)):
                return const
        return None

    def _subscript(self, node: cst.Subscript) -> Value:
        return self.subscript(node, "read", None)

    def subscript(self, node: cst.Subscript, mode: str, written: Value | None) -> Value:
        """Evaluate an indexing and record it; what it reads."""
        base = self.eval(node.value)
        indices: list[tuple[cst.BaseExpression | None, Value | None]] = []
        bounds: list[tuple[cst.BaseExpression, Value]] = []
        for element in node.slice:
            part = element.slice
            if isinstance(part, cst.Index):
                if isinstance(part.value, cst.Tuple):
                    indices.extend((item.value, self.eval(item.value)) for item in part.value.elements)
                else:
                    indices.append((part.value, self.eval(part.value)))
            elif isinstance(part, cst.Slice):
                indices.append((None, None))
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        bounds.append((bound, self.eval(bound)))
        result = self.indexed(node, base, indices)
        if self.recording:
            self.model.values[node] = result
            if base.kind not in (Kind.CLASS, Kind.NDARRAY, Kind.MODULE):
                self.sites.subscripts.append(
                    sites.Subscript(node, base, indices, bounds, mode, written, result, self.context, self.statement)
                )
        return result

    def indexed(
        self, node: cst.Subscript, base: Value, indices: list[tuple[cst.BaseExpression | None, Value | None]]
    ) -> Value:
        """What `base[indices]` gives."""
        first = indices[0][1] if indices else None
        key = first.const if first is not None and len(indices) == 1 else MISSING
        kind = base.kind
        if kind is Kind.CONTAINER or (kind is Kind.UNKNOWN and base.items is not None):
            if base.items is not None and key is not MISSING and _hashable(key):
                index = key
                if isinstance(key, int) and key < 0 and key not in base.items:
                    index = len(base.items) + key
                if index in base.items:
                    return base.items[index]
            if first is None and indices:
                return base.but(items=None)  # a slice
            return base.elem if base.elem is not None else UNKNOWN
        if kind is Kind.SHAPE:
            if first is None:
                return Value(Kind.SHAPE, qual="tensor size")
            if base.items is not None and key in base.items:
                return base.items[key]
            return NUMBER.but(qual="tensor size")
        if kind is Kind.TENSOR:
            if isinstance(key, str):
                return base.but(kind=Kind.BATCH, origins=(node,), ident=None, rank=None, shape=None)
            return self.indexed_tensor(node, base, indices)
        if kind is Kind.BATCH:
            if len(indices) > 1 or first is None or first.kind is Kind.TENSOR:
                return self.indexed_tensor(node, base, indices)
            if base.items is not None and key in base.items:
                return base.items[key]
            return base.but(origins=(node,), ident=None, items=None)
        if kind is Kind.NDARRAY:
            return Value(Kind.NDARRAY, device=HOST, origins=(node,), dtype=base.dtype)
        if kind is Kind.MODULE:
            return (
                base.elem
                if base.elem is not None
                else Value(Kind.MODULE, Confidence.LIKELY, device=base.device or ANYWHERE, graph=MAYBE)
            )
        if kind is Kind.STRING:
            return STRING
        if kind is Kind.CLASS or kind is Kind.NAMESPACE or (kind is Kind.OBJECT and base.device == HOST):
            return base
        if kind is Kind.DATASET or (kind is Kind.OBJECT and base.on_host and base.cls is None):
            return Value(Kind.UNKNOWN, device=HOST, graph=DETACHED)
        if kind is Kind.UNKNOWN:
            several = len(indices) > 1 and any(
                v is None or v.kind is Kind.TENSOR or v.kind is Kind.NONE for _, v in indices
            )
            if several or (first is not None and first.kind is Kind.TENSOR and first.rank != 0):
                return Value(
                    Kind.TENSOR,
                    Confidence.POSSIBLE,
                    device=base.device or ANYWHERE,
                    graph=base.graph or MAYBE,
                    deps=base.deps,
                    origins=(node,),
                )
            if base.elem is not None:
                return base.elem
            return Value(
                Kind.UNKNOWN, device=base.device or ANYWHERE, graph=base.graph or MAYBE, deps=base.deps, origins=(node,)
            )
        if base.cls is not None:
            method = base.cls.find_method("__getitem__")
            if method is not None and method.returns is not None:
                return method.returns.but(ident=None, deps=0)
        return UNKNOWN

    def indexed_tensor(
        self, node: cst.Subscript, base: Value, indices: list[tuple[cst.BaseExpression | None, Value | None]]
    ) -> Value:
        rank = base.rank
        if rank is not None:
            for _, index in indices:
                if index is None or index.const is Ellipsis:
                    continue
                if index.kind is Kind.NUMBER:
                    rank -= 1
                elif index.kind is Kind.NONE:
                    rank += 1
                elif index.kind is Kind.TENSOR and index.dtype != "bool" and index.rank is not None:
                    rank += index.rank - 1
                else:
                    rank = None
                    break
            if rank is not None and rank < 0:
                rank = None
        result = self.tensor(node, (base,), dtype=base.dtype, rank=rank)
        if len(indices) > 1 and base.conf is Confidence.POSSIBLE:
            result.conf = Confidence.LIKELY
        result.pinned = base.pinned
        result.loaders = base.loaders
        if base.kind is Kind.BATCH and result.conf < Confidence.LIKELY:
            result.conf = base.conf
        return result

    # Iterating

    def element(self, value: Value, values: bool = False) -> Value:
        """What iterating a value gives; with `values`, the values of a mapping."""
        kind = value.kind
        if kind is Kind.CONTAINER:
            if value.qual == "dict" and not values:
                return STRING if value.items else UNKNOWN
            return value.elem if value.elem is not None else UNKNOWN
        if kind is Kind.TENSOR:
            rank = value.rank - 1 if value.rank else None
            if value.conf is Confidence.POSSIBLE:
                return value.but(kind=Kind.UNKNOWN, rank=None, shape=None, ident=None, const=MISSING)
            return value.but(rank=rank, shape=None, ident=None, origins=(), const=MISSING)
        if kind is Kind.BATCH:
            return value.but(ident=None)
        if kind is Kind.LOADER:
            if value.elem is not None:
                return value.elem
            return Value(
                Kind.BATCH, Confidence.LIKELY, device=value.device or HOST, graph=DETACHED, pinned=value.pinned
            )
        if kind is Kind.SHAPE:
            return NUMBER.but(qual="tensor size")
        if kind is Kind.NDARRAY:
            return Value(Kind.NDARRAY, device=HOST)
        if kind is Kind.PARAMETERS:
            return value.elem if value.elem is not None else PARAMETER
        if kind is Kind.MODULE:
            if value.elem is not None:
                return value.elem
            return Value(Kind.MODULE, Confidence.LIKELY, device=value.device or ANYWHERE, graph=MAYBE)
        if kind is Kind.STRING:
            return STRING
        if kind is Kind.DATASET:
            return Value(Kind.UNKNOWN, device=HOST, graph=DETACHED)
        if kind is Kind.OBJECT and value.device == HOST:
            return value
        if kind is Kind.OBJECT and value.cls is not None:
            method = value.cls.find_method("__iter__")
            if method is not None and method.returns is not None:
                return self.element(method.returns)
        if kind is Kind.UNKNOWN:
            if value.elem is not None:
                return value.elem
            return Value(Kind.UNKNOWN, device=value.device or ANYWHERE, graph=value.graph or MAYBE, deps=value.deps)
        return UNKNOWN

    def member(self, value: Value, index: int | None) -> Value:
        """What unpacking gives at a position."""
        if (
            value.kind in (Kind.CONTAINER, Kind.UNKNOWN, Kind.BATCH)
            and value.items is not None
            and index in value.items
        ):
            return value.items[index]
        if value.kind is Kind.SHAPE:
            if value.items is not None and index in value.items:
                return value.items[index]
            return NUMBER.but(qual="tensor size")
        if value.kind is Kind.CONTAINER:
            return value.elem if value.elem is not None else UNKNOWN
        return self.element(value)

    # Comprehensions

    def comprehension(self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp) -> Value:
        before = self.frame.env
        self.frame.env = before.copy()
        saved = self.context

        def clause(part: cst.CompFor) -> Value:
            iterable = self.eval(part.iter)
            self.iterate_effects(part.iter, iterable)
            context = Context(Scope.LOOP, node, self.context, loop=LoopFacts(node, iterable, self.count_of(iterable)))
            if self.recording:
                outer = self.context.enclosing_loops()
                if outer and outer[0].loop is not None:
                    outer[0].loop.inner.append(context)
                self.sites.loops.append(sites.Loop(node, part.target, iterable, part.iter, context, self.context))
            self.context = context
            self.assign(part.target, self.element(iterable), node, None)
            for test in part.ifs:
                self.condition(test.test, "comprehension")
                self.narrow(test.test, True)
            if part.inner_for_in is not None:
                return clause(part.inner_for_in)
            if isinstance(node, cst.DictComp):
                self.eval(node.key)
                return self.eval(node.value)
            return self.eval(node.elt)

        element = clause(node.for_in)
        self.context = saved
        after = self.frame.env
        self.frame.env = before
        for name in _walrus_targets(node):
            if name in after:
                before[name] = after[name]
        qual = {cst.ListComp: "list", cst.SetComp: "set", cst.DictComp: "dict"}.get(type(node), "generator")
        if element.ident is not None:
            element = element.but(ident=None)
        return Value(Kind.CONTAINER, elem=element, qual=qual, origins=(node,))

    def iterate_effects(self, node: cst.BaseExpression, iterable: Value) -> None:
        """Iterating a generator of this file runs its body; iterating a 0-d or device tensor launches views only."""

    def count_of(self, iterable: Value | None) -> int | None:
        """How many rounds, where a literal says so."""
        if iterable is None:
            return None
        if iterable.kind is Kind.CONTAINER and iterable.qual in ("list", "tuple", "set") and iterable.items:
            return len(iterable.items)
        if iterable.qual == "range" and isinstance(iterable.const, int):
            return iterable.const
        return None

    def _await(self, node: cst.Await) -> Value:
        return self.eval(node.expression)

    def _yield(self, node: cst.Yield) -> Value:
        if isinstance(node.value, cst.From):
            value = self.element(self.eval(node.value.item))
        elif node.value is not None:
            value = self.eval(node.value)
        else:
            value = NONE
        self.frame.yields.append(value)
        self.effect(EffectKind.YIELD, node, value)
        return UNKNOWN

    def _ellipsis(self, node: cst.Ellipsis) -> Value:
        return _ELLIPSIS

    # Declarations

    def annotated(self, node: cst.BaseExpression | None) -> Value:
        """What an annotation declares."""
        if node is None:
            return UNKNOWN
        if isinstance(node, cst.SimpleString):
            try:
                text = ast.literal_eval(node.value)
                return (
                    self.annotated(cst.parse_expression(text)) if isinstance(text, str) and len(text) < 200 else UNKNOWN
                )
            except Exception:  # any text may stand in an annotation
                return UNKNOWN
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            left, right = self.annotated(node.left), self.annotated(node.right)
            if left.kind is Kind.UNKNOWN and right.kind is not Kind.NONE:
                return UNKNOWN
            return UNKNOWN if right.kind is Kind.UNKNOWN and left.kind is not Kind.NONE else join(left, right)
        if isinstance(node, cst.Name) and node.value in _SIMPLE_TYPES and self.lookup(node.value) is None:
            return _SIMPLE_TYPES[node.value]
        if isinstance(node, cst.Name) and node.value == "None":
            return NONE
        if isinstance(node, cst.Tuple):  # the second argument of isinstance
            value = None
            for element in node.elements:
                one = self.annotated(element.value)
                value = one if value is None else join(value, one)
            return value or UNKNOWN
        arguments: list[cst.BaseExpression] = []
        base = node
        if isinstance(node, cst.Subscript):
            base = node.value
            for part in node.slice:
                if isinstance(part.slice, cst.Index):
                    arguments.append(part.slice.value)
        if not isinstance(base, (cst.Name, cst.Attribute)):
            return UNKNOWN
        target = self.eval_quietly(base)
        if target.cls is not None and target.kind is Kind.CLASS:
            return self.instance_of(target.cls).but(conf=Confidence.LIKELY)
        qual = target.qual or dotted(base) or ""
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
            parts = [self.annotated(argument) for argument in arguments if not isinstance(argument, cst.Ellipsis)]
            joined: Value | None = None
            for member in parts[:1] if last == "Generator" else parts:
                joined = member if joined is None else join(joined, member)
            items = None
            if last in ("tuple", "Tuple") and parts and not any(isinstance(a, cst.Ellipsis) for a in arguments):
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

    def instance_of_external(self, qual: str) -> Value:
        """An instance of a class of another package, as an annotation or a constructor gives it."""
        raise NotImplementedError

    def instance_of(self, cls: ClassInfo) -> Value:
        raise NotImplementedError

    def refine(self, value: Value, uses: set[str] | None) -> Value:
        """A value of unknown kind, as the attributes used on it tell."""
        if not uses:
            return value
        device = value.device or ANYWHERE
        if "zero_grad" in uses and "step" in uses:
            return Value(Kind.OPTIMIZER, Confidence.LIKELY, deps=value.deps, optional=value.optional)
        if "unscale_" in uses or ("scale" in uses and "update" in uses and "step" in uses):
            return Value(Kind.SCALER, Confidence.LIKELY, optional=value.optional)
        if uses & _MODULE_EVIDENCE:
            return Value(
                Kind.MODULE,
                Confidence.LIKELY,
                device=device,
                graph=MAYBE,
                deps=value.deps,
                ident=value.ident,
                optional=value.optional,
            )
        if uses & _TENSOR_EVIDENCE:
            conf = Confidence.LIKELY
        elif uses & _WEAK_TENSOR_EVIDENCE:
            conf = Confidence.POSSIBLE
        else:
            return value
        return value.but(kind=Kind.TENSOR, conf=conf, device=device, graph=value.graph or MAYBE)


MAKES_GRAPHS = "()"  # evidence: it is called, and backward runs on what it gives
_MODULE_EVIDENCE = frozenset([MAKES_GRAPHS]) | frozenset(
    "parameters named_parameters modules named_modules children train eval register_forward_hook".split()
)
_TENSOR_EVIDENCE = (known.TENSOR_ONLY_METHODS | known.TENSOR_ONLY_ATTRIBUTES) - frozenset(
    "half float double type chunk exp log copy_ fill_ gather flatten abs square scatter pow".split()
)
_WEAK_TENSOR_EVIDENCE = frozenset(
    "shape size dim ndim device dtype long float flatten exp abs square reshape mean sum".split()
)

PARAMETER = Value(Kind.TENSOR, Confidence.SURE, device=ANYWHERE, graph=ATTACHED, qual="torch.nn.Parameter")
_PARAM_GROUPS = Value(
    Kind.CONTAINER,
    qual="param groups",
    elem=Value(
        Kind.CONTAINER, qual="dict", items={"params": Value(Kind.PARAMETERS), "lr": NUMBER.but(conf=Confidence.LIKELY)}
    ),
)
_TRUE = Value(Kind.NUMBER, const=True, dtype="bool")
_FALSE = Value(Kind.NUMBER, const=False, dtype="bool")
_ELLIPSIS = Value(Kind.NUMBER, const=Ellipsis)
_SIMPLE_TYPES: dict[str, Value] = {
    "int": NUMBER,
    "float": NUMBER,
    "bool": NUMBER,
    "complex": NUMBER,
    "str": STRING,
    "bytes": STRING,
    "list": Value(Kind.CONTAINER, Confidence.LIKELY, qual="list"),
    "tuple": Value(Kind.CONTAINER, Confidence.LIKELY, qual="tuple"),
    "dict": Value(Kind.CONTAINER, Confidence.LIKELY, qual="dict"),
    "set": Value(Kind.CONTAINER, Confidence.LIKELY, qual="set"),
}


_SEQUENCES = frozenset("list List Sequence Iterable Iterator Generator tuple Tuple set Set Collection deque".split())


def _unnegated(test: cst.BaseExpression) -> tuple[cst.BaseExpression, bool]:
    """A test without the `not` before it, and whether there was one."""
    flipped = False
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, flipped = test.expression, not flipped
    return test, flipped


def _combine(how: str, a: tuple[Gate, Gate] | None, b: tuple[Gate, Gate] | None) -> tuple[Gate, Gate] | None:
    """The gates of `a and b`, or of `a or b`."""
    if a is None and b is None:
        return None
    a, b = a or (Gate.NONE, Gate.NONE), b or (Gate.NONE, Gate.NONE)
    if how == "and":
        return _either(a[0], b[0]), _both(a[1], b[1])
    return _both(a[0], b[0]), _either(a[1], b[1])


def _either(a: Gate, b: Gate) -> Gate:
    return a if a is not Gate.NONE else b


def _both(a: Gate, b: Gate) -> Gate:
    return a if b is not Gate.NONE else Gate.NONE


def _hashable(key: object) -> bool:
    return isinstance(key, (int, str, float, bool, bytes))


def _sizes(value: Value) -> list[Value]:
    assert value.shape is not None
    return [NUMBER.but(const=MISSING if n is None else n, qual="tensor size") for n in value.shape]


def _assigns(body: cst.BaseSuite, name: str) -> bool:
    """Whether a block assigns the name, an attribute of that name, or an entry of it."""
    statements = body.body
    for statement in statements:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                targets: list[cst.BaseExpression] = []
                if isinstance(small, cst.Assign):
                    for assigned in small.targets:
                        whole = assigned.target
                        targets += [e.value for e in whole.elements] if isinstance(whole, cst.Tuple) else [whole]
                elif isinstance(small, (cst.AnnAssign, cst.AugAssign)):
                    targets = [small.target]
                elif isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
                    function = small.value.func
                    if isinstance(function, cst.Attribute) and function.attr.value in (
                        "register_buffer",
                        "setdefault",
                        "add",
                        "update",
                    ):
                        return True
                for written in targets:
                    found = dotted(written.value if isinstance(written, cst.Subscript) else written)
                    if found is not None and (found == name or found.startswith(name + ".")):
                        return True
        elif isinstance(statement, (cst.If, cst.With, cst.For)) and _assigns(statement.body, name):
            return True
    return False


def _walrus_targets(node: cst.CSTNode) -> list[str]:
    names: list[str] = []
    tests: list[cst.BaseExpression] = []
    part: cst.CompFor | None = node.for_in  # type: ignore[attr-defined]
    while part is not None:
        tests += [test.test for test in part.ifs]
        part = part.inner_for_in
    for test in tests:
        todo: list[cst.BaseExpression] = [test]
        while todo:
            expression = todo.pop()
            if isinstance(expression, cst.NamedExpr) and isinstance(expression.target, cst.Name):
                names.append(identifier(expression.target.value))
            elif isinstance(expression, cst.BooleanOperation):
                todo += [expression.left, expression.right]
            elif isinstance(expression, cst.Comparison):
                todo.append(expression.left)
    return names


ExpressionReader._dispatch = {
    cst.Name: ExpressionReader._name,
    cst.Attribute: ExpressionReader._attribute,
    cst.Call: lambda self, node: self.call(node),
    cst.BinaryOperation: ExpressionReader._binary,
    cst.UnaryOperation: ExpressionReader._unary,
    cst.BooleanOperation: ExpressionReader._boolean,
    cst.Comparison: ExpressionReader._comparison,
    cst.IfExp: ExpressionReader._ternary,
    cst.NamedExpr: ExpressionReader._walrus,
    cst.Subscript: ExpressionReader._subscript,
    cst.Integer: ExpressionReader._integer,
    cst.Float: ExpressionReader._float,
    cst.Imaginary: ExpressionReader._imaginary,
    cst.SimpleString: ExpressionReader._string,
    cst.ConcatenatedString: ExpressionReader._concatenated,
    cst.FormattedString: ExpressionReader._formatted,
    cst.TemplatedString: ExpressionReader._formatted,
    cst.Tuple: ExpressionReader._tuple,
    cst.List: ExpressionReader._list,
    cst.Set: ExpressionReader._set,
    cst.Dict: ExpressionReader._dict,
    cst.StarredElement: ExpressionReader._starred,
    cst.ListComp: ExpressionReader.comprehension,
    cst.SetComp: ExpressionReader.comprehension,
    cst.GeneratorExp: ExpressionReader.comprehension,
    cst.DictComp: ExpressionReader.comprehension,
    cst.Lambda: lambda self, node: self.lambda_function(node),
    cst.Await: ExpressionReader._await,
    cst.Yield: ExpressionReader._yield,
    cst.Ellipsis: ExpressionReader._ellipsis,
}

"""What names and attributes give."""

from __future__ import annotations

import functools
import itertools
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.knowledge.devices import ASKED
from torchlint.semantics.functions import ClassInfo
from torchlint.semantics.names import dotted, identifier
from torchlint.semantics.reading.evidence import SWITCHES
from torchlint.semantics.reading.instances import InstanceReader
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    HOST,
    MAYBE,
    MAYBE_TENSORS,
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

# Of these, reading more of the program may tell more.
_LEARNED: Final = frozenset({Kind.UNKNOWN, Kind.NONE, Kind.CONTAINER})
_MOST_PARTS: Final = 16  # that are looked at


def _param_groups() -> Value:
    """An optimizer's groups: new ones each time, since what code puts into one says nothing of another optimizer's."""
    options = {"params": Value(Kind.PARAMETERS), "lr": NUMBER.but(conf=Confidence.LIKELY)}
    return Value(Kind.CONTAINER, qual="param groups", elem=Value(Kind.CONTAINER, qual="dict", items=options))


_TRUE = Value(Kind.NUMBER, const=True, dtype="bool")


_FALSE = Value(Kind.NUMBER, const=False, dtype="bool")


@functools.cache
def _builtin(name: str) -> Value:
    classes = ("int", "float", "str", "bool", "list", "dict", "set", "tuple", "object", "type")
    return Value(Kind.CLASS if name in classes else Kind.FUNCTION, qual=name)


class AttributeReader(InstanceReader):
    """Evaluates names and attributes."""

    def _name(self, node: cst.Name) -> Value:
        name = node.value if node.value.isascii() else identifier(node.value)
        value = self.frame.env.get(name) or self.lookup(name)
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
            return _builtin(name)
        return UNKNOWN

    def _attribute(self, node: cst.Attribute) -> Value:
        attr = identifier(node.attr.value)
        name = dotted(node)
        if attr in SWITCHES:
            self.note_switch(node, attr)
        elif name is not None:
            self.note_attribute(name[: -len(attr) - 1], attr, called=node in self.callees)
        if name is not None:
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

    def attribute_of(self, base: Value, attr: str, node: cst.BaseExpression) -> Value:
        """What `base.attr` is."""
        kind = base.kind
        if kind is Kind.NAMESPACE or (
            kind in (Kind.FUNCTION, Kind.CLASS) and base.qual and base.cls is None and base.fn is None
        ):
            return self.external(f"{base.qual}.{attr}")
        if base.cls is not None:
            return self.attribute_of_class(base, attr, node)
        if attr == "needs_input_grad":  # of an autograd Function's context: truth values of Python
            return Value(Kind.CONTAINER, qual="tuple", elem=NUMBER)
        if base.classes:
            held = [self.attribute_of_class(self.of_class(base, cls), attr, node) for cls in base.classes]
            return functools.reduce(join, held)
        if kind is Kind.TENSOR or kind is Kind.BATCH or kind is Kind.NDARRAY:
            return self.attribute_of_tensor(base, attr, node)
        if kind is Kind.SHAPE:
            return Value(Kind.FUNCTION, bound=base, qual=f"torch.Size.{attr}")
        if kind is Kind.DEVICE:
            return STRING.but(device=base.device, qual="device type") if attr == "type" else NUMBER
        if kind is Kind.MODULE:
            return self.attribute_of_module(base, attr, node)
        if kind is Kind.OPTIMIZER and attr == "param_groups":
            return _param_groups()
        if kind is Kind.LOADER and attr == "dataset":
            return Value(Kind.DATASET)
        if kind is Kind.CONTAINER and base.items is not None and attr in base.items:
            return base.items[attr]
        if kind is Kind.UNKNOWN:
            if base.items is not None and attr in base.items:
                return base.items[attr]
            if attr == "shape":
                return Value(Kind.SHAPE, Confidence.LIKELY, qual="tensor size")
            if attr == "device":
                return Value(Kind.DEVICE, Confidence.LIKELY, device=base.device or ANYWHERE, deps=base.deps)
            if attr == "dtype":
                return Value(Kind.DTYPE, Confidence.LIKELY)
            if attr in ("is_cuda", "is_cpu"):
                return self.attribute_of_tensor(base, attr, node)  # nothing else has these
            if attr in ("grad", "data") and base.deps:
                return Value(Kind.TENSOR, Confidence.LIKELY, device=base.device or ANYWHERE, graph=DETACHED)
            return Value(Kind.UNKNOWN, device=base.device or ANYWHERE, graph=base.graph or MAYBE, bound=base, qual=None)
        if kind is Kind.OBJECT and base.qual in ("torch.finfo", "torch.iinfo"):
            return NUMBER
        if kind is Kind.OBJECT and base.device == HOST:
            return base.but(qual=f"{base.qual}.{attr}" if base.qual else None, bound=base)
        if kind is not Kind.OBJECT:
            return UNKNOWN
        qual = f"{base.qual}.{attr}" if base.qual else None
        return Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE, bound=base, qual=qual)

    def of_class(self, value: Value, cls: ClassInfo) -> Value:
        """An instance of one of the classes that a value may be of."""
        return value.but(cls=cls, classes=(), qual=cls.qualname)

    def attribute_of_class(self, base: Value, attr: str, node: cst.BaseExpression) -> Value:
        cls = base.cls
        assert cls is not None
        method = cls.find_method(attr)
        if method is not None:
            if method.method == "property" and base.kind is not Kind.CLASS:
                return self.call_property(method, base, node)
            return Value(Kind.FUNCTION, fn=method, bound=base, qual=method.qualname)
        own_state = base.kind is Kind.OPTIMIZER and attr == "state"
        if own_state and not any("state" in one.stores for one in cls.lineage()):
            held: Value | None = self.optimizer_state(cls)
        else:
            held = cls.find_attribute(attr)
        if not self.recording and (held is None or held.kind in _LEARNED):
            self.frame.info.read_early[cls, attr] = known_of(held)
        if held is not None:
            if held.kind is Kind.UNKNOWN:
                held = self.refine(held, cls.duck.get(attr))
            elif held.kind is Kind.MODULE and base.kind is Kind.MODULE and held.on_host:
                held = held.but(device=base.device or ANYWHERE)  # made on the host, moved with what holds it
            return placed_with(base, self.as_root(held) if attr in cls.roots else held)
        below = self.model.overrides(cls, attr) if base.kind is not Kind.CLASS and base.qual != "super" else []
        if below and below[0].method == "instance" and not base.origins:
            return Value(Kind.FUNCTION, fn=below[0], bound=base, qual=below[0].qualname)
        if base.kind is Kind.MODULE:
            return self.attribute_of_module(base, attr, node)
        if base.kind is Kind.OPTIMIZER and attr == "param_groups":
            return _param_groups()
        if base.kind is Kind.TENSOR:
            return self.attribute_of_tensor(base, attr, node)
        given = known.FRAMEWORK_ATTRIBUTES.get(attr)
        if given is not None and any(name.rsplit(".", 1)[-1].endswith(given[0]) for name in cls.base_names):
            return Value(Kind.OBJECT, Confidence.LIKELY, qual=given[1])
        value = self.refine(UNKNOWN, cls.duck.get(attr))
        if attr in cls.roots:
            value = self.as_root(value)
        if value is UNKNOWN:
            value = Value(Kind.UNKNOWN, device=ANYWHERE, graph=MAYBE, bound=base)
        return placed_with(base, value)

    def optimizer_state(self, cls: ClassInfo) -> Value:
        """`self.state` of an optimizer: one dictionary per parameter, which all share their keys here.

        Each class has its own, with the keys of those it descends from: what another one keeps under a name of the
        same sort is another thing.
        """
        if "state" not in cls.class_attributes:
            entry = Value(Kind.CONTAINER, qual="dict", items={})
            cls.class_attributes["state"] = Value(Kind.CONTAINER, qual="dict", elem=entry)
        state = cls.class_attributes["state"]
        for parent in cls.parents():
            above = parent.find_attribute("state")
            if above is not None and above.elem is not None and state.elem is not None and state.elem.items is not None:
                state.elem.items.update((above.elem.items or {}) | state.elem.items)
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
        if attr == "module":  # of a wrapper, which steps aside
            return base.but(origins=(node,)) if base.qual in known.DATA_PARALLEL else base
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
            if attr == "is_cpu":
                return NUMBER.but(gates=(Gate.HOST, Gate.NONE))
            if attr in ASKED:
                self.model.accelerated = True
            return NUMBER.but(gates=(Gate.NONE, Gate.HOST)) if attr == "is_cuda" else NUMBER
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
            if attr.endswith("_shape"):  # `sample.img_shape`: sizes that a data set notes beside the image
                return Value(Kind.SHAPE, Confidence.LIKELY, bound=base)
            # A structured output or batch: `.loss`, `.logits`, `.obs`. A method if it is called.
            return base.but(origins=(node,), ident=None, bound=base)
        if node not in self.callees:
            # `data.edge_index`: what was taken for a tensor for want of evidence is an object that holds some. And
            # `param.sample_grad`: a program gives tensors attributes of its own, with a graph of their own.
            graph = base.graph if base.conf is Confidence.POSSIBLE else MAYBE
            return Value(Kind.UNKNOWN, device=base.device, graph=graph, bound=base, deps=base.deps)
        return Value(Kind.FUNCTION, bound=base, qual=f"torch.Tensor.{attr}", device=base.device, graph=base.graph)


def placed_with(owner: Value, held: Value) -> Value:
    """What an object holds or makes, where all of it is known to be on the host: `boxes.cpu().conf`."""
    if owner.kind is not Kind.OBJECT or owner.device != HOST or owner.cls is None or held.device == HOST:
        return held
    if held.kind in MAYBE_TENSORS:
        return held.but(device=HOST)
    return held.but(device=HOST) if held.kind is Kind.OBJECT and held.cls in owner.cls.lineage() else held


def known_of(held: Value | None, depth: int = 3) -> int:
    """How much is known of what an attribute holds: of how many of its parts, and of theirs, something."""
    if held is None or held.kind is Kind.UNKNOWN or held.kind is Kind.NONE:
        return 0
    if held.kind is not Kind.CONTAINER or not depth:
        return 1
    parts = [held.elem, *itertools.islice((held.items or {}).values(), _MOST_PARTS)]
    return 1 + sum(known_of(part, depth - 1) for part in parts)


def _sizes(value: Value) -> list[Value]:
    assert value.shape is not None
    return [NUMBER.but(const=MISSING if n is None else n, qual="tensor size") for n in value.shape]

"""What the use of a name tells about it: the attributes used on it, and that backward runs on it."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.semantics.factors import factors, terms
from torchlint.semantics.names import dotted, holder
from torchlint.semantics.reading.base import Reader
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    MAYBE,
    Kind,
    Value,
)

MAKES_GRAPHS = "()"  # evidence: it is called, and backward runs on what it gives


COUNTED = "+= 1"  # evidence: it counts rounds or calls


BACKWARD = "()backward"  # evidence: backward runs on it


MOVED = "()device"  # evidence: it is moved to a device, so that it was not there before


PART_MOVED = "[]device"  # evidence: what it has under some key is moved to a device: the rest was not there either


BITS = "&"  # evidence: it is negated or combined bit by bit, as masks are


HELD = "@"  # evidence: before the name of an attribute that is read, where tensors have a method to call


KEYED = "[key]"  # evidence: it is indexed by a string, or by what iterating it gives


# What backward runs on is a tensor, but not where it is used as a dictionary: then it holds the terms of the loss.
_OF_MAPPINGS = frozenset(["items", "keys", "values", KEYED])

_MODULE_EVIDENCE = frozenset([MAKES_GRAPHS]) | frozenset(
    "parameters named_parameters modules named_modules children train eval register_forward_hook".split()
)


SWITCHES = frozenset("train eval".split())


_TENSOR_EVIDENCE = (known.TENSOR_ONLY_METHODS | known.TENSOR_ONLY_ATTRIBUTES) - frozenset(
    "half float double type chunk exp log copy_ fill_ gather flatten abs square scatter pow".split()
)


_WEAK_TENSOR_EVIDENCE = frozenset(
    "shape size dim ndim device dtype long float flatten exp abs square reshape mean sum".split()
)


# Methods of tensors: who reads such an attribute and calls nothing has something else, a module with its `mean`.
_METHODS_OF_TENSORS: Final = (
    known.TENSOR_ONLY_METHODS | known.REDUCTIONS | frozenset("size dim reshape flatten".split())
)


_ENGINES = frozenset(["backward"])


_OF_TENSORS = _TENSOR_EVIDENCE | _WEAK_TENSOR_EVIDENCE | known.REDUCTIONS | known.TENSOR_ATTRIBUTES.keys()


class EvidenceReader(Reader):
    """Collects evidence, and refines unknown values by it."""

    def note_switch(self, node: cst.Attribute, attr: str) -> None:
        """Remember a switch that is used on a name: `net.to(device).eval()` tells of what was moved."""
        used = node.value
        while type(used) is cst.Call and type(used.func) is cst.Attribute:
            used = used.func.value
        name = dotted(used)
        if name is not None:
            self.note_evidence(name, attr)

    def note_attribute(self, name: str, attribute: str, *, called: bool) -> None:
        """Remember that an attribute is used on a name."""
        read = not called and attribute in _METHODS_OF_TENSORS
        self.note_evidence(name, HELD + attribute if read else attribute)

    def note_evidence(self, name: str, evidence: str) -> None:
        """Remember something that tells what a name, or an attribute of an object, stands for."""
        info = self.frame.info
        seen = info.duck.get(name)
        if seen is None:
            seen = info.duck[name] = set()
        seen.add(evidence)
        holder_name, _, attribute = name.rpartition(".")
        if holder_name:
            holder = self.lookup(holder_name)
            if holder is not None and holder.cls is not None:
                holder.cls.duck.setdefault(attribute, set()).add(evidence)
                self.model.note_evidence(holder.cls, attribute, evidence, info)
        elif self.frame.parent is not None and name not in self.frame.env:
            outer = self.frame.parent
            if outer.info is not info:
                outer.info.duck.setdefault(name, set()).add(evidence)

    def has_evidence(self, name: str, evidence: str) -> bool:
        """Whether that was seen of a name, or of an attribute of an object."""
        if evidence in self.frame.info.duck.get(name, ()):
            return True
        holder_name, _, attribute = name.rpartition(".")
        holder = self.lookup(holder_name) if holder_name else None
        return holder is not None and holder.cls is not None and evidence in holder.cls.duck.get(attribute, ())

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
        if uses & _TENSOR_EVIDENCE == _ENGINES and any(use.isidentifier() for use in uses - _OF_TENSORS):
            return value  # `engine.backward(loss)`, of what has methods of its own
        if uses & _TENSOR_EVIDENCE:
            conf = Confidence.LIKELY
        elif uses & _WEAK_TENSOR_EVIDENCE:
            conf = Confidence.POSSIBLE
        else:
            return value
        return value.but(kind=Kind.TENSOR, conf=conf, device=device, graph=value.graph or MAYBE)

    def note_root(self, node: cst.BaseExpression | None) -> None:
        """Remember that backward runs on an expression: on the names it is a sum of."""
        if node is None:
            return
        roots, sure = factors(node), terms(node)
        self.note_graph_makers(node)
        for info in self.frame.info.outward():
            info.roots |= roots
            info.terms |= sure
        for name in sure:
            holder_name, _, attribute = name.rpartition(".")
            if holder_name:
                holder = self.lookup(holder_name)
                if holder is not None and holder.cls is not None:
                    holder.cls.roots.add(attribute)
                    self.model.note_evidence(holder.cls, attribute, BACKWARD, self.frame.info)

    def note_graph_makers(self, node: cst.BaseExpression) -> None:
        """Backward runs on an expression: what is called for it, and for its first argument, acts as a module does."""
        todo = [node]
        while todo:
            part = todo.pop()
            if type(part) is cst.BinaryOperation:
                todo += [part.left, part.right]
            elif isinstance(part, (cst.Subscript, cst.Attribute)):
                todo.append(part.value)
            elif type(part) is cst.Call:
                todo += [argument.value for argument in part.args[:1]]
                name = dotted(part.func)
                if type(part.func) is cst.Attribute:
                    todo.append(part.func.value)
                if name is not None:
                    called = self.eval_quietly(part.func)
                    if called.kind is Kind.UNKNOWN:
                        self.note_evidence(name, MAKES_GRAPHS)

    def note_flow(self, target: cst.BaseExpression, sources: set[str]) -> None:
        """Remember that the names of a target hold parts of others."""
        if not sources:
            return
        todo = [target]
        while todo:
            part = todo.pop()
            if type(part) is cst.Tuple or type(part) is cst.List:
                todo += [element.value for element in part.elements]
            else:
                name = holder(part)
                if name is not None:
                    self.frame.info.note_flow(name, sources, sources)

    def note_sum(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        """Remember that a name is a sum or product of others: a backward through it runs through them."""
        if (target, value) in self.sums:
            return  # read before, in the same function
        self.sums.add((target, value))
        name = dotted(target)
        if name is not None:
            self.frame.info.note_flow(name, factors(value), terms(value))
        elif type(target) is cst.Tuple and type(value) is cst.Tuple:
            for left, right in zip(target.elements, value.elements, strict=False):
                self.note_sum(left.value, right.value)

    def rooted(self, value: Value, name: str) -> Value:
        """The value of a name on which backward runs: a tensor with a graph, whatever made it."""
        for info in self.frame.info.outward():
            if info.terms and info.has_graph(name):
                if self.frame.info.duck.get(name, set()) & _OF_MAPPINGS:
                    value = value.but(graph=ATTACHED) if value.graph == MAYBE else value
                    guessed = value.kind is Kind.BATCH and value.conf is Confidence.POSSIBLE
                    return value.but(conf=Confidence.LIKELY) if guessed else value
                return self.as_root(value)
        return value

    def as_root(self, value: Value) -> Value:
        if value.kind in (Kind.UNKNOWN, Kind.BATCH) or (
            value.kind is Kind.TENSOR and value.conf is Confidence.POSSIBLE
        ):
            return value.but(kind=Kind.TENSOR, conf=Confidence.LIKELY, graph=ATTACHED)
        if value.kind is Kind.TENSOR and value.graph & MAYBE:  # without a graph on some ways, which are not taken here
            return value.but(graph=ATTACHED)
        return value

"""How a value came to be: the calls and operators behind it, and what went into them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value

Operand = tuple[cst.CSTNode, Value]


class Provenance:
    """Looks up what made a value. Made once a file, when a rule first asks."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._calls: dict[cst.CSTNode, sites.Call] = {site.node: site for site in model.sites.calls}
        self._operands: dict[cst.CSTNode, list[Operand]] = {}
        for binary in model.sites.binaries:
            self._operands[binary.node] = [(binary.left_node, binary.left), (binary.right_node, binary.right)]
        for subscript in model.sites.subscripts:
            if subscript.mode == "read":
                positions = [
                    (node, value) for node, value in subscript.indices if node is not None and value is not None
                ]
                self._operands[subscript.node] = [(subscript.node.value, subscript.base), *positions]

    def call(self, value: Value) -> sites.Call | None:
        """The one call that made a value."""
        return self._calls.get(value.origin) if value.origin is not None else None

    def call_at(self, node: cst.CSTNode) -> sites.Call | None:
        """The call that a node is."""
        return self._calls.get(node)

    def operands(self, value: Value) -> list[Operand] | None:
        """What went into the call, the operator or the indexing that made a value; None where that is not known."""
        return self.operands_at(value.origin) if value.origin is not None else None

    def operands_at(self, node: cst.CSTNode) -> list[Operand] | None:
        """The same for a node that is one of several that may have made a value."""
        site = self._calls.get(node)
        if isinstance(node, cst.UnaryOperation):
            return [(node.expression, self.model.value(node.expression))]
        if site is None and isinstance(node, cst.Subscript) and node not in self._operands:
            return [(node.value, self.model.value(node.value))]  # of an array
        return self._operands.get(node) if site is None else list(_inputs(site))


def _inputs(site: sites.Call) -> Iterator[Operand]:
    if site.receiver is not None and site.receiver_node is not None and site.receiver.kind is not Kind.NAMESPACE:
        yield site.receiver_node, site.receiver
    for argument in site.arguments:
        if argument.value.kind is Kind.CONTAINER:
            members = (argument.value.items or {}).values()
            for member in members or ((argument.value.elem,) if argument.value.elem is not None else ()):
                yield argument.node, member
        else:
            yield argument.node, argument.value

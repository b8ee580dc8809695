"""Arrays of NumPy that are computed from sizes and numbers alone, so that the device could compute them."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.rules.pipeline._provenance import Provenance
from torchlint.semantics.nodes import children
from torchlint.semantics.values import Kind

_DEEPEST: Final = 12  # operations within operations that a formula may have
# What reads files, draws numbers, or takes data from elsewhere.
_ELSEWHERE: Final = ("random.", "load", "from", "memmap", "genfromtxt", "frombuffer", "asarray")
_NUMBERS: Final = (Kind.NUMBER, Kind.SHAPE, Kind.NONE, Kind.STRING, Kind.DTYPE, Kind.DEVICE, Kind.FUNCTION, Kind.CLASS)
_OF_SIZES: Final = frozenset("range numpy.arange numpy.eye numpy.full numpy.linspace numpy.ones numpy.zeros".split())
_BUILTINS: Final = frozenset("abs float int len max min range round slice sum tuple list enumerate".split())


def is_formula(provenance: Provenance, node: cst.CSTNode, depth: int = 0) -> bool:
    """Whether an expression of arrays is made by functions of NumPy, and of the program, from numbers and sizes."""
    model = provenance.model
    if depth > _DEEPEST:
        return False
    if isinstance(node, (cst.Name, cst.Attribute)):
        value = model.value(node)
        if value.kind is Kind.NDARRAY:
            makers = [origin for origin in value.origins if origin is not node]
            return bool(makers) and all(is_formula(provenance, origin, depth + 1) for origin in makers)
        if value.kind is Kind.CONTAINER and value.elem is not None and value.elem.kind is Kind.NDARRAY:
            makers = [origin for origin in (*value.origins, *value.elem.origins) if origin is not node]
            return bool(makers) and all(is_formula(provenance, origin, depth + 1) for origin in makers)
        return value.kind in _NUMBERS
    if isinstance(node, cst.Call):
        site = provenance.call_at(node)
        if site is None:
            return False
        callee = site.callee or ""
        if site.target is not None:
            given = [result for result, _, _ in site.target.return_sites]
            return bool(given) and all(is_formula(provenance, result, depth + 1) for result in given)
        method = callee.startswith("numpy.ndarray.")
        if callee.startswith("numpy."):
            if callee.removeprefix("numpy.").startswith(_ELSEWHERE):
                return False
        elif callee not in _BUILTINS and not callee.startswith("math."):
            return False
        parts = [argument.node for argument in site.arguments]
        if callee in _OF_SIZES:  # what is unknown is a size: of data they make nothing
            parts = [argument.node for argument in site.arguments if argument.value.kind is not Kind.UNKNOWN]
        return all(
            is_formula(provenance, part, depth + 1)
            for part in (parts if not method or site.receiver_node is None else [site.receiver_node, *parts])
        )
    if isinstance(node, (cst.CompFor, cst.Arg)):
        return all(is_formula(provenance, part, depth + 1) for part in children(node) if not _binds(part, node))
    if isinstance(node, cst.BinaryOperation):
        # What is unknown and is added to or divides numbers is taken for one: a width, from the settings.
        sides = [side for side in (node.left, node.right) if model.value(side).kind is not Kind.UNKNOWN]
        return bool(sides) and all(is_formula(provenance, side, depth + 1) for side in sides)
    return all(
        is_formula(provenance, part, depth + 1)
        for part in children(node)
        if isinstance(part, (cst.BaseExpression, cst.BaseElement, cst.CompFor, cst.ComparisonTarget, cst.BaseSlice,
                             cst.SubscriptElement))
    )  # fmt: skip


def _binds(part: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a part of a comprehension is what it binds, or the name of an argument."""
    return (isinstance(node, cst.CompFor) and part is node.target) or (
        isinstance(node, cst.Arg) and part is node.keyword
    )

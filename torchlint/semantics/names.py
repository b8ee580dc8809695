"""Names and literals, as they are written and as Python compares them."""

from __future__ import annotations

import ast
import unicodedata
from typing import Any

import libcst as cst

from torchlint.semantics.nodes import within


def identifier(text: str) -> str:
    """A name as Python compares it (PEP 3131: NFKC)."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def literal(node: cst.SimpleString) -> Any:
    """The text or bytes that a literal stands for. Raises ValueError or SyntaxError where it stands for nothing."""
    return literal_of(node.value)


def literal_of(text: str) -> Any:
    """The same for a literal as it is written."""
    quote = text[0]
    if quote in "'\"" and "\\" not in text:  # nearly every literal: it need not be compiled
        return text[3:-3] if text.startswith(quote * 3) else text[1:-1]
    return ast.literal_eval(text)


def holder(node: cst.BaseExpression | None) -> str | None:
    """The name of what holds an expression: `self.rows` for it, `self.rows[k]` and `self.rows.setdefault(k, [])`."""
    while node is not None and dotted(node) is None:
        if type(node) is cst.Subscript:
            node = node.value
        elif (
            type(node) is cst.Call
            and type(node.func) is cst.Attribute
            and node.func.attr.value in ("setdefault", "get")
        ):
            node = node.func.value
        else:
            return None
    return dotted(node) if node is not None else None


def dotted(node: cst.BaseExpression) -> str | None:
    """`self.net.loss` as text, where the expression is a chain of names."""
    # Types are compared, not asked about: a node's class is an abstract base class, and asking it is slow.
    if type(node) is cst.Name:
        return identifier(node.value)
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return None
    parts.append(node.value)
    parts.reverse()
    return identifier(".".join(parts))


def attribute_asked(node: cst.BaseExpression) -> str | None:
    """`self.x` for `hasattr(self, "x")` and `getattr(self, "x", None)`."""
    if type(node) is not cst.Call or type(node.func) is not cst.Name or len(node.args) < 2:
        return None
    owner, name = dotted(node.args[0].value), node.args[1].value
    if node.func.value not in ("hasattr", "getattr") or owner is None or type(name) is not cst.SimpleString:
        return None
    return f"{owner}.{name.raw_value}"


def names_read(node: cst.CSTNode) -> set[str]:
    """The names below, and each chain of attributes as a whole: `self.net.weight` gives `self`, `self.net`, ..."""
    found: set[str] = set()
    others: set[cst.CSTNode | None] = set()  # the `weight` of that, and keywords: they stand for no name that is read
    for inner in within([node]):
        if type(inner) is cst.Attribute:
            others.add(inner.attr)
        elif type(inner) is cst.Arg:
            others.add(inner.keyword)
            continue
        elif type(inner) is not cst.Name or inner in others:
            continue
        name = dotted(inner)
        if name is not None:
            found.add(name)
    return found

"""Names as they are written, and as Python compares them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import libcst as cst

from torchlint.knowledge.names import ACCELERATORS
from torchlint.semantics.values import DEVICE, HOST


def identifier(text: str) -> str:
    """A name as Python compares it (PEP 3131: NFKC)."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def dotted(node: cst.BaseExpression) -> str | None:
    """`self.net.loss` as text, where the expression is a chain of names."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(identifier(node.attr.value))
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(identifier(node.value))
    if len(parts) == 1:
        return parts[0]
    parts.reverse()
    return ".".join(parts)


def device_bits(text: str) -> int:
    """Where a device string such as "cuda:0" points to; 0 for any other text."""
    kind = text.split(":", 1)[0]
    if kind == "cpu":
        return HOST
    return DEVICE if kind in ACCELERATORS else 0


_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes directly below a node, in the order of the text; those of whitespace and comments are left out."""
    kind = type(node)
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = tuple(
            name
            for name in kind.__dataclass_fields__
            if not any(
                word in name for word in ("whitespace", "lines", "paren", "comma", "header", "footer", "newline")
            )
        )
        _FIELDS[kind] = fields
    for name in fields:
        held = getattr(node, name)
        if isinstance(held, cst.CSTNode):
            yield held
        elif isinstance(held, (list, tuple)):
            for item in held:
                if isinstance(item, cst.CSTNode):
                    yield item


def within(roots: list[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """The nodes below, in the order of the text; not the bodies of functions and classes defined there."""
    todo = list(reversed(roots))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            todo.extend(reversed(list(children(node))))

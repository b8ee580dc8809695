"""Names as they are written and as Python compares them, and the nodes below a node."""

from __future__ import annotations

import ast
import re
import typing
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

from torchlint.knowledge.names import ACCELERATORS
from torchlint.semantics.values import DEVICE, HOST


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


def device_bits(text: str) -> int:
    """Where a device string such as "cuda:0" points to; 0 for any other text."""
    kind = text.split(":", 1)[0]
    if kind == "cpu":
        return HOST
    return DEVICE if kind in ACCELERATORS else 0


# By the type of a node, what gives the nodes below it; and the types that hold none, once one was met.
_HELD: dict[type[cst.CSTNode], Callable[[Any], list[cst.CSTNode]]] = {}
LEAVES: set[type[cst.CSTNode]] = set()
_PUNCTUATION = re.compile(
    "^_|whitespace|lines|paren|comma|header|footer|newline|semicolon|bracket|brace|^[lr]par$|^(?:dot|equal|colon)$|_colon$"
)
# What a field holds beside a node, or a sequence of nodes.
_PLAIN = frozenset({str, bool, int, type(None), cst.MaybeSentinel})


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below a node, in the order of the text, without punctuation, whitespace and comments."""
    kind = type(node)
    return (_HELD.get(kind) or _reading(kind))(node)


def _reading(kind: type[cst.CSTNode]) -> Callable[[Any], list[cst.CSTNode]]:
    """What gives the nodes below one of a kind, written out field by field: a loop over these takes twice as long."""
    rows = []
    for name, spec in kind.__dataclass_fields__.items():
        if name != "__slots__" and not _PUNCTUATION.search(name) and (row := _taking(f"node.{name}", spec.type)):
            rows.append(row)
    if not rows:
        LEAVES.add(kind)
    names: dict[str, Any] = {"plain": _PLAIN}
    exec("\n    ".join(["def held(node):", "found = []", *rows, "return found"]), names)
    _HELD[kind] = names["held"]
    return names["held"]  # type: ignore[no-any-return]


def _taking(field: str, annotation: Any) -> str:
    """The statement that adds what a field holds to what was found; empty where it holds no nodes."""
    several = typing.get_args(annotation) if typing.get_origin(annotation) is typing.Union else (annotation,)
    if all(one in _PLAIN or typing.get_origin(one) is typing.Literal for one in several):
        return ""
    if typing.get_origin(annotation) is Sequence:
        return f"found += {field}"
    if all(isinstance(one, type) and issubclass(one, cst.CSTNode) for one in several):
        return f"found.append({field})"
    return (
        f"if type({field}) is tuple or type({field}) is list: found += {field}\n"
        f"    elif type({field}) not in plain: found.append({field})"
    )


def attribute_asked(node: cst.BaseExpression) -> str | None:
    """`self.x` for `hasattr(self, "x")` and `getattr(self, "x", None)`."""
    if type(node) is not cst.Call or type(node.func) is not cst.Name or len(node.args) < 2:
        return None
    owner, name = dotted(node.args[0].value), node.args[1].value
    if node.func.value not in ("hasattr", "getattr") or owner is None or type(name) is not cst.SimpleString:
        return None
    return f"{owner}.{name.raw_value}"


def below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and all nodes below it."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        if type(node) not in LEAVES:
            todo += children(node)


def within(roots: list[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """The nodes below, in the order of the text; not the bodies of functions and classes defined there."""
    todo = list(reversed(roots))
    while todo:
        node = todo.pop()
        yield node
        kind = type(node)
        if not (kind in LEAVES or kind is cst.FunctionDef or kind is cst.ClassDef or kind is cst.Lambda):
            todo += reversed(children(node))


def leaves(body: cst.BaseSuite) -> bool:
    """Whether a branch ends by leaving the loop around it, or the function: no round comes after it."""
    last = body.body[-1] if body.body else None
    if type(last) is cst.SimpleStatementLine:
        last = last.body[-1]
    return type(last) is cst.Break or type(last) is cst.Return


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

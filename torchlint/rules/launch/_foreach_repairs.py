"""One call of a list for a loop over parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._repairs import (
    Unfit,
    code,
    comments,
    repair,
    spell,
)
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.rules.launch._repairs import lines_behind
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import names_read
from torchlint.semantics.nodes import below

# In-place methods, and how many of their arguments a foreach function takes as they are.
_FOREACH: Final = frozenset("mul_ add_ sub_ div_ copy_ lerp_ zero_ addcmul_ addcdiv_ clamp_min_ clamp_max_".split())


@dataclass(frozen=True, slots=True)
class _Update:
    """One in-place operation of a round: `target.method(arguments)`."""

    method: str
    target: cst.BaseExpression
    arguments: tuple[cst.Arg, ...]


@repair
def foreach(model: Model, site: sites.Loop) -> NodeFix:
    """`torch._foreach_*` over lists, where a round is nothing but in-place operations on its parameters."""
    loop = site.node
    if not isinstance(loop, cst.For) or loop.orelse is not None or loop.asynchronous is not None:
        raise Unfit
    lists = dict(_lists(model, loop))
    updates = [update for line in loop.body.body for update in _updates(line)]
    written = dict.fromkeys(lists, False)
    lines = []
    for update in updates:
        arguments = []
        if update.method not in _FOREACH:
            raise Unfit
        for argument in update.arguments:
            if argument.star:
                raise Unfit
            text = _element(argument.value, lists, written)
            if text is None:
                if any(isinstance(node, cst.Name) and node.value in lists for node in below(argument.value)):
                    raise Unfit
                if not _is_number(model, argument.value):
                    raise Unfit
                text = code(argument.value)
            arguments.append(f"{argument.keyword.value}={text}" if argument.keyword is not None else text)
        target = _element(update.target, lists, written)
        if target is None:
            raise Unfit
        function, imports = spell(model, f"torch._foreach_{update.method}")
        if imports:
            raise Unfit
        lines.append(f"{function}({', '.join([target, *arguments])})")
    if not lines or any(name in names_read(node) for name in lists for node in lines_behind(model, loop)):
        raise Unfit
    made = [
        f"[{name}.data for {name} in {code(source)}]" if written[name] else f"list({code(source)})"
        for name, source in lists.items()
    ]
    lines.insert(0, f"{', '.join(lists)} = {', '.join(made)}")
    return NodeFix(
        Applicability.UNSAFE,
        "Take the tensors together",
        (NodeEdit(loop, "\n".join([*comments(loop), *lines]), "lines"),),
    )


def _lists(model: Model, loop: cst.For) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The loop's variables, and what each runs over: `zip(a.parameters(), b.parameters())`, or one of those."""
    call = model.call(loop.iter)
    sources: list[cst.BaseExpression] = [loop.iter]
    targets: list[cst.BaseExpression] = [loop.target]
    if call is not None and call.callee == "zip":
        if not isinstance(loop.target, cst.Tuple) or any(argument.name or argument.star for argument in call.arguments):
            raise Unfit
        sources = [argument.node for argument in call.arguments]
        targets = [element.value for element in loop.target.elements]
    if len(sources) != len(targets):
        raise Unfit
    for target, source in zip(targets, sources, strict=True):
        made = model.call(source)
        if not isinstance(target, cst.Name) or made is None or made.method not in ("parameters", "buffers"):
            raise Unfit
        yield target.value, source


def _updates(line: cst.CSTNode) -> Iterator[_Update]:
    """The in-place calls of a statement that is nothing but a chain of them."""
    if not isinstance(line, cst.SimpleStatementLine):
        raise Unfit
    for small in line.body:
        if not isinstance(small, cst.Expr):
            raise Unfit
        chain: list[_Update] = []
        node: cst.BaseExpression = small.value
        while isinstance(node, cst.Call):
            if not isinstance(node.func, cst.Attribute):
                raise Unfit
            chain.append(_Update(node.func.attr.value, node.func.value, tuple(node.args)))
            node = node.func.value
        if not chain:
            raise Unfit
        yield from (_Update(update.method, node, update.arguments) for update in reversed(chain))


def _element(node: cst.BaseExpression, lists: dict[str, cst.BaseExpression], data: dict[str, bool]) -> str | None:
    """The variable that an expression is: `p`, or `p.data`, which is noted."""
    if isinstance(node, cst.Attribute) and node.attr.value == "data" and isinstance(node.value, cst.Name):
        if node.value.value in lists:
            data[node.value.value] = True
            return node.value.value
    return node.value if isinstance(node, cst.Name) and node.value in lists else None


def _is_number(model: Model, node: cst.BaseExpression) -> bool:
    """Whether an argument is one number for all parameters: no tensor, as far as is known."""
    return not any(model.value(inner).is_tensor for inner in below(node) if isinstance(inner, cst.BaseExpression))

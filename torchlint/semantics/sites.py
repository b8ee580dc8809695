"""The places of a program that rules listen to.

The interpreter records each once, in the order of evaluation, with the values as they are at that point.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import libcst as cst

from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.functions import ClassInfo, FunctionInfo
from torchlint.semantics.values import Value


class _Placed(Protocol):
    @property
    def node(self) -> cst.CSTNode: ...


_S = TypeVar("_S", bound=_Placed)


def around(found: list[_S], site: _S) -> tuple[list[_S], list[_S]]:
    """The sites before one, and those after it. It goes by its node: who supposes something has a copy of the site."""
    place = next((i for i, one in enumerate(found) if one.node is site.node), len(found))
    return found[:place], found[place + 1 :]


@dataclass(slots=True, eq=False)
class Argument:
    """One argument of a call."""

    name: str | None  # the keyword
    star: str  # "", "*", "**"
    node: cst.BaseExpression
    value: Value


@dataclass(slots=True, eq=False)
class Call:
    """A call. `callee` is its qualified name where that is known, `method` the attribute that is called."""

    node: cst.Call
    callee: str | None  # "torch.cat", "float", "torch.nn.functional.softmax", "torch.Tensor.item"
    method: str | None  # "item" in `x.item()`, whatever x is
    receiver: Value | None  # the value before the dot, where the call is of an attribute
    receiver_node: cst.BaseExpression | None
    function: Value  # what is called
    arguments: list[Argument]
    result: Value
    context: Context
    statement: cst.CSTNode | None
    target: FunctionInfo | None = None  # the function of this file that runs

    def argument(self, position: int | None, name: str | None = None) -> Argument | None:
        """The argument at a position (not counting the receiver), or of a keyword. None where it is absent."""
        if name is not None:
            for argument in self.arguments:
                if argument.name == name:
                    return argument
        if position is not None:
            index = 0
            for argument in self.arguments:
                if argument.star or argument.name is not None:
                    if argument.star == "*":
                        return None
                    continue
                if index == position:
                    return argument
                index += 1
        return None

    def argument_for(self, target: FunctionInfo, name: str) -> Argument | None:
        """The argument for a parameter of the function that runs. None where none is passed, as far as that is seen."""
        by_name = self.argument(None, name)
        parameters = [parameter.name for parameter in target.parameters if not parameter.star]
        if by_name is not None or name not in parameters:
            return by_name
        index = parameters.index(name) - (target.method in ("instance", "class"))
        return self.argument(index) if index >= 0 else None

    @property
    def opaque_arguments(self) -> bool:
        """Whether arguments arrive through `*args` or `**kwargs`: what is absent may be in there."""
        return any(argument.star for argument in self.arguments)


@dataclass(slots=True, eq=False)
class Truth:
    """A place where the truth of a value is taken."""

    node: cst.BaseExpression
    value: Value
    how: str  # "if", "while", "assert", "not", "and", "or", "ternary", "in", "comprehension", "bool"
    context: Context
    statement: cst.CSTNode | None


@dataclass(slots=True, eq=False)
class Format:
    """A place where a value becomes text. `node` is the expression to report: the call, or the part of an f-string."""

    node: cst.BaseExpression
    part: cst.BaseExpression
    value: Value
    how: str  # "print", "logging", "f-string", "%", "format", "str", "repr"
    context: Context
    statement: cst.CSTNode | None


@dataclass(slots=True, eq=False)
class Subscript:
    """An indexing. `indices` has a value per position; a slice's bounds are in `bounds`."""

    node: cst.Subscript
    base: Value
    indices: list[tuple[cst.BaseExpression | None, Value | None]]
    bounds: list[tuple[cst.BaseExpression, Value]]
    mode: str  # "read", "write", "update", "delete"
    written: Value | None  # with "write" and "update"
    result: Value
    context: Context
    statement: cst.CSTNode | None


@dataclass(slots=True, eq=False)
class Accumulate:
    """`a += b`, `a = a + b`, `a = b + a`, and `a -= b`: something grows by a value."""

    node: cst.CSTNode  # the statement
    target: str  # "total", "self.total", "stats['loss']" as written
    target_node: cst.BaseExpression
    before: Value
    addend: cst.BaseExpression
    added: Value
    operator: str
    context: Context
    in_place: bool  # written with `+=`


@dataclass(slots=True, eq=False)
class Store:
    """A value goes into a container or an attribute."""

    node: cst.CSTNode  # the call or the statement
    how: str  # "append", "extend", "insert", "setitem", "attribute", "add", "update", "yield", ...
    owner: Value | None  # the container, or the object whose attribute it is
    owner_name: str | None  # "losses", "self.history", as written
    stored: cst.BaseExpression
    value: Value
    context: Context
    statement: cst.CSTNode | None
    key: str | None = None  # the attribute's name
    entry: cst.Subscript | None = None  # with "setitem", what is written to: `rows[i]` of `rows[i] = x`


@dataclass(slots=True, eq=False)
class Loop:
    """A loop or a comprehension; `context` is that of its body."""

    node: cst.CSTNode  # For, While, ListComp, SetComp, DictComp, GeneratorExp
    target: cst.BaseExpression | None
    iterable: Value | None
    iterable_node: cst.BaseExpression | None
    context: Context
    outer: Context


@dataclass(slots=True, eq=False)
class Binary:
    """An operator with two operands; comparisons ("==", "<", ...) and augmented assignments too."""

    node: cst.BaseExpression | cst.AugAssign
    operator: str  # "+", "-", "*", "/", "@", "%", "**", "<", ...
    left_node: cst.BaseExpression
    right_node: cst.BaseExpression
    left: Value
    right: Value
    result: Value
    context: Context
    statement: cst.CSTNode | None


@dataclass(slots=True, eq=False)
class With:
    """A context manager that is entered; `context` is that of its body."""

    node: cst.With
    item: cst.BaseExpression
    manager: Value
    context: Context


@dataclass(slots=True, eq=False)
class Function:
    """A function whose body was read."""

    node: cst.FunctionDef | cst.Lambda
    info: FunctionInfo


@dataclass(slots=True, eq=False)
class Class:
    """A class whose body was read."""

    node: cst.ClassDef
    info: ClassInfo


@dataclass(slots=True, eq=False)
class Assign:
    """A name, attribute or subscript gets a value; not listened to, but kept for rules that follow definitions."""

    node: cst.CSTNode
    target: cst.BaseExpression
    name: str | None  # as written, where it is a name or a dotted name
    qualified: str | None  # of an attribute of an imported module: "torch.backends.cudnn.benchmark"
    value_node: cst.BaseExpression | None
    value: Value
    context: Context


@dataclass(slots=True)
class Sites:
    """All sites of a file, in the order of evaluation."""

    calls: list[Call] = field(default_factory=list)
    truths: list[Truth] = field(default_factory=list)
    formats: list[Format] = field(default_factory=list)
    subscripts: list[Subscript] = field(default_factory=list)
    accumulations: list[Accumulate] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    binaries: list[Binary] = field(default_factory=list)
    withs: list[With] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    assigns: list[Assign] = field(default_factory=list)
    # Of the first so many assignments: those of a name, also by the loops around, and those of a node's value.
    _indexed: int = field(default=0, init=False)
    _named: dict[str, list[Assign]] = field(default_factory=dict, init=False)
    _looped: dict[tuple[str, Context], list[Assign]] = field(default_factory=dict, init=False)
    _given: dict[cst.CSTNode, list[Assign]] = field(default_factory=dict, init=False)

    def assigned(self, name: str | None, loop: Context | None = None) -> list[Assign]:
        """The assignments to a name, if given those inside of a loop, in the order of evaluation."""
        self._index()
        if name is None:
            return []
        return self._named.get(name, []) if loop is None else self._looped.get((name, loop), [])

    def given_by(self, node: cst.CSTNode) -> list[Assign]:
        """The assignments whose value the expression is, in the order of evaluation."""
        self._index()
        return self._given.get(node, [])

    def _index(self) -> None:
        for assign in self.assigns[self._indexed :]:
            if assign.name is not None:
                self._named.setdefault(assign.name, []).append(assign)
                for link in assign.context.chain():
                    if link.scope is Scope.LOOP:
                        self._looped.setdefault((assign.name, link), []).append(assign)
            if assign.value_node is not None:
                self._given.setdefault(assign.value_node, []).append(assign)
        self._indexed = len(self.assigns)

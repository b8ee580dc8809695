"""A small matcher for chains of tensor operations, whatever they are spelled like and wherever they stand.

An `Operation` is a call, operator, module call, index or attribute under the name that torch has for it. `reach`
follows a value back to the operations that made it, through names, statements, helper functions and branches;
`consumers` follows it on to the operations that read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import libcst as cst

from torchlint.knowledge.devices import ASKED, MOVES
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import children
from torchlint.semantics.values import Kind, Value

_OPERATORS: Final[dict[type[cst.CSTNode], str]] = {
    cst.Add: "add",
    cst.AddAssign: "add",
    cst.Subtract: "sub",
    cst.SubtractAssign: "sub",
    cst.Multiply: "mul",
    cst.MultiplyAssign: "mul",
    cst.Divide: "div",
    cst.DivideAssign: "div",
    cst.MatrixMultiply: "matmul",
    cst.MatrixMultiplyAssign: "matmul",
    cst.Power: "pow",
    cst.PowerAssign: "pow",
}
_ORDERS: Final[dict[type[cst.CSTNode], str]] = {
    cst.LessThan: "lt",
    cst.LessThanEqual: "le",
    cst.GreaterThan: "gt",
    cst.GreaterThanEqual: "ge",
    cst.Equal: "eq",
    cst.NotEqual: "ne",
}
_SIGNS: Final[dict[type[cst.CSTNode], str]] = {cst.Minus: "neg", cst.BitInvert: "bitwise_not"}
_ALIASES: Final[dict[str, str]] = {
    "mm": "matmul",
    "bmm": "matmul",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "subtract": "sub",
    "negative": "neg",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "t": "transpose",
    "adjoint": "transpose",
    "clip": "clamp",
    "clamp_min": "clamp",
    "clamp_max": "clamp",
    "expit": "sigmoid",
    "feature_dropout": "dropout",
    "alpha_dropout": "dropout",
    "select": "index",
    "narrow": "index",
}
_MODULES: Final[dict[str, str]] = {
    "Softmax": "softmax",
    "Softmax2d": "softmax",
    "LogSoftmax": "log_softmax",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Dropout": "dropout",
    "Dropout1d": "dropout",
    "Dropout2d": "dropout",
    "Identity": "identity",
    "Flatten": "flatten",
    "Unflatten": "unflatten",
}
_ATTRIBUTES: Final[dict[str, str]] = {
    "T": "transpose",
    "mT": "transpose",
    "H": "transpose",
    "mH": "transpose",
    "data": "detach",
}
_NAMESPACES: Final = frozenset(
    "torch torch.nn.functional torch.Tensor torch.special torch.linalg torch.nn.Transformer einops".split()
)

# Operations whose result holds the same numbers, in another dtype, place, or graph.
CASTS: Final = frozenset(
    """to float half bfloat16 double type type_as contiguous clone detach identity cpu requires_grad
    nan_to_num""".split()
) | frozenset(MOVES)
# Operations whose result holds the same numbers in another arrangement.
SHAPES: Final = frozenset(
    """view view_as reshape reshape_as flatten unflatten permute transpose squeeze unsqueeze expand expand_as movedim
    rearrange repeat""".split()
)


_CASTS_FOLLOWED: Final = 8  # casts from an expression back to what holds its numbers


@dataclass(frozen=True, slots=True)
class Operation:
    """A tensor operation: its name as torch has it, without a trailing underscore, and its operands in order.

    A method's receiver is the first operand. `node` is the expression, or the statement of an augmented assignment.
    """

    name: str
    node: cst.CSTNode
    operands: tuple[cst.BaseExpression, ...]
    call: sites.Call | None = None
    in_place: bool = False

    def argument(self, position: int | None, *names: str) -> cst.BaseExpression | None:
        """The operand at a position, where one is given, or of one of the keywords."""
        if self.call is not None:
            for argument in self.call.arguments:
                if argument.name is not None and argument.name in names:
                    return argument.node
        return self.operands[position] if position is not None and position < len(self.operands) else None


@dataclass(frozen=True, slots=True)
class Reached:
    """Operations that made a value. `certain`: they did on every way to it."""

    operations: tuple[Operation, ...]
    certain: bool


def operation(model: Model, node: cst.CSTNode) -> Operation | None:
    """The tensor operation that a node is, or None."""
    made = _MADE.get(type(node))
    return made(model, node) if made is not None else None


def _arithmetic(model: Model, node: cst.BinaryOperation) -> Operation | None:
    name = _OPERATORS.get(type(node.operator))
    return Operation(name, node, (node.left, node.right)) if name is not None else None


def _update(model: Model, node: cst.AugAssign) -> Operation | None:
    name = _OPERATORS.get(type(node.operator))
    return Operation(name, node, (node.target, node.value)) if name is not None else None


def _sign(model: Model, node: cst.UnaryOperation) -> Operation | None:
    name = _SIGNS.get(type(node.operator))
    return Operation(name, node, (node.expression,)) if name is not None else None


def _order(model: Model, node: cst.Comparison) -> Operation | None:
    name = _ORDERS.get(type(node.comparisons[0].operator)) if len(node.comparisons) == 1 else None
    return Operation(name, node, (node.left, node.comparisons[0].comparator)) if name is not None else None


def _indexing(model: Model, node: cst.Subscript) -> Operation | None:
    return Operation("index", node, (node.value,))


def _member(model: Model, node: cst.Attribute) -> Operation | None:
    name = _ATTRIBUTES.get(node.attr.value)
    return Operation(name, node, (node.value,)) if name is not None else None


def _call(model: Model, node: cst.Call) -> Operation | None:
    site = model.call(node)
    return called(site) if site is not None else None


_MADE: Final[dict[type[cst.CSTNode], Callable[[Model, Any], Operation | None]]] = {
    cst.BinaryOperation: _arithmetic,
    cst.AugAssign: _update,
    cst.UnaryOperation: _sign,
    cst.Comparison: _order,
    cst.Subscript: _indexing,
    cst.Attribute: _member,
    cst.Call: _call,
}


def called(site: sites.Call) -> Operation | None:
    """The tensor operation that a call is, or None."""
    operands = tuple(argument.node for argument in site.arguments if argument.name is None and not argument.star)
    if site.target is not None:
        return None
    if site.function.kind is Kind.MODULE:
        name = module_operation(site.function)
        if len(site.function.items or ()) > 1:
            operands = ()  # what its last layer takes was never given a name
        return Operation(name, site.node, operands, site) if name is not None else None
    written: str | None = None
    namespace, _, last = (site.callee or "").rpartition(".")
    if namespace in _NAMESPACES:
        written = last
        if (
            namespace == "torch.Tensor"
            and site.receiver_node is not None
            and site.receiver is not None
            and site.receiver.is_tensor
        ):
            operands = (site.receiver_node, *operands)
    elif site.method is not None and site.receiver is not None and site.receiver.kind in (Kind.UNKNOWN, Kind.TENSOR):
        assert site.receiver_node is not None
        written = site.method
        operands = (site.receiver_node, *operands)
    if written is None:
        return None
    in_place = written.endswith("_") and not written.endswith("__")
    if in_place:
        written = written[:-1]
    name = _ALIASES.get(written, written)
    if name == "einsum":
        operands = tuple(node for node in operands if not isinstance(node, (cst.SimpleString, cst.ConcatenatedString)))
    elif name in ("baddbmm", "addmm"):
        operands = operands[1:]
    return Operation(name, site.node, operands, site, in_place)


def module_operation(module: Value) -> str | None:
    """The operation that ends what a module of `torch.nn` does: "softmax" for a Sequential that ends in a Softmax.

    A module that is no operation of its own goes by its class's name: "Conv2d".
    """
    namespace, _, last = (module.qual or "").rpartition(".")
    if namespace != "torch.nn" or module.cls is not None:
        return None
    if last == "Sequential" and module.items:
        end = module.items.get(len(module.items) - 1)
        return module_operation(end) if end is not None else None
    return _MODULES.get(last, last)


def made_by(model: Model, expression: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The nodes that made the value of an expression, through names and helper functions."""
    value = model.augmented[expression] if type(expression) is cst.AugAssign else model.value(expression)
    return value.origins or (expression,)


def reach(
    model: Model,
    expression: cst.CSTNode,
    wanted: Callable[[Operation], bool],
    passes: Callable[[Operation], tuple[cst.BaseExpression, ...]],
) -> Reached | None:
    """Follow a value back to the operations that are `wanted`, through those that `passes` gives operands of.

    An operation with several operands to pass leads where any of them does; a value that several nodes may have made
    leads there for certain where all of them do.
    """
    search = _Search(model, wanted, passes)
    certain = search.ways(expression)
    return Reached(tuple(search.found), certain) if certain is not None else None


class _Search:
    """The state of `reach`. What it asks answers with True: on every way; False: on some; None: on none."""

    def __init__(
        self,
        model: Model,
        wanted: Callable[[Operation], bool],
        passes: Callable[[Operation], tuple[cst.BaseExpression, ...]],
    ) -> None:
        self.model = model
        self.wanted = wanted
        self.passes = passes
        self.found: list[Operation] = []
        self.seen: dict[cst.CSTNode, bool | None] = {}

    def ways(self, operand: cst.CSTNode) -> bool | None:
        answers = [self.follow(origin) for origin in made_by(self.model, operand)]
        if all(answers):
            return True
        return None if all(answer is None for answer in answers) else False

    def follow(self, node: cst.CSTNode) -> bool | None:
        if node in self.seen:
            return self.seen[node]
        self.seen[node] = None  # a loop leads where its other ways do
        made = operation(self.model, node)
        if made is None:
            return None
        answer: bool | None
        if self.wanted(made):
            self.found.append(made)
            answer = True
        else:
            answer = None
            for operand in self.passes(made):
                one = self.ways(operand)
                answer = one if answer is None else answer or bool(one)
        self.seen[node] = answer
        return answer


def first_operand(*groups: frozenset[str]) -> Callable[[Operation], tuple[cst.BaseExpression, ...]]:
    """A `passes` for `reach`: the first operand of the operations named."""

    def passes(made: Operation) -> tuple[cst.BaseExpression, ...]:
        return made.operands[:1] if any(made.name in group for group in groups) else ()

    return passes


def root(model: Model, expression: cst.BaseExpression) -> cst.BaseExpression:
    """The expression whose numbers an expression holds in another dtype or place."""
    for _ in range(_CASTS_FOLLOWED):
        origin = model.value(expression).origin
        made = operation(model, origin) if origin is not None else None
        if made is None or made.name not in CASTS or not made.operands:
            break
        expression = made.operands[0]
    return expression


def same(model: Model, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """Whether two expressions hold the same numbers, as far as the text tells."""
    one, other = root(model, one), root(model, other)
    mine, its = model.value(one), model.value(other)
    if (
        mine.is_tensor
        and its.is_tensor
        and mine.ident == its.ident
        and mine.origins == its.origins
        and (mine.origins or mine.ident is not None)
        # Of what one call gives as several, the name tells which it is.
        and not any(model.value(origin).kind in (Kind.CONTAINER, Kind.BATCH) for origin in mine.origins)
        and not _made_elsewhere(model, one, mine.origins)
    ):
        return True
    return alike(model, one, other)


def _made_elsewhere(model: Model, expression: cst.BaseExpression, origins: Sequence[cst.CSTNode]) -> bool:
    """Whether a function that was called made a value: each of its calls makes another one there."""
    here = model.function_around(expression) if origins else None
    return any(model.function_around(origin) is not here for origin in origins)


def is_number(model: Model, expression: cst.BaseExpression, *wanted: float) -> bool:
    """Whether an expression is a Python number; one of those wanted, where they are given."""
    value = model.value(expression)
    if not wanted:
        return value.kind is Kind.NUMBER or (
            value.kind is Kind.UNKNOWN and isinstance(expression, (cst.Name, cst.Attribute))
        )
    return isinstance(value.const, (int, float)) and any(
        abs(value.const - number) <= 1e-3 * abs(number) for number in wanted
    )


def new_dimension(model: Model, side: cst.BaseExpression) -> int | None:
    """Where an expression got a dimension of size one."""
    origin = model.value(side).origin
    made = operation(model, origin) if origin is not None else None
    if made is None:
        return None
    if made.name in ("expand", "expand_as") and made.operands:
        return new_dimension(model, made.operands[0])
    if made.name == "unsqueeze":
        dim = made.argument(1, "dim")
        const = model.value(dim).const if dim is not None else None
        return const if isinstance(const, int) else None
    if made.name in ("view", "reshape"):
        ones = [position for position, size in enumerate(made.operands[1:]) if model.value(size).const == 1]
        return ones[0] if len(ones) == 1 else None
    if type(made.node) is cst.Subscript:
        for position, part in enumerate(made.node.slice):
            if (
                type(part.slice) is cst.Index
                and type(part.slice.value) is cst.Name
                and part.slice.value.value == "None"
            ):
                return position
    return None


def alike(model: Model, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """Whether two expressions are written alike and read the same values."""
    if one is other:
        return True
    if not one.deep_equals(other):
        return False
    pairs: list[tuple[cst.CSTNode, cst.CSTNode]] = [(one, other)]
    while pairs:
        mine, its = pairs.pop()
        if type(mine) is cst.Name:
            here, there = model.value(mine), model.value(its)
            if here is not there and (here.origins != there.origins or here.ident != there.ident):
                return False
        pairs += zip(children(mine), children(its), strict=True)
    return True


# Attributes and methods that tell of a tensor without reading its numbers.
_NEUTRAL: Final = frozenset("shape device dtype ndim size dim numel element_size stride is_contiguous".split()) | ASKED


def consumers(model: Model, node: cst.CSTNode, *, kept: bool = False) -> Iterator[Operation | None]:
    """The operations that read the value a node makes; None for another use: stored, returned to outside.

    `kept`: that it is kept in an attribute or a buffer of `self` is no other use; what reads it from there counts.
    """
    todo: list[cst.CSTNode] = [node, *model.uses.get(node, ())]
    seen: set[cst.CSTNode] = set()
    while todo:
        reading = todo.pop()
        if reading in seen:
            continue
        seen.add(reading)
        around = model.parent(reading)
        if isinstance(around, (cst.Arg, cst.ComparisonTarget)):
            around = model.parent(around)
        elif type(around) is cst.Element and (taken_apart := _taken_apart(model, around)) is not None:
            around = taken_apart
        if isinstance(around, (cst.Assign, cst.AnnAssign)):
            if type(around) is cst.Assign and any(
                not isinstance(t.target, (cst.Name, cst.Tuple)) and not (kept and _is_own(t.target))
                for t in around.targets
            ):
                yield None  # kept in an attribute or a container
        elif type(around) is cst.NamedExpr or (type(around) is cst.IfExp and reading is not around.test):
            todo.append(around)
        elif type(around) is cst.Attribute and around.value is reading:
            if around.attr.value in _NEUTRAL:
                continue
            call = model.parent(around)
            yield operation(model, call if type(call) is cst.Call and call.func is around else around)
        elif type(around) is cst.Return:
            callers = _callers(model, around)
            if not callers:
                yield None
            todo.extend(callers)
            for caller in callers:
                todo.extend(model.uses.get(caller, ()))
        elif type(around) is cst.Call:
            site = model.call(around)
            made = operation(model, around)
            if kept and type(around.func) is cst.Attribute and around.func.attr.value == "register_buffer":
                continue
            if site is not None and site.target is not None:
                # A helper of this file reads it by the name of a parameter; an unused one does not read it.
                continue
            yield made
        elif isinstance(
            around, (cst.BinaryOperation, cst.UnaryOperation, cst.Subscript, cst.AugAssign, cst.Comparison)
        ):
            yield operation(model, around)
        elif isinstance(around, (cst.Del, cst.Expr)) or around is None:
            continue
        else:
            yield None


def _taken_apart(model: Model, element: cst.Element) -> cst.Assign | None:
    """The statement that gives each element of a tuple a name of its own: `k, v = repeat(k), repeat(v)`."""
    whole = model.parent(element)
    given = model.parent(whole) if type(whole) is cst.Tuple else None
    if type(given) is not cst.Assign or any(type(t.target) is not cst.Tuple for t in given.targets):
        return None
    return given


def _is_own(target: cst.BaseExpression) -> bool:
    return type(target) is cst.Attribute and type(target.value) is cst.Name and target.value.value == "self"


def _callers(model: Model, statement: cst.Return) -> list[cst.CSTNode]:
    function = model.function_around(statement)
    return [caller.node for caller in function.callers] if function is not None else []

"""Whether the rounds of a loop are independent of each other and alike."""

from __future__ import annotations

import libcst as cst

from torchlint.rules._bodies import slice_of_one
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import children, within
from torchlint.semantics.targets import bound_names, clauses, targets
from torchlint.source import written

_LEAVES = (
    cst.Break,
    cst.Return,
    cst.Yield,
    cst.Await,
    cst.While,
    cst.Try,
    cst.TryStar,
    cst.Match,
    cst.FunctionDef,
    cst.ClassDef,
)
# Sums and products over the rounds do not depend on their order.
_REDUCES = ((cst.Add, cst.Subtract), (cst.Multiply,), (cst.BitAnd,), (cst.BitOr,))  # those in one tuple mix freely
_REDUCES_IN_PLACE = (cst.AddAssign, cst.SubtractAssign, cst.MultiplyAssign, cst.BitAndAssign, cst.BitOrAssign)
_EXTREMES = frozenset("max min maximum minimum logaddexp logical_or logical_and".split())
_MAKERS = frozenset(
    "clone zeros ones full empty rand randn eye zeros_like ones_like full_like empty_like rand_like randn_like".split()
)


class Rounds:
    """The names of a loop's body: which differ from round to round, and which carry something from one to the next.

    `independent`: no round needs what another made, but for a sum, product or extreme over all of them, things that
    are appended, and entries that are stored under the loop's position; none leaves the loop early; and no slice is as
    long as the position says.
    """

    def __init__(self, model: Model, body: list[cst.CSTNode], targets: set[str]) -> None:
        self._model = model
        self._targets = targets
        self._written: set[str] = set()
        self._carried: set[str] = set()
        self._defined: dict[str, list[cst.BaseExpression]] = {}
        self._counted: set[str] = set()  # by a loop inside, or up from round to round
        self._nodes = list(within(body))
        for node in self._nodes:
            self._note_writes(node)
        self.varying = self._varying()
        definite = set(targets)
        for part in body:
            self._read(part, definite)
        self.independent = (
            not any(isinstance(node, _LEAVES) for node in self._nodes)
            and all(self._reduces(name) for name in self._carried)
            and self._stores_apart()
            and not any(self._is_ragged(node) for node in self._nodes)
            and not self._takes_last()
        )

    def _takes_last(self) -> bool:
        """Whether a round takes what the last one appended: `rows.append(x | rows[-1])`."""
        grown = {
            dotted(node.func.value)
            for node in self._nodes
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "append"
        }
        return any(
            isinstance(node, cst.Subscript)
            and dotted(node.value) in grown - {None}
            and isinstance(node.slice[0].slice, cst.Index)
            and isinstance(node.slice[0].slice.value, cst.UnaryOperation)
            for node in self._nodes
        )

    def _note_writes(self, node: cst.CSTNode) -> None:
        value: cst.BaseExpression | None = None
        if isinstance(node, cst.WithItem) and node.asname is not None:
            value = node.item
            node = node.asname
        elif isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.NamedExpr)):
            value = node.value
        elif isinstance(node, cst.For):
            value = node.iter
        elif isinstance(node, cst.CompFor):
            return  # nobody else sees its names
        for target in targets(node):
            for name in bound_names(target):
                self._written.add(name)
                if value is not None:
                    self._defined.setdefault(name, []).append(value)
                if isinstance(node, (cst.AugAssign, cst.For)):
                    self._counted.add(name)

    def _varying(self) -> set[str]:
        varying = set(self._targets)
        changed = True
        while changed:
            changed = False
            for name, values in self._defined.items():
                if name not in varying and any(names_read(value) & varying for value in values):
                    varying.add(name)
                    changed = True
        return varying

    def _read(self, node: cst.CSTNode, definite: set[str]) -> None:
        """Walk in the order of evaluation; `definite` are the names that this round has given a value."""
        if isinstance(node, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
            if node.value is not None:
                self._read(node.value, definite)
            self._store(node, definite)
        elif isinstance(node, cst.AugAssign):
            self._read(node.value, definite)
            self._read(node.target, definite)
            self._store(node, definite)
        elif isinstance(node, cst.WithItem):
            self._read(node.item, definite)
            if node.asname is not None:
                self._store(node.asname, definite)
        elif isinstance(node, cst.For):
            self._read(node.iter, definite)
            inside = definite | bound_names(node.target)
            self._read(node.body, inside)
        elif isinstance(node, cst.If):
            self._read(node.test, definite)
            then, other = set(definite), set(definite)
            self._read(node.body, then)
            if node.orelse is not None:
                self._read(node.orelse, other)
            definite |= then & other
        elif isinstance(node, cst.BaseComp):
            inside = set(definite)
            for clause in clauses(node):
                self._read(clause.iter, inside)
                inside |= bound_names(clause.target)
                for test in clause.ifs:
                    self._read(test.test, inside)
            for part in children(node):
                if part is not node.for_in:
                    self._read(part, inside)
        elif isinstance(node, (cst.Name, cst.Attribute)) and (name := dotted(node)) is not None:
            words = name.split(".")
            for end in range(1, len(words) + 1):
                prefix = ".".join(words[:end])
                if prefix in self._written and prefix not in definite:
                    self._carried.add(prefix)
        elif isinstance(node, cst.Arg):
            self._read(node.value, definite)
        else:
            for inner in children(node):
                self._read(inner, definite)

    def _store(self, node: cst.CSTNode, definite: set[str]) -> None:
        for target in targets(node):
            if isinstance(target, cst.Subscript):
                for part in target.slice:
                    self._read(part, definite)
            definite |= bound_names(target)

    def _reduces(self, name: str) -> bool:
        """Whether each statement that names it adds to it, and nothing else reads it."""
        mentions = sum(
            1 for node in self._nodes if isinstance(node, (cst.Name, cst.Attribute)) and dotted(node) == name
        )
        counted = 0
        for node in self._nodes:
            if isinstance(node, cst.AugAssign) and dotted(node.target) == name:
                if not isinstance(node.operator, _REDUCES_IN_PLACE):
                    return False
                counted += 1
            elif isinstance(node, cst.Assign) and any(dotted(target.target) == name for target in node.targets):
                if not self._adds_to(node.value, name):
                    return False
                counted += 2
        return counted == mentions

    def _adds_to(self, value: cst.BaseExpression, name: str) -> bool:
        kinds = [
            kind for kind in _REDUCES if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, kind)
        ]
        if kinds:
            return name in _operands(value, kinds[0])
        if isinstance(value, cst.Call):
            site = self._model.call(value)
            operands = [argument.value for argument in value.args]
            if isinstance(value.func, cst.Attribute):
                operands.append(value.func.value)
            last = (site.callee or site.method or "").rpartition(".")[2] if site is not None else ""
            return last in _EXTREMES and any(dotted(operand) == name for operand in operands)
        return False

    def _stores_apart(self) -> bool:
        """Whether what is stored under a position is read under that position alone."""
        stored: dict[str, set[str]] = {}
        holders: set[cst.CSTNode] = set()
        written: set[cst.CSTNode] = set()
        for node in self._nodes:
            places: list[cst.BaseExpression] = []
            if isinstance(node, (cst.Assign, cst.AugAssign)):
                places = list(targets(node))
            elif (
                isinstance(node, cst.Call)
                and isinstance(node.func, cst.Attribute)
                and node.func.attr.value.endswith("_")
            ):
                places = [node.func.value]
            for place in places:
                if isinstance(place, cst.Subscript) and (name := dotted(place.value)) is not None:
                    if self._is_own(name):
                        continue
                    if isinstance(node, cst.Assign):
                        written.add(place)  # and not read
                    stored.setdefault(name, set()).add(_position(place))
                    holders.add(place.value)
        if not stored:
            return True
        for node in self._nodes:
            if isinstance(node, cst.Subscript) and (name := dotted(node.value)) in stored:
                if node not in written and stored[name] != {_position(node)}:
                    return False
                holders.add(node.value)
        return not any(
            node not in holders
            and isinstance(node, (cst.Name, cst.Attribute))
            and dotted(node) in stored
            and not self._asks_shape(node)
            for node in self._nodes
        )

    def _is_own(self, name: str) -> bool:
        """Whether each round makes the thing anew that it stores in, not as another name of what was there before."""
        made = self._defined.get(name, ())
        return name not in self._carried and bool(made) and all(self._makes(value) for value in made)

    def _makes(self, value: cst.BaseExpression) -> bool:
        """Whether an expression gives something new: the result of an operator, or of what fills or copies a tensor."""
        if isinstance(value, cst.Call):
            site = self._model.call(value)
            name = (site.callee or site.method or "").rpartition(".")[2] if site is not None else ""
            return name in _MAKERS or name.startswith("new_")
        return isinstance(value, (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison))

    def _asks_shape(self, node: cst.CSTNode) -> bool:
        around = self._model.parent(node)
        if isinstance(around, cst.Arg):
            call = self._model.call(self._model.parent(around) or around)
            return call is not None and call.callee == "len"
        return isinstance(around, cst.Attribute) and around.value is node and around.attr.value in (
            "shape", "size", "device", "dtype", "new_zeros", "new_full", "new_tensor", "append",
        )  # fmt: skip

    def _is_ragged(self, node: cst.CSTNode) -> bool:
        """A slice whose bound is the position, follows from it, or is counted: rounds of unequal work, or blocks."""
        if not isinstance(node, cst.Slice) or slice_of_one(node) is not None or self._packs(node):
            return False
        for bound in (node.lower, node.upper):
            if bound is None:
                continue
            names = names_read(bound)
            if names & (self._targets | self._counted):
                return True
            if any(names_read(value) & self._targets for name in names for value in self._defined.get(name, ())):
                return True
        return False

    def _packs(self, bound: cst.Slice) -> bool:
        """Whether a round stores its rows in the slice, beside its position: `packed[i, :n] = rows[owner == i]`."""
        element = self._model.parent(bound)
        place = self._model.parent(element) if element is not None else None
        if not isinstance(place, cst.Subscript) or not isinstance(self._model.parent(place), cst.AssignTarget):
            return False
        return any(
            isinstance(part.slice, cst.Index) and names_read(part.slice.value) & self._targets for part in place.slice
        )


def _operands(value: cst.BaseExpression, kind: tuple[type[cst.BaseBinaryOp], ...]) -> set[str]:
    """The names that an expression is a sum of, or a product: in `last * x + c` not `last`, which is but a factor."""
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, kind):
        return _operands(value.left, kind) | _operands(value.right, kind)
    name = dotted(value)
    return {name} if name is not None else set()


def _position(node: cst.Subscript) -> str:
    return ",".join(written.code(part.slice) for part in node.slice)

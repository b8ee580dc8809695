"""The repaired forms of flagged code: the finding's fix, and forms made for measuring alone.

Some repairs need a decision, such as where a loss is read instead; yet what the code costs can be measured against a
form that does not pay it: the value left on the device, what was read replayed from a recording, a loop over rows as
one batched call. `helpers.py` holds the functions that these forms call. What a form is stands in the evidence.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.findings import Edit, Finding, Position

__all__ = ["Repair", "ways"]


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits, and what they are, for people; `probe` says that they only measure, and are no repair of the finding's."""

    edits: tuple[Edit, ...]
    what: str
    probe: bool = True


@dataclass(frozen=True, slots=True)
class _Flagged:
    """A finding in its file: the tree, its lines, and the nodes that the finding marks, the outermost first."""

    finding: Finding
    tree: ast.Module
    lines: Sequence[str]

    def marked(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        for node in ast.walk(self.tree):
            if isinstance(node, kinds) and self.span(node) == (self.finding.start, self.finding.end):
                yield node

    def span(self, node: ast.AST) -> tuple[Position, Position]:
        """Where a node stands, in code points."""
        first: int = getattr(node, "lineno", 1)
        last: int = getattr(node, "end_lineno", None) or first
        return self.at(first, getattr(node, "col_offset", 0)), self.at(last, getattr(node, "end_col_offset", None) or 0)

    def at(self, row: int, column: int) -> Position:
        return Position(row, len(self.lines[row - 1].encode("utf-8")[:column].decode("utf-8", "replace")) + 1)

    def around(self, node: ast.AST, before: str, after: str) -> tuple[Edit, ...]:
        """Edits that put text before and after an expression, which keeps its own rows."""
        start, end = self.span(node)
        return Edit(start, start, before), Edit(end, end, after)

    def instead(self, node: ast.AST, text: str) -> tuple[Edit, ...]:
        return (Edit(*self.span(node), text),)

    def is_module(self, node: ast.AST) -> bool:
        """Whether an expression is a module's name, or of one: `torch`, `torch.linalg`."""
        while isinstance(node, ast.Attribute):
            node = node.value
        imported = (n for n in ast.walk(self.tree) if isinstance(n, (ast.Import, ast.ImportFrom)))
        names = {alias.asname or alias.name.split(".")[0] for statement in imported for alias in statement.names}
        return isinstance(node, ast.Name) and node.id in names

    def is_only_kept(self, node: ast.AST) -> bool:
        """Whether the value is only added up, stored or handed on, so that left on the device nothing waits for it."""
        holder = self.holder(node) or self.tree
        parents = {child: parent for parent in ast.walk(holder) for child in ast.iter_child_nodes(parent)}
        return _is_only_kept(node, parents, set())

    def around_it(self, *kinds: type[ast.AST]) -> ast.AST | None:
        """The innermost node of these kinds around what the finding marks, or that is it."""
        inner: ast.AST | None = None
        for node in ast.walk(self.tree):
            if isinstance(node, kinds):
                start, end = self.span(node)
                inner = node if start <= self.finding.start and self.finding.end <= end else inner
        return inner

    def holder(self, node: ast.AST) -> ast.AST | None:
        """The innermost function around a node."""
        inner: ast.AST | None = None
        for child in ast.walk(self.tree):
            if isinstance(child, ast.FunctionDef) and any(below is node for below in ast.walk(child)):
                inner = child
        return inner


_STORING = frozenset("append extend update setdefault insert".split())


def _is_only_kept(node: ast.AST, parents: Mapping[ast.AST, ast.AST], seen: set[str]) -> bool:
    round_: ast.AST | None = node  # the innermost loop around it: what is read outside is read once
    while round_ is not None and not isinstance(round_, (ast.For, ast.While)):
        round_ = parents.get(round_)
    while True:
        parent = parents.get(node)
        if isinstance(parent, (ast.Return, ast.Expr)):
            return True
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else ast.unparse(parent.func)
            if node is parent.func or (name not in _STORING and name != "sum"):
                return False
            if name in _STORING:
                return True
        elif isinstance(parent, (ast.Assign, ast.AugAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            plain = [target for target in targets if isinstance(target, (ast.Name, ast.Tuple))]  # others only store it
            names = {name for target in plain for name in _names(target)}
            within = ast.walk(round_) if round_ is not None else parents
            loads = [
                n for n in within if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names - seen
            ]
            seen |= names
            return all(_is_only_kept(load, parents, seen) for load in loads)
        elif not _hands_on(parent, node):
            return False
        assert parent is not None
        node = parent


def _hands_on(parent: ast.AST | None, node: ast.AST) -> bool:
    """Whether an expression makes of its part something else that may lie on the device as well."""
    if isinstance(parent, ast.IfExp):
        return node is not parent.test
    if isinstance(parent, (ast.BinOp, ast.UnaryOp)):
        return not isinstance(parent.op, (ast.Not, ast.Mod, ast.FloorDiv))
    return isinstance(
        parent, (ast.Tuple, ast.List, ast.Dict, ast.keyword, ast.ListComp, ast.GeneratorExp, ast.DictComp)
    )


def ways(finding: Finding, lines: Sequence[str]) -> Iterator[Repair]:
    """The repairs to measure the finding against, the nearest to what a person would write first."""
    if finding.fix is not None and finding.fix.edits:
        yield Repair(finding.fix.edits, finding.fix.message, probe=False)
    makers = _MAKERS.get(finding.code, ())
    if not makers:
        return
    try:
        tree = ast.parse("\n".join(line.rstrip("\r\n") for line in lines))
    except (SyntaxError, ValueError, RecursionError):
        return
    flagged = _Flagged(finding, tree, lines)
    for make in makers:
        repair = make(flagged)
        if repair is not None:
            yield repair


# -- waits -------------------------------------------------------------------------------------------------------------

_REPLAYED = "what is read here is replayed from a recording, so that nothing waits for it"


def _left_on_device(flagged: _Flagged) -> Repair | None:
    """`t.item()`, `float(t)`, `t.cpu()` become `t.detach()`."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        kept = node.func.value if isinstance(node.func, ast.Attribute) and not node.args else None
        if kept is None and len(node.args) == 1 and isinstance(node.func, ast.Name):
            kept = node.args[0]
        if kept is None or not flagged.is_only_kept(node):
            return None
        text = ast.unparse(kept)
        shown = text if isinstance(kept, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"
        return Repair(flagged.instead(node, f"{shown}.detach()"), "the value left on the device")
    return None


def _statement_left_out(flagged: _Flagged) -> Repair | None:
    node = flagged.around_it(ast.Expr)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return Repair(flagged.instead(node, "pass"), "the statement left out")
    return None


def _replayed(flagged: _Flagged) -> Repair | None:
    """The flagged expression gives what it gave when it was recorded; what it reads is computed as before."""
    for node in flagged.marked(ast.expr):
        if _can_move(node):
            return Repair(_read_once(flagged, node), _REPLAYED)
    return None


def _read_once(flagged: _Flagged, node: ast.AST) -> tuple[Edit, ...]:
    """Edits by which a call's own reading is replayed: `x.sum().item()` still computes `x.sum()`."""
    start, end = flagged.span(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        first, last = flagged.span(node.func.value)
        plain = isinstance(node.func.value, (ast.Constant, ast.JoinedStr))
        simple = not plain and not flagged.is_module(node.func.value) and not _waits(node.func.value)
        if first == start and simple:
            given = ", ".join(map(ast.unparse, [*node.args, *node.keywords]))
            opening = f"torchlint_replayed(lambda torchlint_it: torchlint_it.{node.func.attr}({given}), "
            return Edit(start, start, opening), Edit(last, end, ")")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        if node.func.id in ("float", "int", "bool", "complex") and not _waits(node.args[0]):
            return (Edit(start, flagged.span(node.func)[1], f"torchlint_replayed({node.func.id}, "),
                    Edit(flagged.span(node.func)[1], flagged.span(node.args[0])[0], "("),
                    Edit(end, end, ")"))  # fmt: skip
    return _recorded(flagged, node)


def _recorded(flagged: _Flagged, node: ast.AST) -> tuple[Edit, ...]:
    """Edits by which an expression gives what it gave when it was recorded, and is not computed."""
    return flagged.around(node, "torchlint_replayed(lambda: (", "))")


def _waits(node: ast.AST) -> bool:
    """Whether evaluating an expression asks for a tensor's value, as far as its text tells."""
    for below in ast.walk(node):
        if isinstance(below, ast.Call):
            method = isinstance(below.func, ast.Attribute)
            name = below.func.attr if isinstance(below.func, ast.Attribute) else ast.unparse(below.func)
            if name in _READING and not (method and name in _REDUCING):
                return True
        chained = isinstance(below, ast.Compare) and len(below.ops) > 1
        if chained or isinstance(below, (ast.BoolOp, ast.IfExp, ast.Starred, ast.Not, ast.In, ast.NotIn)):
            return True
    return False


_READING = frozenset("any all max min sum sorted set list tuple float int bool item tolist cpu numpy print str".split())
_REDUCING = frozenset("any all max min sum".split())  # as methods they are tensors'


def _truth_replayed(flagged: _Flagged) -> Repair | None:
    for node in flagged.marked(ast.expr):
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node = node.operand
        if _can_move(node):
            edits = flagged.around(node, *(("torchlint_replayed(lambda: bool(", "))") if _waits(node) else
                                           ("torchlint_replayed(bool, (", "))")))  # fmt: skip
            return Repair(edits, _REPLAYED)
    return None


def _positions_replayed(flagged: _Flagged) -> Repair | None:
    """`x[mask]` takes the positions that the mask had when it was recorded."""
    for node in flagged.marked(ast.Subscript):
        assert isinstance(node, ast.Subscript)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        open_ = [part for part in parts if not isinstance(part, (ast.Slice, ast.Constant))]
        if not open_ or not all(map(_can_move, open_)):
            return None
        if len(open_) > 1:  # which of them is the mask its value tells
            each = [flagged.around(part, "torchlint_replayed(torchlint_positions, (", "))") for part in open_]
            edits = tuple(edit for pair in each for edit in pair)
        else:
            first = "[0]" if isinstance(node.slice, ast.Tuple) else ""
            edits = flagged.around(
                open_[0], f"torchlint_replayed(lambda mask: mask.nonzero(as_tuple=True){first}, (", "))"
            )
        return Repair(edits, "the positions that the mask selects are replayed from a recording")
    return _replayed(flagged)


def _numbers_replayed(flagged: _Flagged) -> Repair | None:
    """`x[:t]`, `range(t)` get the number that the tensor held when it was recorded."""
    edits: list[Edit] = []
    for node in flagged.marked(ast.Call, ast.Subscript):
        if isinstance(node, ast.Call):
            parts: list[ast.expr | None] = list(node.args)
        else:
            assert isinstance(node, ast.Subscript)
            inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            parts = [
                bound
                for part in inside
                for bound in ((part.lower, part.upper) if isinstance(part, ast.Slice) else (part,))
            ]
        for part in parts:
            if part is not None and not isinstance(part, (ast.Constant, ast.Starred)) and _can_move(part):
                edits += flagged.around(part, "torchlint_replayed(int, (", "))")
        break
    return Repair(tuple(edits), _REPLAYED) if edits else None


def _scalars_replayed(flagged: _Flagged) -> Repair | None:
    """Arguments that may be tensors where the operator wants numbers are the numbers that they held."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        parts = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg not in ("device", "dtype"))]
        edits = [
            edit
            for part in parts
            if not isinstance(part, (ast.Constant, ast.Starred)) and _can_move(part)
            for edit in flagged.around(part, "torchlint_replayed(torchlint_number, (", "))")
        ]
        return Repair(tuple(edits), _REPLAYED) if edits else None
    return None


def _unvalidated(flagged: _Flagged) -> Repair | None:
    """A scale is read no more; distributions and clipping do not check what they are given."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("get_scale", "equal", "allclose", "pack_padded_sequence"):
            return _replayed(flagged)
        if name in _UNCHECKED:
            end = flagged.span(node.func)[1]
            start = Position(end.row, end.column - len(name))
            edits = (Edit(start, end, _UNCHECKED[name]), Edit(flagged.span(node)[1], flagged.span(node)[1], "[0]"))
            return Repair(edits, "without asking whether it succeeded") if flagged.is_module(node.func) else None
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        if "error_if_nonfinite" in named:
            return Repair(flagged.instead(named["error_if_nonfinite"], "False"), "without the check")
        if name[:1].isupper() and "validate_args" not in named and None not in named:
            closing = flagged.at(node.end_lineno or node.lineno, (node.end_col_offset or 1) - 1)
            comma = "" if _ends_in_comma(flagged, node) else ", "
            return Repair(
                (Edit(closing, closing, f"{comma}validate_args=False"),), "without the check of its arguments"
            )
    return None


# Functions of torch.linalg whose twins leave the answer, whether all went well, on the device.
_UNCHECKED = {"cholesky": "cholesky_ex", "inv": "inv_ex"}


def _ends_in_comma(flagged: _Flagged, call: ast.Call) -> bool:
    """Whether the arguments of a call, if there are any, end in a comma."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not given:
        return True
    last = max(given, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
    rows = "\n".join(flagged.lines[(last.end_lineno or 1) - 1 : call.end_lineno]).encode("utf-8")
    return b"," in rows[last.end_col_offset or 0 :].split(b"#")[0]


def _index_kept(flagged: _Flagged) -> Repair | None:
    """`x[[0, 2, 1]]` finds the index on the device already."""
    for node in flagged.marked(ast.Subscript):
        assert isinstance(node, ast.Subscript)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        edits = [
            edit
            for part in parts
            if not isinstance(part, (ast.Slice, ast.Constant)) and _can_move(part)
            for edit in flagged.around(part, "torchlint_replayed(torchlint_index, (", "))")
        ]
        return Repair(tuple(edits), "the index kept on the device") if edits else None
    return None


def _stacked(flagged: _Flagged) -> Repair | None:
    """Python's `max(...)` over device scalars becomes one reduction on the device."""
    for node in flagged.marked(ast.Call):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
            if node.func.id in ("max", "min", "any", "all", "sum"):
                start, end = flagged.span(node.args[0])
                whole_start, whole_end = flagged.span(node)
                generator = isinstance(node.args[0], ast.GeneratorExp)
                # A generator that is the only argument spans the parentheses of the call.
                opening = "torchlint_together" if generator else "torchlint_together("
                edits = [Edit(whole_start, start, opening)]
                edits.append(Edit(end, whole_end, f".{node.func.id}()" if generator else f").{node.func.id}()"))
                return Repair(tuple(edits), f"one reduction on the device instead of Python's {node.func.id}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
            return Repair(_recorded(flagged, node), _REPLAYED) if _can_move(node) else None
    return None


def _can_move(node: ast.AST) -> bool:
    """Whether an expression means the same inside a lambda."""
    return not any(isinstance(below, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)) for below in ast.walk(node))


def _log_of_softmax(flagged: _Flagged) -> Repair | None:
    """`log(softmax(x))` is `log_softmax(x)`, also where the softmax stands in an assignment before."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        inside = node.args[0] if node.args else None
        if isinstance(node.func, ast.Attribute) and not flagged.is_module(node.func.value):
            inside = node.func.value
        holder = flagged.holder(node)
        found = _softmax_logged(flagged, inside, holder or flagged.tree, node.lineno) if inside is not None else None
        if found is not None:
            return Repair(flagged.instead(node, ast.unparse(found)), "log_softmax of what the softmax is taken of")
    return None


_RESHAPING = frozenset("squeeze unsqueeze view reshape transpose permute flatten contiguous gather to float t".split())


def _softmax_logged(flagged: _Flagged, node: ast.expr, holder: ast.AST, row: int, depth: int = 0) -> ast.expr | None:
    """The logarithm of an expression that reads a softmax, written with log_softmax; constants against log(0) go."""

    def inner(below: ast.expr) -> ast.expr | None:
        return _softmax_logged(flagged, below, holder, row, depth + 1)

    if depth > 8:
        return None
    if isinstance(node, ast.Name):
        bound = [
            statement
            for statement in ast.walk(holder)
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.For)) and node.id in _stored(statement)
        ]
        made = bound[0].value if len(bound) == 1 and isinstance(bound[0], ast.Assign) else None
        plain = made is not None and isinstance(bound[0].targets[0], ast.Name)  # type: ignore[union-attr]
        return inner(made) if plain and made is not None and bound[0].lineno < row else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Constant):
        return inner(node.left)
    if isinstance(node, ast.Subscript):
        value = inner(node.value)
        return ast.Subscript(value, node.slice, node.ctx) if value is not None else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr == "softmax":
        return ast.Call(ast.Attribute(node.func.value, "log_softmax", ast.Load()), node.args, node.keywords)
    if node.func.attr in ("clamp", "clamp_min", "clip") and not flagged.is_module(node.func.value):
        return inner(node.func.value)
    if node.func.attr in _RESHAPING and not flagged.is_module(node.func.value):
        value = inner(node.func.value)
        method = ast.Attribute(value, node.func.attr, ast.Load()) if value is not None else None
        return ast.Call(method, node.args, node.keywords) if method is not None else None
    return None


def _stored(statement: ast.stmt) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[attr-defined]
    return {name for target in targets for name in _names(target)}


# -- transfers and retention -------------------------------------------------------------------------------------------


def _made_once(flagged: _Flagged) -> Repair | None:
    """A tensor made of Python data is there already."""
    return _once(flagged, "the tensor made once and kept")


def _once(flagged: _Flagged, what: str) -> Repair | None:
    for node in flagged.marked(ast.Call):
        if _can_move(node):
            return Repair(_recorded(flagged, node), what)
    return None


_FACTORIES = frozenset("zeros ones full empty rand randn randint arange linspace eye tensor logspace randperm".split())


def _made_there(flagged: _Flagged) -> Repair | None:
    """`torch.zeros(n).to(device)` is made on the device: also where the factory stands in an assignment before."""
    for node in flagged.marked(ast.Call):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        target = _target(node)
        holder = flagged.holder(node)
        if target is None or holder is None:
            return None
        sources: list[ast.AST] = [node.func.value]
        names = {n.id for n in ast.walk(node.func.value) if isinstance(n, ast.Name)}
        for statement in ast.walk(holder):
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                if statement.targets[0].id in names and statement.lineno < node.lineno:
                    sources.append(statement.value)
        edits = []
        for made in (below for source in sources for below in ast.walk(source)):
            if isinstance(made, ast.Call) and _is_factory(made):
                closing = flagged.at(made.end_lineno or made.lineno, (made.end_col_offset or 1) - 1)
                edits.append(Edit(closing, closing, f", device={target}"))
        if not edits:
            return _made_below(flagged, node, target)
        dot = flagged.at(node.func.end_lineno or 1, (node.func.end_col_offset or 0) - len(node.func.attr) - 1)
        edits.append(Edit(dot, flagged.span(node)[1], ""))
        return Repair(tuple(edits), "the tensor made on the device")
    return None


def _made_below(flagged: _Flagged, move: ast.Call, target: str) -> Repair | None:
    """What a function of the file makes of factories is made on the device, as torch.device has it around the call."""
    assert isinstance(move.func, ast.Attribute)
    made = move.func.value
    functions = {node.name for node in ast.walk(flagged.tree) if isinstance(node, ast.FunctionDef)}
    called = {
        below.func.id for below in ast.walk(made) if isinstance(below, ast.Call) and isinstance(below.func, ast.Name)
    }
    if not called & functions or not _can_move(made):
        return None
    text = f"torchlint_there({target}, lambda: ({ast.unparse(made)}))"
    return Repair(
        flagged.instead(move, text), "the tensor made on the device, which is torch's default while it is made"
    )


def _is_factory(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in _FACTORIES
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in ("torch", "th")
        and all(keyword.arg != "device" for keyword in call.keywords)
    )


def _target(move: ast.Call) -> str | None:
    """Where `.to(...)` or `.cuda()` moves to, as source text."""
    assert isinstance(move.func, ast.Attribute)
    if move.func.attr == "cuda":
        return '"cuda"'
    if move.func.attr != "to":
        return None
    named = next((keyword.value for keyword in move.keywords if keyword.arg == "device"), None)
    given = named or (move.args[0] if len(move.args) == 1 else None)
    return ast.unparse(given) if given is not None and len(move.keywords) <= 1 else None


def _pinned(flagged: _Flagged) -> Repair | None:
    """`x.to(device, non_blocking=True)` copies from pinned memory."""
    for node in flagged.marked(ast.Call):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            edits = flagged.around(node.func.value, "torchlint_replayed(lambda: torchlint_pinned(", "))")
            return Repair(edits, "the batch in pinned memory already, as a loader's thread leaves it")
    return None


def _detached(flagged: _Flagged) -> Repair | None:
    """What is kept is kept without its graph."""
    for node in flagged.marked(ast.Call, ast.Assign, ast.AugAssign, ast.Expr):
        call = node.value if isinstance(node, ast.Expr) else node
        if isinstance(call, ast.Call):
            kept = call.args[-1] if call.args else None
        else:
            kept = call.value if isinstance(call, (ast.Assign, ast.AugAssign)) else None
        if isinstance(kept, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            return Repair(flagged.around(kept, "", ".detach()")[1:], "what is kept is detached")
        if isinstance(kept, ast.BinOp):
            return Repair(flagged.around(kept, "(", ").detach()"), "what is kept is detached")
        if isinstance(kept, (ast.Dict, ast.Tuple, ast.List)):
            return Repair(flagged.around(kept, "torchlint_detached(", ")"), "the tensors that are kept are detached")
        return None
    return None


def _detached_inside(flagged: _Flagged) -> Repair | None:
    """What is kept is kept without the graphs of the tensors that it holds."""
    for node in flagged.marked(ast.Call, ast.Expr):
        call = node.value if isinstance(node, ast.Expr) else node
        kept = call.args[-1] if isinstance(call, ast.Call) and call.args else None
        if isinstance(kept, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            return Repair(flagged.around(kept, "torchlint_detached(", ")"), "the tensors that are kept are detached")
        return None
    return None


def _moved_once(flagged: _Flagged) -> Repair | None:
    """What is moved on every round is there already."""
    return _once(flagged, "what is moved is moved once and kept")


def _switched_off(flagged: _Flagged) -> Repair | None:
    """`set_detect_anomaly(True)`, `detect_anomaly()` become `set_detect_anomaly(False)`."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        if node.args and isinstance(node.args[0], ast.Constant):
            return Repair(flagged.instead(node.args[0], "False"), "switched off")
        head, _, name = ast.unparse(node.func).rpartition(".")
        if name == "detect_anomaly" and head:
            return Repair(flagged.instead(node, f"{head}.set_detect_anomaly(False)"), "switched off")
    return None


def _unwrapped(flagged: _Flagged) -> Repair | None:
    """`nn.DataParallel(net)` is the network itself."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        if node.args and not isinstance(node.args[0], ast.Starred) and ast.unparse(node.func).endswith("DataParallel"):
            return Repair(flagged.instead(node, f"({ast.unparse(node.args[0])})"), "the network itself, on one device")
    return None


def _unbiased(flagged: _Flagged) -> Repair | None:
    for node in flagged.marked(ast.Call):
        return Repair(flagged.around(node, "torchlint_unbiased(", ")"), "the layer without its bias")
    return None


# -- loops -------------------------------------------------------------------------------------------------------------


def _batched(flagged: _Flagged) -> Repair | None:
    """A loop or comprehension over rows becomes one call of `torch.vmap` over its body."""
    what = "the loop as one batched call (torch.vmap of its body)"
    for node in flagged.marked(ast.ListComp, ast.GeneratorExp, ast.For):
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            generator = node.generators[0]
            if len(node.generators) != 1 or generator.ifs or not isinstance(generator.target, ast.Name):
                return None
            text = f"list({_vmap([generator.target.id], node.elt, [generator.iter])})"
            return Repair(flagged.instead(node, f"({text})" if isinstance(node, ast.GeneratorExp) else text), what)
        assert isinstance(node, ast.For)
        names: list[str] = []
        over: list[ast.expr] = []
        statement = node
        while isinstance(statement, ast.For):
            if statement.orelse or not isinstance(statement.target, ast.Name):
                return None
            if len(statement.body) != 1:
                several = _round(node, flagged.holder(node) or flagged.tree) if not names else None
                return Repair(flagged.instead(node, _indented(several, node)), what) if several else None
            names.append(statement.target.id)
            over.append(statement.iter)
            inner = statement.body[0]
            if not isinstance(inner, ast.For):
                break
            statement = inner
        at_once = _gathered(inner, names, over)
        return Repair(flagged.instead(node, at_once), what) if at_once else None
    return None


def _round(loop: ast.For, holder: ast.AST) -> str | None:
    """A loop of several statements as a function of one round, called for all of them at once."""
    assert isinstance(loop.target, ast.Name)
    *before, last = loop.body
    bound = {loop.target.id}
    for statement in before:
        if not isinstance(statement, ast.Assign) or not all(
            isinstance(t, (ast.Name, ast.Tuple)) for t in statement.targets
        ):
            return None
        bound.update(name for target in statement.targets for name in _names(target))
    if _outlasts(bound, loop, holder) or not all(map(_can_move, loop.body)):
        return None  # what a round leaves is read
    called = ast.Call(ast.Name("torchlint_round"), [ast.Name(loop.target.id)], [])
    value: ast.expr
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and len(last.value.args) == 1:
        value, last = last.value.args[0], ast.Expr(ast.Call(last.value.func, [called], []))
    elif isinstance(last, ast.AugAssign):
        value, last = last.value, ast.AugAssign(last.target, last.op, called)
    elif isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Subscript):
        value, last = last.value, ast.Assign(last.targets, called)
    elif isinstance(last, ast.Assign) and isinstance(last.value, ast.BinOp):
        value, last = last.value.right, ast.Assign(last.targets, ast.BinOp(last.value.left, last.value.op, called))
    else:
        return None
    gathered = _gathered(ast.fix_missing_locations(last), [loop.target.id], [loop.iter])
    if gathered is None:
        return None
    body = [*map(ast.unparse, before), f"return {ast.unparse(value)}"]
    lines = [f"def torchlint_round({loop.target.id}):", *("    " + line for text in body for line in text.split("\n"))]
    return "\n".join([*lines, gathered])


def _outlasts(names: set[str], loop: ast.AST, holder: ast.AST) -> bool:
    """Whether one of the names is read outside the loop, other than where something binds it anew."""
    todo: list[tuple[ast.AST, set[str]]] = [(holder, names)]
    while todo:
        node, left = todo.pop()
        if node is loop:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in left:
            return True
        if isinstance(node, (ast.For, ast.Lambda)):
            left = left - set(_names(node.target) if isinstance(node, ast.For) else [a.arg for a in node.args.args])
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            left = left - {name for generator in node.generators for name in _names(generator.target)}
        todo += [(child, left) for child in ast.iter_child_nodes(node)]
    return False


def _vmap(names: Sequence[str], body: ast.expr, over: Sequence[ast.expr]) -> str:
    ranges = ", ".join(ast.unparse(_count(one)) for one in over)
    return f"torchlint_batched(lambda {', '.join(names)}: {ast.unparse(body)}, {ranges})"


def _count(over: ast.expr) -> ast.expr:
    """`range(n)` stands for its number, anything else for itself."""
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range":
        if len(over.args) == 1:
            return over.args[0]
    return over


def _gathered(statement: ast.stmt, names: Sequence[str], over: Sequence[ast.expr]) -> str | None:
    """The statement that does at once what the loop's body does in each round."""
    dimensions = tuple(range(len(names)))
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):  # out[i, j] = f(i, j)
            parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
            if [part.id if isinstance(part, ast.Name) else "" for part in parts] == list(names):
                return f"{ast.unparse(target.value)}.copy_({_vmap(names, statement.value, over)})"
        if isinstance(target, ast.Name) and isinstance(statement.value, ast.BinOp):  # acc = acc + f(i)
            value = statement.value
            if isinstance(value.op, ast.Add) and isinstance(value.left, ast.Name) and value.left.id == target.id:
                return f"{target.id} = {target.id} + {_vmap(names, value.right, over)}.sum({dimensions})"
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        if isinstance(statement.target, ast.Name):
            return f"{statement.target.id} += {_vmap(names, statement.value, over)}.sum({dimensions})"
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and len(names) == 1:
        call = statement.value
        if isinstance(call.func, ast.Attribute) and call.func.attr == "append" and len(call.args) == 1:
            return f"{ast.unparse(call.func.value)}.extend({_vmap(names, call.args[0], over)})"
    return None


def _listed(flagged: _Flagged) -> Repair | None:
    """A loop that does the same to each parameter does it to all of them in one call."""
    what = "all parameters in one call (torch._foreach_* of the body)"
    loop = flagged.around_it(ast.For, ast.ListComp, ast.GeneratorExp)
    if isinstance(loop, ast.For):
        holder = flagged.holder(loop) or flagged.tree
        text = _over_lists(_unkeyed(loop), holder, loop) or _over_keys(loop)
        return Repair(flagged.instead(loop, _indented(text, loop)), what) if text is not None else None
    if isinstance(loop, (ast.ListComp, ast.GeneratorExp)) and len(loop.generators) == 1:
        generator = loop.generators[0]
        names = _names(generator.target)
        star = "*" if isinstance(generator.target, ast.Tuple) else ""
        given = f"{star}torchlint_listed({ast.unparse(_filtered(generator))})[0]"
        text = f"(lambda {', '.join(names)}: {ast.unparse(loop.elt)})({given}).items"
        return Repair(flagged.instead(loop, f"({text})" if isinstance(loop, ast.GeneratorExp) else text), what)
    return None


def _names(target: ast.AST) -> list[str]:
    return [below.id for below in ast.walk(target) if isinstance(below, ast.Name)]


def _filtered(generator: ast.comprehension) -> ast.expr:
    """What a comprehension is over, without what its conditions leave out."""
    if not generator.ifs:
        return generator.iter
    target = ast.parse(ast.unparse(generator.target), mode="eval").body
    return ast.ListComp(target, [generator])


def _unkeyed(loop: ast.For) -> ast.For:
    """`for key, a in x.items(): f(a, b[key])` over pairs of what the key names in each."""
    if not isinstance(loop.target, ast.Tuple) or len(loop.target.elts) != 2:
        return loop
    key, value = loop.target.elts
    if not isinstance(key, ast.Name) or not isinstance(value, ast.Name):
        return loop
    named = key.id
    read: dict[str, str] = {}

    class Entries(ast.NodeTransformer):
        def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
            if isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and ast.unparse(node.slice) == named:
                return ast.Name(read.setdefault(node.value.id, f"{node.value.id}_each"))
            return self.generic_visit(node)

    conditions, guarded = _guards(loop.body)
    body = [Entries().visit(statement) for statement in ast.parse("\n".join(map(ast.unparse, guarded))).body]
    if not read or any(named in _names(statement) for statement in body):
        return loop
    pairs = ast.Tuple([value, *(ast.Subscript(ast.Name(name), ast.Name(named)) for name in read)])
    over = ast.ListComp(pairs, [ast.comprehension(loop.target, loop.iter, conditions, 0)])
    target = ast.Tuple([ast.Name(value.id), *(ast.Name(each) for each in read.values())])
    return ast.fix_missing_locations(ast.For(target, over, body, loop.orelse))


def _over_lists(loop: ast.For, holder: ast.AST, written: ast.For) -> str | None:
    """The loop with one round, over lists; None where its rounds differ in more than what they are over.

    Args:
        loop: as `_unkeyed` gives it.
        holder: the function around it.
        written: the loop as it stands there.
    """
    conditions, body = _guards(loop.body)
    inside = set(_names(loop.target))
    done: list[ast.stmt] = []
    for statement in body:
        made = _of_all(statement, inside)
        if made is None:
            return None
        done.append(made)
    if loop.orelse or _outlasts(inside, written, holder):
        return None  # what a round leaves would be a list
    over = _filtered(ast.comprehension(loop.target, loop.iter, conditions, 0))
    once = ast.For(loop.target, ast.Call(ast.Name("torchlint_listed"), [over], []), done, [])
    return ast.unparse(ast.fix_missing_locations(once))


def _over_keys(loop: ast.For) -> str | None:
    """`for key in a: b[key] = f(a[key], b[key])` as one call over the lists of their values."""
    if len(loop.body) != 1 or not isinstance(loop.target, ast.Name) or loop.orelse:
        return None
    key, (statement,) = loop.target.id, loop.body
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Subscript):
        return None
    read: dict[str, str] = {}

    class Entries(ast.NodeTransformer):
        def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
            if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name) and node.slice.id == key:
                return ast.Name(read.setdefault(node.value.id, f"{node.value.id}_each"))
            return self.generic_visit(node)

    value = Entries().visit(ast.parse(ast.unparse(statement.value), mode="eval").body)
    if key in _names(value) or not read or ast.unparse(statement.targets[0].slice) != key:
        return None
    over = ast.unparse(loop.iter)
    given = ", ".join(f"[{name}[{key}] for {key} in {over}]" for name in read)
    made = f"(lambda {', '.join(read.values())}: {ast.unparse(value)})(*torchlint_listed(zip({given}))[0]).items"
    return f"{ast.unparse(statement.targets[0].value)}.update(zip({over}, {made}))"


def _guards(body: list[ast.stmt]) -> tuple[list[ast.expr], list[ast.stmt]]:
    """The conditions under which a round does anything, and what it then does."""
    conditions: list[ast.expr] = []
    while body and isinstance(body[0], ast.If) and not body[0].orelse:
        first = body[0]
        if isinstance(first.body[0], ast.Continue):
            conditions.append(ast.UnaryOp(ast.Not(), first.test))
            body = body[1:]
        elif len(body) == 1:
            conditions.append(first.test)
            body = first.body
        else:
            break
    return conditions, body


def _of_all(statement: ast.stmt, inside: set[str]) -> ast.stmt | None:
    """A statement of a round as one of all rounds; it adds names that a round binds to `inside`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            inside.add(target.id)
            return statement
        own = isinstance(target, ast.Attribute) and target.attr == "data" and set(_names(target)) <= inside
        return statement if own else None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        if isinstance(statement.op, ast.Add) and statement.target.id not in inside:
            return ast.AugAssign(statement.target, statement.op, _summed(statement.value))
        return statement if statement.target.id in inside and isinstance(statement.op, _EACH) else None
    if isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call) and _is_in_place(call):
        assert isinstance(call.func, ast.Attribute)
        if set(_names(call.func)) & inside:
            return statement
        if call.func.attr == "add_" and len(call.args) == 1:
            return ast.Expr(ast.Call(call.func, [_summed(call.args[0])], call.keywords))
    return None


_EACH = (ast.Add, ast.Sub, ast.Mult, ast.Div)  # what lists of tensors take in place


def _summed(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("torchlint_summed"), [value], [])


def _indented(text: str, at: ast.stmt) -> str:
    return text.replace("\n", "\n" + " " * at.col_offset)


def _is_in_place(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_")


def _grown(flagged: _Flagged) -> Repair | None:
    """`a = torch.cat([a, x], dim)` in a loop writes into a buffer with room to grow."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        if not node.args or not isinstance(node.args[0], (ast.List, ast.Tuple)) or len(node.args[0].elts) != 2:
            return None
        if ast.unparse(node.func).rpartition(".")[2] not in ("cat", "concat", "concatenate"):
            return None
        old, new = (ast.unparse(part) for part in node.args[0].elts)
        named = next((keyword.value for keyword in node.keywords if keyword.arg in ("dim", "axis")), None)
        axis = named or (node.args[1] if len(node.args) > 1 else ast.Constant(0))
        text = f"torchlint_grown({old}, {new}, {ast.unparse(axis)})"
        return Repair(flagged.instead(node, text), "the tensor grown inside a buffer that doubles")
    return None


_MAKERS: Mapping[str, Sequence[Callable[[_Flagged], Repair | None]]] = {
    "TL101": (_left_on_device, _replayed),
    "TL102": (_truth_replayed,),
    "TL103": (_left_on_device, _replayed),
    "TL104": (_statement_left_out, _replayed),
    "TL105": (_positions_replayed,),
    "TL106": (_numbers_replayed,),
    "TL107": (_stacked,),
    "TL108": (_scalars_replayed,),
    "TL109": (_index_kept,),
    "TL110": (_statement_left_out,),
    "TL111": (_unvalidated,),
    "TL201": (_batched,),
    "TL203": (_grown,),
    "TL204": (_listed,),
    "TL207": (_made_once,),
    "TL209": (_statement_left_out,),
    "TL303": (_log_of_softmax,),
    "TL309": (_unbiased,),
    "TL504": (_pinned,),
    "TL508": (_made_there,),
    "TL509": (_moved_once,),
    "TL602": (_detached, _detached_inside),
    "TL605": (_detached,),
    "TL606": (_statement_left_out,),
    "TL704": (_switched_off,),
    "TL801": (_left_on_device,),
    "TL803": (_statement_left_out,),
    "TL903": (_unwrapped,),
}

"""Repaired forms in which nothing waits: values left on the device, or replayed from a recording."""

from __future__ import annotations

import ast

from torchlint.findings import Edit, Position
from torchlint.verify.repairs.flagged import Flagged, Repair, can_move, recorded

_REPLAYED = "what is read here is replayed from a recording, so that nothing waits for it"


def left_on_device(flagged: Flagged) -> Repair | None:
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


def statement_left_out(flagged: Flagged) -> Repair | None:
    node = flagged.around_it(ast.Expr)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return Repair(flagged.instead(node, "pass"), "the statement left out")
    return None


def replayed(flagged: Flagged) -> Repair | None:
    """The flagged expression gives what it gave when it was recorded; what it reads is computed as before."""
    for node in flagged.marked(ast.expr):
        if can_move(node):
            return Repair(_read_once(flagged, node), _REPLAYED)
    return None


def _read_once(flagged: Flagged, node: ast.AST) -> tuple[Edit, ...]:
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
    return recorded(flagged, node)


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


def truth_replayed(flagged: Flagged) -> Repair | None:
    for node in flagged.marked(ast.expr):
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node = node.operand
        if can_move(node):
            edits = flagged.around(node, *(("torchlint_replayed(lambda: bool(", "))") if _waits(node) else
                                           ("torchlint_replayed(bool, (", "))")))  # fmt: skip
            return Repair(edits, _REPLAYED)
    return None


def positions_replayed(flagged: Flagged) -> Repair | None:
    """`x[mask]` takes the positions that the mask had when it was recorded."""
    for node in flagged.marked(ast.Subscript):
        assert isinstance(node, ast.Subscript)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        open_ = [part for part in parts if not isinstance(part, (ast.Slice, ast.Constant))]
        if not open_ or not all(map(can_move, open_)):
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
    return replayed(flagged)


def numbers_replayed(flagged: Flagged) -> Repair | None:
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
            if part is not None and not isinstance(part, (ast.Constant, ast.Starred)) and can_move(part):
                edits += flagged.around(part, "torchlint_replayed(int, (", "))")
        break
    return Repair(tuple(edits), _REPLAYED) if edits else None


def scalars_replayed(flagged: Flagged) -> Repair | None:
    """Arguments that may be tensors where the operator wants numbers are the numbers that they held."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        parts = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg not in ("device", "dtype"))]
        edits = [
            edit
            for part in parts
            if not isinstance(part, (ast.Constant, ast.Starred)) and can_move(part)
            for edit in flagged.around(part, "torchlint_replayed(torchlint_number, (", "))")
        ]
        return Repair(tuple(edits), _REPLAYED) if edits else None
    return None


def unvalidated(flagged: Flagged) -> Repair | None:
    """A scale is read no more; distributions and clipping do not check what they are given."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("get_scale", "equal", "allclose", "pack_padded_sequence"):
            return replayed(flagged)
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


def _ends_in_comma(flagged: Flagged, call: ast.Call) -> bool:
    """Whether the arguments of a call, if there are any, end in a comma."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not given:
        return True
    last = max(given, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
    rows = "\n".join(flagged.lines[(last.end_lineno or 1) - 1 : call.end_lineno]).encode("utf-8")
    return b"," in rows[last.end_col_offset or 0 :].split(b"#")[0]


def index_kept(flagged: Flagged) -> Repair | None:
    """`x[[0, 2, 1]]` finds the index on the device already."""
    for node in flagged.marked(ast.Subscript):
        assert isinstance(node, ast.Subscript)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        edits = [
            edit
            for part in parts
            if not isinstance(part, (ast.Slice, ast.Constant)) and can_move(part)
            for edit in flagged.around(part, "torchlint_replayed(torchlint_index, (", "))")
        ]
        return Repair(tuple(edits), "the index kept on the device") if edits else None
    return None


def stacked(flagged: Flagged) -> Repair | None:
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
            return Repair(recorded(flagged, node), _REPLAYED) if can_move(node) else None
    return None

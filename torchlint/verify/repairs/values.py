"""Repaired forms in which a value is made elsewhere, once, by another operation, or kept without its graph."""

from __future__ import annotations

import ast

from torchlint.findings import Edit
from torchlint.verify.repairs.flagged import Flagged, Repair, can_move, names_in, recorded


def log_of_softmax(flagged: Flagged) -> Repair | None:
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


def _softmax_logged(flagged: Flagged, node: ast.expr, holder: ast.AST, row: int, depth: int = 0) -> ast.expr | None:
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
    return {name for target in targets for name in names_in(target)}


def made_once(flagged: Flagged) -> Repair | None:
    """A tensor made of Python data is there already."""
    return _once(flagged, "the tensor made once and kept")


def _once(flagged: Flagged, what: str) -> Repair | None:
    for node in flagged.marked(ast.Call):
        if can_move(node):
            return Repair(recorded(flagged, node), what)
    return None


_FACTORIES = frozenset("zeros ones full empty rand randn randint arange linspace eye tensor logspace randperm".split())


def made_there(flagged: Flagged) -> Repair | None:
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


def _made_below(flagged: Flagged, move: ast.Call, target: str) -> Repair | None:
    """What a function of the file makes of factories is made on the device, as torch.device has it around the call."""
    assert isinstance(move.func, ast.Attribute)
    made = move.func.value
    functions = {node.name for node in ast.walk(flagged.tree) if isinstance(node, ast.FunctionDef)}
    called = {
        below.func.id for below in ast.walk(made) if isinstance(below, ast.Call) and isinstance(below.func, ast.Name)
    }
    if not called & functions or not can_move(made):
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


def pinned(flagged: Flagged) -> Repair | None:
    """`x.to(device, non_blocking=True)` copies from pinned memory."""
    for node in flagged.marked(ast.Call):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            edits = flagged.around(node.func.value, "torchlint_replayed(lambda: torchlint_pinned(", "))")
            return Repair(edits, "the batch in pinned memory already, as a loader's thread leaves it")
    return None


def detached(flagged: Flagged) -> Repair | None:
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


def detached_inside(flagged: Flagged) -> Repair | None:
    """What is kept is kept without the graphs of the tensors that it holds."""
    for node in flagged.marked(ast.Call, ast.Expr):
        call = node.value if isinstance(node, ast.Expr) else node
        kept = call.args[-1] if isinstance(call, ast.Call) and call.args else None
        if isinstance(kept, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            return Repair(flagged.around(kept, "torchlint_detached(", ")"), "the tensors that are kept are detached")
        return None
    return None


def moved_once(flagged: Flagged) -> Repair | None:
    """What is moved on every round is there already."""
    return _once(flagged, "what is moved is moved once and kept")


def switched_off(flagged: Flagged) -> Repair | None:
    """`set_detect_anomaly(True)`, `detect_anomaly()` become `set_detect_anomaly(False)`."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        if node.args and isinstance(node.args[0], ast.Constant):
            return Repair(flagged.instead(node.args[0], "False"), "switched off")
        head, _, name = ast.unparse(node.func).rpartition(".")
        if name == "detect_anomaly" and head:
            return Repair(flagged.instead(node, f"{head}.set_detect_anomaly(False)"), "switched off")
    return None


def unwrapped(flagged: Flagged) -> Repair | None:
    """`nn.DataParallel(net)` is the network itself."""
    for node in flagged.marked(ast.Call):
        assert isinstance(node, ast.Call)
        if node.args and not isinstance(node.args[0], ast.Starred) and ast.unparse(node.func).endswith("DataParallel"):
            return Repair(flagged.instead(node, f"({ast.unparse(node.args[0])})"), "the network itself, on one device")
    return None


def unbiased(flagged: Flagged) -> Repair | None:
    for node in flagged.marked(ast.Call):
        return Repair(flagged.around(node, "torchlint_unbiased(", ")"), "the layer without its bias")
    return None

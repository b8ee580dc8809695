"""Repaired forms in which the rounds of a loop are computed at once, or in a buffer with room to grow."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.verify.repairs.flagged import Flagged, Repair, can_move, names_in


def batched(flagged: Flagged) -> Repair | None:
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
        bound.update(name for target in statement.targets for name in names_in(target))
    if _outlasts(bound, loop, holder) or not all(map(can_move, loop.body)):
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
            left = left - set(names_in(node.target) if isinstance(node, ast.For) else [a.arg for a in node.args.args])
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            left = left - {name for generator in node.generators for name in names_in(generator.target)}
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


def listed(flagged: Flagged) -> Repair | None:
    """A loop that does the same to each parameter does it to all of them in one call."""
    what = "all parameters in one call (torch._foreach_* of the body)"
    loop = flagged.around_it(ast.For, ast.ListComp, ast.GeneratorExp)
    if isinstance(loop, ast.For):
        holder = flagged.holder(loop) or flagged.tree
        text = _over_lists(_unkeyed(loop), holder, loop) or _over_keys(loop)
        return Repair(flagged.instead(loop, _indented(text, loop)), what) if text is not None else None
    if isinstance(loop, (ast.ListComp, ast.GeneratorExp)) and len(loop.generators) == 1:
        generator = loop.generators[0]
        names = names_in(generator.target)
        star = "*" if isinstance(generator.target, ast.Tuple) else ""
        given = f"{star}torchlint_listed({ast.unparse(_filtered(generator))})[0]"
        text = f"(lambda {', '.join(names)}: {ast.unparse(loop.elt)})({given}).items"
        return Repair(flagged.instead(loop, f"({text})" if isinstance(loop, ast.GeneratorExp) else text), what)
    return None


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
    if not read or any(named in names_in(statement) for statement in body):
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
    inside = set(names_in(loop.target))
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
    if key in names_in(value) or not read or ast.unparse(statement.targets[0].slice) != key:
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
        own = isinstance(target, ast.Attribute) and target.attr == "data" and set(names_in(target)) <= inside
        return statement if own else None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        if isinstance(statement.op, ast.Add) and statement.target.id not in inside:
            return ast.AugAssign(statement.target, statement.op, _summed(statement.value))
        return statement if statement.target.id in inside and isinstance(statement.op, _EACH) else None
    if isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call) and _is_in_place(call):
        assert isinstance(call.func, ast.Attribute)
        if set(names_in(call.func)) & inside:
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


def grown(flagged: Flagged) -> Repair | None:
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

"""Cutting flagged code out of its file so that it can be run: the code it needs, as it is written and as repaired.

Rows stay what they were in the file: what is left out becomes blank lines. So the row of a finding, a wait or an
exception is the row the user sees.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from torchlint.findings import Edit, Finding
from torchlint.verify.thinning import GROWING, NEEDED, READING, computes, span_of, thinned
from torchlint.verify.trees import (
    BUILTINS,
    DEFINITIONS,
    Uncut,
    blocks_around,
    first_row,
    follow,
    last_row,
    parse,
    path_at,
    trains,
)

__all__ = ["Piece", "Uncut", "Unit", "pieces", "repaired", "statement_rows"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A module that can be run by itself: its source, and the function in it to call.

    `function` is the definition that is called, for working out its arguments; `owner` the class it is a method of.
    `free` are names of the module that the code reads and that the unit does not define: stand-ins are put there.
    """

    source: str
    entry: str
    tree: ast.Module
    function: ast.FunctionDef
    owner: ast.ClassDef | None
    free: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Flagged code before and after its repair, cut the same way."""

    rung: str
    what: str  # for people: "function train", "lines 10 to 18 of train"
    before: Unit
    after: Unit
    around: str = ""  # the function whose statements an extracted unit holds


def repaired(lines: Sequence[str], edits: Iterable[Edit]) -> str:
    """The text with the edits made."""
    text = [line.rstrip("\r\n") for line in lines]
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        first, last = edit.start.row - 1, edit.end.row - 1
        if last >= len(text):
            text += [""] * (last + 1 - len(text))
        joined = text[first][: edit.start.column - 1] + edit.content + text[last][edit.end.column - 1 :]
        text[first : last + 1] = joined.split("\n")
    return "\n".join(text) + "\n"


def pieces(
    finding: Finding, lines: Sequence[str], after: str, edits: Sequence[Edit], whole_loops: bool, blocks: bool = False
) -> Iterator[Piece]:
    """The ways to cut the flagged code out, the most faithful first.

    Args:
        whole_loops: the cost lies between statements, so that the bare ones show nothing of it: the nearest caller with
            a loop is measured before the function itself.
        blocks: blocks without a loop show the cost as well, those of methods also without their object.
        finding: whose row says where.
        lines: of the file.
        after: the whole text, repaired.
        edits: that made it so.
    """
    before = "\n".join(line.rstrip("\r\n") for line in lines) + "\n"
    one, other = parse(before), parse(after)
    row = finding.start.row
    path = path_at(one, row)
    rows = {row, *(r for edit in edits for r in (edit.start.row, edit.end.row))}
    found = False

    def shows(piece: Piece) -> bool:
        return finding.code not in READING or any(map(computes, piece.before.function.body))

    for entry in _entries(one, path, row, whole_loops):
        with contextlib.suppress(Uncut):
            yield Piece(
                "in place", _called(entry, path), _whole(before, one, entry, rows), _whole(after, other, entry, rows)
            )
            found = True
    if path[-1:] not in _CONSTRUCTORS:
        for piece in _regions(before, one, after, other, path, row, rows, whole_loops, blocks):
            if shows(piece):
                found = True
                yield piece
        seen: set[str] = set()
        levels = list(NEEDED) if blocks else ["everything"] if finding.code in GROWING else []
        for needed in levels:
            left = thinned(before, one, after, other, path, span_of(before, finding), needed)
            if left is not None:
                thin, thinner = left
                for piece in _regions(
                    thin, parse(thin), thinner, parse(thinner), path, row, rows, whole_loops, blocks, True
                ):
                    if not shows(piece):
                        continue
                    found = True
                    if piece.before.source not in seen:
                        seen.add(piece.before.source)
                        yield replace(piece, what=f"what line {row} needs of {piece.what}{NEEDED[needed]}")
    if not found:
        raise Uncut("the flagged code could not be told apart from the rest of its file")


def _called(entry: tuple[str, ...], path: tuple[str, ...]) -> str:
    what = f"{'method' if len(entry) > 1 else 'function'} {'.'.join(entry)}"
    return what if entry == path or not path else f"{what}, around {'.'.join(path)}"


_CONSTRUCTORS = (("__init__",), ("__post_init__",))  # alone, making an object shows nothing
# Methods that optimizers, modules, tensors and containers have as well.
_COMMON = frozenset(
    "step zero_grad train eval to cuda cpu forward backward update append items keys values get pop size dim view "
    "reset state_dict load_state_dict parameters modules log detach mean sum item copy clone".split()
)
MAX_ENTRIES = 4  # functions that are tried as the place to measure
_LIVING = "forward __call__ training_step step update fit train run".split()  # what an object is made for, in order
_SPECIAL = ("__init__", "__enter__", "__exit__", "__call__", "forward", "__iter__", "__getitem__", "__post_init__")


def _entries(tree: ast.Module, path: tuple[str, ...], row: int, whole_loops: bool) -> list[tuple[str, ...]]:
    """The functions to call, the most telling first: the flagged one, and those of the file that call it.

    What stands in a constructor or at module level shows its cost in what uses it: there the flagged function comes
    last, or not at all.
    """
    setting_up = not path or path[-1:] in _CONSTRUCTORS
    callers = _callers(tree, path, row)
    looping = [caller for caller in callers if _loops(follow(tree, caller))]
    if setting_up:
        living = [(path[0], name) for name in _LIVING] if len(path) > 1 else []
        own = [entry for entry in living if follow(tree, entry) is not None]
        base = [(path[0], "forward")] if len(path) > 1 and not own else []  # of a class that inherits it
        chosen = [*own, *base, *looping, *callers] if not whole_loops else [*looping, *own, *base, *callers]
    elif whole_loops and not _loops(follow(tree, path)):
        chosen = [*looping, path, *callers]
    else:
        chosen = [path, *looping, *callers]
    return list(dict.fromkeys(entry for entry in chosen if entry))[:MAX_ENTRIES]


def _loops(function: ast.AST | None) -> bool:
    return function is not None and any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(function))


def _functions(tree: ast.Module) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef]]:
    """Functions and methods of the module, with their paths."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield (node.name,), node
        elif isinstance(node, ast.ClassDef):
            yield from (((node.name, c.name), c) for c in node.body if isinstance(c, ast.FunctionDef))


def _callers(tree: ast.Module, path: tuple[str, ...], row: int) -> list[tuple[str, ...]]:
    """The functions that call the one at `path`, the nearest first; of a class' special methods, what makes it.

    For what stands at module level: the functions that read what it binds, or all where it binds nothing.
    """
    known = dict(_functions(tree))
    if not path:
        statement = next((node for node in tree.body if first_row(node) <= row <= last_row(node)), None)
        bound = set(_binds(statement)) if statement is not None else set()
        everything = [
            other
            for other, node in known.items()
            if other[-1:] not in _CONSTRUCTORS and (not bound or bound.intersection(_loads(node)))
        ]
        return sorted(everything, key=lambda other: (not trains(known[other]), not _loops(known[other])))
    found: dict[tuple[str, ...], None] = {}
    level = [path]
    for _ in range(4):
        wanted: set[str] = set()
        attributes: set[str] = set()
        for one in level:
            if len(one) == 1:
                wanted.add(one[0])
            else:
                attributes.add(one[1])
                if one[1] in _SPECIAL:
                    wanted.add(one[0])
        following = []
        for other, node in known.items():
            if other in found or other == path:
                continue
            if any(
                (isinstance(below, ast.Name) and below.id in wanted)
                or (isinstance(below, ast.Attribute) and below.attr in attributes)
                for below in ast.walk(node)
            ):
                found[other] = None
                following.append(other)
        level = following
    return list(found)


def statement_rows(lines: Sequence[str], row: int) -> tuple[int, int]:
    """The rows of the innermost statement around `row`; of one with a body, those of its head."""
    return _statement_rows("\n".join(line.rstrip("\r\n") for line in lines) + "\n", row)


@lru_cache(maxsize=8)
def _statement_rows(text: str, row: int) -> tuple[int, int]:
    tree = parse(text)
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= row <= last_row(n)]
    if not around:
        return row, row
    inner = max(around, key=lambda n: (n.lineno, -last_row(n)))
    body = getattr(inner, "body", None)
    return inner.lineno, max(inner.lineno, body[0].lineno - 1) if body else last_row(inner)


# -- whole functions ---------------------------------------------------------------------------------------------------


def _whole(text: str, tree: ast.Module, path: tuple[str, ...], rows: Iterable[int] = ()) -> Unit:
    """The function with everything of its module that it needs, and the flagged statements of the module itself."""
    owner = (
        next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == path[0]), None)
        if len(path) > 1
        else None
    )
    found = follow(tree, path)
    if found is None and (owner is None or not owner.bases):
        raise Uncut("the function is not in the repaired file")
    function = found or _INHERITED
    flagged = [n for n in tree.body if _is_setting(n) and any(first_row(n) <= row <= last_row(n) for row in rows)]
    kept, free = _needs(tree, [owner or function, *flagged, *_passed(tree, [function, *_constructors(owner)])])
    unused = _unused(kept, path)
    source = _blanked(text, kept, unused)
    try:
        parsed = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise Uncut("the function does not stand by itself") from error
    read = {name for statement in parsed.body for name in _loads(statement)}
    return Unit(source, ".".join(path), parsed, function, owner, tuple(name for name in free if name in read))


def _constructors(owner: ast.ClassDef | None) -> list[ast.FunctionDef]:
    return [c for c in owner.body if isinstance(c, ast.FunctionDef) and c.name == "__init__"] if owner else []


def _passed(tree: ast.Module, functions: Sequence[ast.FunctionDef]) -> list[ast.stmt]:
    """The classes of the module whose objects may be passed.

    Parameters are annotated with them, or a method is called that they alone define.
    """
    owners: dict[str, list[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and child.name not in _COMMON:
                    owners.setdefault(child.name, []).append(node.name)
    called = {
        below.func.attr
        for function in functions
        for below in ast.walk(function)
        if isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute)
    }
    names = {classes[0] for method, classes in owners.items() if len(classes) == 1 and method in called}
    names |= {
        name
        for function in functions
        for argument in (*function.args.args, *function.args.kwonlyargs)
        if argument.annotation is not None
        for name in _loads(argument.annotation)
    }
    return [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in names]


# How a method is called whose class inherits it.
_INHERITED = next(
    node for node in ast.walk(ast.parse("def forward(self, x):\n    return x\n")) if isinstance(node, ast.FunctionDef)
)


def _is_setting(statement: ast.stmt) -> bool:
    """Whether a statement of a module sets a flag: torch.backends.cudnn.benchmark = True."""
    return (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute)) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    )


def _unused(kept: Iterable[ast.stmt], path: tuple[str, ...]) -> list[ast.FunctionDef]:
    """Methods of kept classes that nothing reaches from the entry, by their names; special methods stay."""
    classes = [node for node in kept if isinstance(node, ast.ClassDef)]
    methods = [child for owner in classes for child in owner.body if isinstance(child, ast.FunctionDef)]
    start = [child for child in methods if child.name == path[-1] or child.name in _SPECIAL or child.name[:2] == "__"]
    reached = set(start)
    todo: list[ast.AST] = [*start, *(node for node in kept if not isinstance(node, ast.ClassDef))]
    todo += [child for owner in classes for child in owner.body if not isinstance(child, ast.FunctionDef)]
    while todo:
        node = todo.pop()
        names = {below.attr for below in ast.walk(node) if isinstance(below, ast.Attribute)}
        names |= {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
        for child in methods:
            if child not in reached and child.name in names:
                reached.add(child)
                todo.append(child)
    return [child for child in methods if child not in reached]


def _needs(tree: ast.Module, starts: Sequence[ast.AST]) -> tuple[set[ast.stmt], tuple[str, ...]]:
    """The statements of the module that `starts` need, transitively, and names that only running it would give.

    An import or a definition is kept; an assignment is kept where its value is a literal or made of kept names alone.
    """
    bound: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _binds(statement):
            bound.setdefault(name, []).append(statement)
    kept: set[ast.stmt] = {start for start in starts if isinstance(start, ast.stmt) and start in tree.body}
    free: dict[str, None] = {}
    todo = [name for start in starts for name in _loads(start)]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for statement in bound.get(name, ()):
            if _is_constant(statement):
                if statement not in kept:
                    kept.add(statement)
                    todo += [] if _tries_import(statement) else _loads(statement)
            else:
                free[name] = None
    return kept, tuple(free)


def _is_constant(statement: ast.stmt) -> bool:
    """Whether a statement of a module only defines: imports, definitions, and assignments that read no file or flag."""
    if isinstance(statement, (ast.Import, ast.ImportFrom, *DEFINITIONS)):
        return True
    if _tries_import(statement):
        return True
    if isinstance(statement, ast.Try):
        return all(_is_constant(child) for child in (*statement.body, *(c for h in statement.handlers for c in h.body)))
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        return not any(isinstance(node, ast.Call) and not _is_plain_call(node) for node in ast.walk(statement.value))
    return False


def _tries_import(statement: ast.stmt) -> bool:
    """Whether a statement imports, or else does more than define: ends the program, prints."""
    return (
        isinstance(statement, ast.Try)
        and all(isinstance(child, (ast.Import, ast.ImportFrom)) for child in statement.body)
        and not all(_is_constant(child) for handler in statement.handlers for child in handler.body)
    )


def _is_plain_call(node: ast.Call) -> bool:
    """Whether a call at module level makes a value without side effects, by its head: torch, math, NumPy, builtins."""
    head: ast.expr = node.func
    while isinstance(head, ast.Attribute):
        head = head.value
    names = {
        "torch",
        "math",
        "np",
        "numpy",
        "nn",
        "F",
        "collections",
        "range",
        "list",
        "dict",
        "tuple",
        "set",
        "float",
        "int",
    }
    return isinstance(head, ast.Name) and head.id in names | {
        "getLogger",
        "logging",
        "namedtuple",
        "partial",
        "defaultdict",
        "deque",
        "Counter",
    }


def _binds(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.split(".")[0] for alias in statement.names)
    elif isinstance(statement, (*DEFINITIONS, ast.AsyncFunctionDef)):
        yield statement.name
    else:
        for node in _own(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node.id
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, DEFINITIONS):
                yield node.name


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below that belong to the same scope."""
    yield node
    if not isinstance(node, (*DEFINITIONS, ast.AsyncFunctionDef, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _own(child)


def _loads(node: ast.AST) -> list[str]:
    """Every name read below, annotations of functions left out."""
    names = []
    todo = [node]
    while todo:
        current = todo.pop()
        if isinstance(current, ast.Name):
            names.append(current.id)
        for field, value in ast.iter_fields(current):
            if field in ("annotation", "returns") and isinstance(current, (ast.arg, ast.FunctionDef)):
                continue
            todo += [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, ast.AST)]
    return names


def _blanked(text: str, kept: Iterable[ast.stmt], unused: Iterable[ast.stmt] = ()) -> str:
    """The text with everything but the kept statements blank, and without the annotations of functions.

    Args:
        text: of the module.
        kept: statements of it.
        unused: methods in them that are blanked as well.
    """
    lines = text.encode("utf-8").split(b"\n")
    out = [b""] * len(lines)
    for statement in sorted(kept, key=first_row):
        for row in range(first_row(statement) - 1, last_row(statement)):
            out[row] = lines[row]
    left_out = list(unused)
    tried = [statement for statement in kept if isinstance(statement, ast.Try) and _tries_import(statement)]
    otherwise = [child for statement in tried for handler in statement.handlers for child in handler.body]
    for statement in (*left_out, *otherwise):
        head = lines[first_row(statement) - 1]
        for row in range(first_row(statement) - 1, last_row(statement)):
            out[row] = b""
        # It may be all that its class has.
        out[first_row(statement) - 1] = head[: len(head) - len(head.lstrip())] + b"pass"
    spans = [
        span
        for statement in kept
        for span in _annotations(statement)
        if not any(first_row(node) <= span[0][0] <= last_row(node) for node in left_out)
    ]
    for (row, column), (end_row, end_column) in spans:
        for at in range(row - 1, end_row):
            line = out[at]
            first = (line.rfind(b"->") if column < 0 else column) if at == row - 1 else 0
            if first < 0:
                continue  # the arrow stands on another row; the annotation is left alone
            last = end_column if at == end_row - 1 else len(line)
            out[at] = line[:first] + b" " * (last - first) + line[last:]
    for statement in kept:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            out[statement.lineno - 1] = b""
    return b"\n".join(out).decode("utf-8")


def _annotations(statement: ast.stmt) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations of functions stand, in rows and bytes, with the colon before them.

    The column -1 stands for that of the last arrow in the row, which the tree does not place.
    """
    for node in ast.walk(statement):
        if not isinstance(node, ast.FunctionDef):
            continue
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
        for argument in every:
            if argument.annotation is not None:
                start = (argument.lineno, argument.col_offset + len(argument.arg.encode("utf-8")))
                yield start, (last_row(argument.annotation), argument.annotation.end_col_offset or 0)
        if node.returns is not None:
            yield (node.returns.lineno, -1), (last_row(node.returns), node.returns.end_col_offset or 0)


# -- regions of a function or of a module ------------------------------------------------------------------------------


def _regions(
    before: str,
    one: ast.Module,
    after: str,
    other: ast.Module,
    path: tuple[str, ...],
    row: int,
    rows: set[int],
    whole_loops: bool,
    blocks: bool,
    thin: bool = False,
) -> Iterator[Piece]:
    """Statements around the flagged row as functions of what they read; all of a function's where it is `thin`.

    Outer loops first, then whole blocks, of methods for an object that stands in for theirs, the bare statements last.
    """
    top, twin = (follow(one, path), follow(other, path)) if path else (one, other)
    if top is None or twin is None:
        return
    chain = list(blocks_around(top, twin, row))
    ways: list[tuple[list[ast.stmt], list[ast.stmt]]] = []
    bare: list[tuple[list[ast.stmt], list[ast.stmt]]] = []
    for index, (block, opposite) in enumerate(chain):
        covered = [i for i, node in enumerate(block) if any(first_row(node) <= r <= last_row(node) for r in rows)]
        shift = len(opposite) - len(block)
        if not covered or covered[-1] + 1 + shift <= covered[0]:
            continue
        flagged = block[covered[0] : covered[-1] + 1], opposite[covered[0] : covered[-1] + 1 + shift]
        if any(isinstance(node, (ast.For, ast.While)) for node in flagged[0]):
            ways.append(flagged)
        elif not whole_loops and path and index == len(chain) - 1:
            bare.append(flagged)
    if (path or thin) and blocks:
        outermost = chain[: 1 if path else 0]
        ways += [(_undocumented(block), _undocumented(opposite)) for block, opposite in (*outermost, *chain[1:][-1:])
                 if len(path) > 1 or thin or block is not top.body]  # fmt: skip
    for chosen, against in (*ways, *bare):
        if any(isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom)) for node in chosen):
            continue
        try:
            names = _free_names(one, chosen, top)
            more = (name for name in _free_names(other, against, twin) if not name.startswith("torchlint_"))
            names = list(dict.fromkeys([*names, *more]))  # a repair may need what the code did not
            unit = _wrapped(before, one, chosen, names)
            other_unit = _wrapped(after, other, against, names)
        except Uncut:
            continue
        place = f" of {'.'.join(path)}" if path else ""
        what = f"lines {first_row(chosen[0])} to {last_row(chosen[-1])}{place}"
        yield Piece("extracted", what, unit, other_unit, ".".join(path))


def _undocumented(block: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without a docstring."""
    first = block[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(block) > 1
    return block[1:] if documented else block


def _free_names(tree: ast.Module, chosen: Sequence[ast.stmt], around: ast.AST) -> list[str]:
    """Names that the statements read and that neither they nor definitions of the module give them, in order.

    What the function around them binds is its own, whatever Python or the module call by that name.
    """
    defined = {name for node in tree.body if _is_constant(node) for name in _binds(node)} | BUILTINS
    if isinstance(around, ast.FunctionDef):
        defined -= {node.arg for node in ast.walk(around.args) if isinstance(node, ast.arg)}
        defined -= {name for statement in around.body for name in _binds(statement)}
    inner: set[str] = set()  # bound below, in comprehensions and lambdas
    for statement in chosen:
        for node in ast.walk(statement):
            if isinstance(node, ast.arg):
                inner.add(node.arg)
            elif isinstance(node, ast.comprehension):
                inner.update(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
            elif isinstance(node, ast.ExceptHandler) and node.name:
                inner.add(node.name)
    free: dict[str, None] = {}
    bound: set[str] = set()

    def read(node: ast.AST) -> None:
        for name in _in_order(node):
            if isinstance(name.ctx, ast.Load):
                if name.id not in bound | inner | defined:
                    free[name.id] = None
            else:
                bound.add(name.id)

    for statement in chosen:
        read(statement)
    return list(free)


def _in_order(node: ast.AST) -> Iterator[ast.Name]:
    """Names below in the order of evaluation, as far as it decides what is read before it is bound."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Assign):
        yield from _in_order(node.value)
        for target in node.targets:
            yield from _in_order(target)
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name):
            yield ast.Name(node.target.id, ast.Load())
        yield from _in_order(node.value)
        yield from _in_order(node.target)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from _in_order(node.iter)
        yield from _in_order(node.target)
        for child in (*getattr(node, "body", ()), *getattr(node, "orelse", ()), *getattr(node, "ifs", ())):
            yield from _in_order(child)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _in_order(child)


_ENTRY = "flagged"


def _wrapped(text: str, tree: ast.Module, chosen: Sequence[ast.stmt], names: Sequence[str]) -> Unit:
    """A module with the statements as the body of a function whose parameters are `names`."""
    kept, free = _needs(tree, chosen)
    kept = {statement for statement in kept if statement not in chosen}
    row = first_row(chosen[0])
    last = last_row(chosen[-1])
    if row == 1 or any(
        first_row(node) <= row - 1 <= last_row(node) or row <= first_row(node) <= last
        for node in kept
        if _inside_rows(node, row - 1, last)
    ):
        raise Uncut("there is no room before the statements")
    lines = _blanked(text, kept).split("\n")
    original = text.split("\n")
    indent = len(original[row - 1]) - len(original[row - 1].lstrip())
    for at in range(row - 1, last):
        line = original[at]
        lines[at] = "    " + (line[indent:] if not line[:indent].strip() else line.lstrip())
    returned = [name for name in names if any(_rebinds(node, name) for node in chosen)]
    lines[row - 2] = f"def {_ENTRY}({', '.join(names)}):"
    tail = f"    return ({', '.join(returned)},)" if returned else "    return None"
    if last >= len(lines):
        lines.append("")
    if lines[last].strip():
        raise Uncut("there is no room after the statements")
    lines[last] = tail
    source = "\n".join(lines)
    try:
        parsed = ast.parse(source)
        compile(source, "<cut>", "exec")
    except (SyntaxError, ValueError) as error:
        raise Uncut("the statements do not stand by themselves") from error
    function = next(node for node in parsed.body if isinstance(node, ast.FunctionDef) and node.name == _ENTRY)
    return Unit(source, _ENTRY, parsed, function, None, tuple(name for name in free if name not in names))


def _inside_rows(node: ast.stmt, first: int, last: int) -> bool:
    return first_row(node) <= last and last_row(node) >= first


def _rebinds(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in _own(statement))

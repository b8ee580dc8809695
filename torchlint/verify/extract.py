"""Cutting flagged code out of its file so that it can be run: the code it needs, as it is written and as repaired.

Rows stay what they were in the file: what is left out becomes blank lines. So the row of a finding, a wait or an
exception is the row the user sees.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from torchlint.findings import Edit, Finding
from torchlint.verify.allowed import NAMES

__all__ = ["Piece", "Uncut", "Unit", "pieces", "repaired", "statement_rows"]

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
_BUILTINS = frozenset(dir(builtins))


class Uncut(Exception):
    """Code that cannot be cut out; the text says why."""


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
    one, other = _parse(before), _parse(after)
    row = finding.start.row
    path = _path(one, row)
    rows = {row, *(r for edit in edits for r in (edit.start.row, edit.end.row))}
    found = False
    for entry in _entries(one, path, row, whole_loops):
        with contextlib.suppress(Uncut):
            yield Piece(
                "in place", _called(entry, path), _whole(before, one, entry, rows), _whole(after, other, entry, rows)
            )
            found = True
    if path[-1:] not in _CONSTRUCTORS:
        reads = finding.code in _READING
        for piece in _regions(before, one, after, other, path, row, rows, whole_loops, blocks):
            if not reads or any(map(_computes, piece.before.function.body)):
                found = True
                yield piece
        seen: set[str] = set()
        levels = list(_NEEDED) if blocks else ["everything"] if finding.code in _GROWING else []
        for needed in levels:
            thinned = _thinned(before, one, after, other, path, _span(before, finding), needed)
            if thinned is not None:
                thin, thinner = thinned
                for piece in _regions(
                    thin, _parse(thin), thinner, _parse(thinner), path, row, rows, whole_loops, blocks, True
                ):
                    if reads and not any(map(_computes, piece.before.function.body)):
                        continue
                    found = True
                    if piece.before.source not in seen:
                        seen.add(piece.before.source)
                        yield replace(piece, what=f"what line {row} needs of {piece.what}{_NEEDED[needed]}")
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
# Methods of tensors and containers that only compute, besides those that are functions of torch as well.
_PLAIN_METHODS = frozenset(NAMES["torch"].split()) | frozenset(
    "view view_as reshape expand expand_as size dim numel to cpu cuda float half bfloat16 double long int bool item "
    "tolist numpy type type_as contiguous repeat masked_fill index_select new_zeros new_ones new_full new_empty "
    "new_tensor permute append extend items values keys get copy copy_ add_ mul_ sub_ div_ fill_ zero_ clamp_".split()
)
_LIVING = "forward __call__ training_step step update fit train run".split()  # what an object is made for, in order
_SPECIAL = ("__init__", "__enter__", "__exit__", "__call__", "forward", "__iter__", "__getitem__", "__post_init__")


def _entries(tree: ast.Module, path: tuple[str, ...], row: int, whole_loops: bool) -> list[tuple[str, ...]]:
    """The functions to call, the most telling first: the flagged one, and those of the file that call it.

    What stands in a constructor or at module level shows its cost in what uses it: there the flagged function comes
    last, or not at all.
    """
    setting_up = not path or path[-1:] in _CONSTRUCTORS
    callers = _callers(tree, path, row)
    looping = [caller for caller in callers if _loops(_follow(tree, caller))]
    if setting_up:
        living = [(path[0], name) for name in _LIVING] if len(path) > 1 else []
        own = [entry for entry in living if _follow(tree, entry) is not None]
        base = [(path[0], "forward")] if len(path) > 1 and not own else []  # of a class that inherits it
        chosen = [*own, *base, *looping, *callers] if not whole_loops else [*looping, *own, *base, *callers]
    elif whole_loops and not _loops(_follow(tree, path)):
        chosen = [*looping, path, *callers]
    else:
        chosen = [path, *looping, *callers]
    return list(dict.fromkeys(entry for entry in chosen if entry))[:MAX_ENTRIES]


def _loops(function: ast.AST | None) -> bool:
    return function is not None and any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(function))


def _trains(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in ast.walk(function))


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
        statement = next((node for node in tree.body if _first(node) <= row <= _end(node)), None)
        bound = set(_binds(statement)) if statement is not None else set()
        everything = [
            other
            for other, node in known.items()
            if other[-1:] not in _CONSTRUCTORS and (not bound or bound.intersection(_loads(node)))
        ]
        return sorted(everything, key=lambda other: (not _trains(known[other]), not _loops(known[other])))
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
    tree = _parse(text)
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= row <= _end(n)]
    if not around:
        return row, row
    inner = max(around, key=lambda n: (n.lineno, -_end(n)))
    body = getattr(inner, "body", None)
    return inner.lineno, max(inner.lineno, body[0].lineno - 1) if body else _end(inner)


@lru_cache(maxsize=8)  # the text as it is written is cut for each finding and each repair
def _parse(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Uncut("the file, or its repaired form, does not parse") from error


def _path(tree: ast.Module, row: int) -> tuple[str, ...]:
    """The names of the function around `row`: ("f",) or ("Class", "method"); empty at module level."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.lineno <= row <= _end(node):
            return (node.name,)
        if isinstance(node, ast.ClassDef) and node.lineno <= row <= _end(node):
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and child.lineno <= row <= _end(child):
                    return (node.name, child.name)
    return ()


def _end(node: ast.AST) -> int:
    first: int = getattr(node, "lineno", 1)
    last: int = getattr(node, "end_lineno", first)
    return last


def _first(node: ast.AST) -> int:
    """The first row of a node, its decorators included."""
    rows = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    return int(min([getattr(node, "lineno", 1), *rows]))


def _follow(tree: ast.Module, path: tuple[str, ...]) -> ast.FunctionDef | None:
    body: Sequence[ast.stmt] = tree.body
    found: ast.stmt | None = None
    for name in path:
        found = next((node for node in body if isinstance(node, _DEFINITIONS) and node.name == name), None)
        body = found.body if isinstance(found, _DEFINITIONS) else ()
    return found if isinstance(found, ast.FunctionDef) else None


# -- whole functions ---------------------------------------------------------------------------------------------------


def _whole(text: str, tree: ast.Module, path: tuple[str, ...], rows: Iterable[int] = ()) -> Unit:
    """The function with everything of its module that it needs, and the flagged statements of the module itself."""
    owner = (
        next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == path[0]), None)
        if len(path) > 1
        else None
    )
    found = _follow(tree, path)
    if found is None and (owner is None or not owner.bases):
        raise Uncut("the function is not in the repaired file")
    function = found or _INHERITED
    flagged = [n for n in tree.body if _is_setting(n) and any(_first(n) <= row <= _end(n) for row in rows)]
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
    if isinstance(statement, (ast.Import, ast.ImportFrom, *_DEFINITIONS)):
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
    elif isinstance(statement, (*_DEFINITIONS, ast.AsyncFunctionDef)):
        yield statement.name
    else:
        for node in _own(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node.id
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, _DEFINITIONS):
                yield node.name


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below that belong to the same scope."""
    yield node
    if not isinstance(node, (*_DEFINITIONS, ast.AsyncFunctionDef, ast.Lambda)):
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
    for statement in sorted(kept, key=_first):
        for row in range(_first(statement) - 1, _end(statement)):
            out[row] = lines[row]
    left_out = list(unused)
    tried = [statement for statement in kept if isinstance(statement, ast.Try) and _tries_import(statement)]
    otherwise = [child for statement in tried for handler in statement.handlers for child in handler.body]
    for statement in (*left_out, *otherwise):
        head = lines[_first(statement) - 1]
        for row in range(_first(statement) - 1, _end(statement)):
            out[row] = b""
        # It may be all that its class has.
        out[_first(statement) - 1] = head[: len(head) - len(head.lstrip())] + b"pass"
    spans = [
        span
        for statement in kept
        for span in _annotations(statement)
        if not any(_first(node) <= span[0][0] <= _end(node) for node in left_out)
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
                yield start, (_end(argument.annotation), argument.annotation.end_col_offset or 0)
        if node.returns is not None:
            yield (node.returns.lineno, -1), (_end(node.returns), node.returns.end_col_offset or 0)


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
    thinned: bool = False,
) -> Iterator[Piece]:
    """Statements around the flagged row as functions of what they read; all of a function's where it is `thinned`.

    Outer loops first, then whole blocks, of methods for an object that stands in for theirs, the bare statements last.
    """
    top, twin = (_follow(one, path), _follow(other, path)) if path else (one, other)
    if top is None or twin is None:
        return
    chain = list(_blocks(top, twin, row))
    ways: list[tuple[list[ast.stmt], list[ast.stmt]]] = []
    bare: list[tuple[list[ast.stmt], list[ast.stmt]]] = []
    for index, (block, opposite) in enumerate(chain):
        covered = [i for i, node in enumerate(block) if any(_first(node) <= r <= _end(node) for r in rows)]
        shift = len(opposite) - len(block)
        if not covered or covered[-1] + 1 + shift <= covered[0]:
            continue
        flagged = block[covered[0] : covered[-1] + 1], opposite[covered[0] : covered[-1] + 1 + shift]
        if any(isinstance(node, (ast.For, ast.While)) for node in flagged[0]):
            ways.append(flagged)
        elif not whole_loops and path and index == len(chain) - 1:
            bare.append(flagged)
    if (path or thinned) and blocks:
        outermost = chain[: 1 if path else 0]
        ways += [(_undocumented(block), _undocumented(opposite)) for block, opposite in (*outermost, *chain[1:][-1:])
                 if len(path) > 1 or thinned or block is not top.body]  # fmt: skip
    for chosen, against in (*ways, *bare):
        if any(isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) for node in chosen):
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
        what = f"lines {_first(chosen[0])} to {_end(chosen[-1])}{place}"
        yield Piece("extracted", what, unit, other_unit, ".".join(path))


_READING = ("TL101", "TL102")  # what is read must be computed: alone there is nothing to wait for
_GROWING = ("TL601", "TL602", "TL605")  # what is kept grows by what a step computes, and by that alone
_NEEDED = {
    "everything": "",
    "computed": ", from what torch computes alone",
    "nothing": ", its own expression",
}


def _thinned(
    before: str, one: ast.Module, after: str, other: ast.Module, path: tuple[str, ...], span: _Span, level: str
) -> tuple[str, str] | None:
    """Both texts without the statements of the function that the flagged one needs nothing of, in the same rows.

    Kept is what gives, or writes to, a name that the flagged statement reads, and what that needs in turn. None where
    nothing can go, or where nothing would be left but a value that is read: what it waits for is not there.

    Args:
        span: of the flagged expression.
        level: of `_NEEDED`. Of what gives those names only what torch, NumPy or Python computes may be kept, so that
            the results of other calls are given, or nothing; then the flagged expression stands for its statement.
    """
    row, plain = span[0][0], level != "everything"
    top, twin = (_follow(one, path), _follow(other, path)) if path else (one, other)
    if top is None or twin is None:
        return None
    chain = list(_blocks(top, twin, row))[0 if path else 1 :]  # what a module binds is given
    if not chain:
        return None
    covered = [next(i for i, node in enumerate(block) if _first(node) <= row <= _end(node)) for block, _ in chain]
    around = [block[at] for (block, _), at in zip(chain, covered, strict=True)]
    leaf = around[-1]
    judged = isinstance(leaf, ast.If)  # its test is flagged: what follows from it is another matter
    needed = set().union(*(_reads(part) for node in around[: None if judged else -1] for part in _head_of(node)))
    alone = _flagged_in(leaf, span) if plain and isinstance(leaf, _SIMPLE) else None
    needed |= set() if judged else _reads(alone[0] if alone else leaf)
    modules = _modules(one)
    others = [
        statement
        for depth, ((block, _), at) in enumerate(zip(chain, covered, strict=True))
        for index, statement in enumerate(block)
        if index < at or (index > at and any(isinstance(node, (ast.For, ast.While)) for node in around[:depth]))
    ]
    kept = {one for one in others if level == "everything" and _trains(one)}  # after its backward a graph keeps less
    needed = needed.union(*map(_reads, kept))
    growing = level != "nothing"
    while growing:
        growing = False
        for statement in others:
            if statement not in kept and _writes(statement) & needed and not (plain and _calls_out(statement, modules)):
                kept.add(statement)
                needed |= _reads(statement)
                growing = True
    if not kept and not any(map(_computes, _head_of(leaf) if judged else [alone[0] if alone else leaf])):
        return None
    returns = not any(isinstance(node, (ast.For, ast.While)) for node in around)
    texts = []
    for text, side in ((before, 0), (after, 1)):
        dropped: list[ast.stmt] = []
        for pair, at in zip(chain, covered, strict=True):
            shift = len(pair[1]) - len(pair[0])
            for index, statement in enumerate(pair[0]):
                if index == at:
                    continue
                place = index + shift if side and index > at else index
                opposite = pair[side][place] if 0 <= place < len(pair[side]) else None
                if type(opposite) is not type(statement):
                    return None  # the repair changes more than the flagged statement
                if opposite is not None and statement not in kept and not isinstance(statement, ast.Pass):
                    dropped.append(opposite)
            flagged = pair[side][at] if judged and pair is chain[-1] and at < len(pair[side]) else None
            if isinstance(flagged, ast.If):
                dropped += [*flagged.body, *flagged.orelse]
        lines = text.split("\n")
        for statement in dropped:
            _pass_over(lines, statement)
        if alone is not None:
            at = covered[-1]
            holder = chain[-1][side]
            found = _along(holder[at], alone[1]) if at < len(holder) and type(holder[at]) is type(leaf) else None
            if found is None or (side and ast.dump(found) == ast.dump(alone[0])):
                return None  # the repair is not in the expression
            _keep_alone(lines, text, holder[at], found, returns)
        texts.append("\n".join(lines))
    return (texts[0], texts[1]) if texts[0] != before and all(map(_stands, texts)) else None


def _modules(tree: ast.Module) -> frozenset[str]:
    """Names of modules that only compute, and of what is imported from them."""
    found = {
        alias.asname or alias.name.split(".")[0]
        for statement in tree.body
        for alias in (statement.names if isinstance(statement, (ast.Import, ast.ImportFrom)) else ())
        if (getattr(statement, "module", None) or alias.name).split(".")[0] in ("torch", "numpy", "math")
    }
    return frozenset(found)


def _calls_out(statement: ast.stmt, modules: frozenset[str]) -> bool:
    """Whether it calls something that is neither torch's, NumPy's or Python's nor a method of a tensor."""
    for node in ast.walk(statement):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            if node.func.id not in _BUILTINS | modules:
                return True
            continue
        head = node.func
        while isinstance(head, ast.Attribute):
            head = head.value
        if isinstance(head, ast.Name) and head.id in modules:
            continue
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _PLAIN_METHODS:
            return True
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "self":
            return True
    return False


_COMPUTING = (ast.BinOp, ast.Compare, ast.Subscript, ast.For, ast.While)


def _computes(node: ast.AST) -> bool:
    """Whether it computes something apart from what it reads: there is an operator, a loop, or a call in a call."""
    calls = [below for below in ast.walk(node) if isinstance(below, ast.Call)]
    return len(calls) > 1 or any(isinstance(below, _COMPUTING) for below in ast.walk(node))


_Span = tuple[tuple[int, int], tuple[int, int]]  # rows and bytes in them
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)


def _span(text: str, finding: Finding) -> _Span:
    """Where the finding stands."""
    lines = text.split("\n")

    def at(row: int, column: int) -> tuple[int, int]:
        return row, len(lines[row - 1][: column - 1].encode("utf-8"))

    return at(finding.start.row, finding.start.column), at(finding.end.row, finding.end.column)


def _flagged_in(statement: ast.stmt, span: _Span) -> tuple[ast.expr, list[tuple[str, int]]] | None:
    """The innermost expression of a statement around a span, with the fields that lead to it; None for its whole value.

    What stands in a comprehension or in a lambda reads what that binds, and does not stand alone.
    """
    node: ast.AST = statement
    path: list[tuple[str, int]] = []
    while True:
        inner = next(
            (
                (name, index, child)
                for name, value in ast.iter_fields(node)
                for index, child in enumerate(value if isinstance(value, list) else [value])
                if isinstance(child, (ast.expr, ast.keyword)) and _covers(child, span)
            ),
            None,
        )
        if inner is None or isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.Lambda)):
            break
        path.append(inner[:2])
        node = inner[2]
    if isinstance(node, ast.keyword):
        path.append(("value", 0))
        node = node.value
    stores = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
    return (node, path) if isinstance(node, ast.expr) and len(path) > 1 and not stores else None


def _covers(node: ast.expr | ast.keyword, span: _Span) -> bool:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= span[0] and span[1] <= end


def _along(node: ast.AST, path: Sequence[tuple[str, int]]) -> ast.expr | None:
    """What the fields lead to in another tree."""
    for name, index in path:
        value = getattr(node, name, None)
        children = value if isinstance(value, list) else [value]
        child = children[index] if index < len(children) else None
        if not isinstance(child, ast.AST):
            return None
        node = child
    return node if isinstance(node, ast.expr) else None


def _keep_alone(lines: list[str], text: str, statement: ast.stmt, kept: ast.expr, returns: bool) -> None:
    """Leave of a statement one of its expressions, in its rows, as what is returned where that can be."""
    segment = ast.get_source_segment(text, kept) or "None"
    head = lines[_first(statement) - 1]
    indent = head[: len(head) - len(head.lstrip())]
    for row in range(_first(statement) - 1, _end(statement)):
        lines[row] = ""
    rows = f"{indent}{'return ' if returns else ''}({segment})".split("\n")
    lines[kept.lineno - 1 : kept.lineno - 1 + len(rows)] = rows


def _pass_over(lines: list[str], statement: ast.stmt) -> None:
    head = lines[_first(statement) - 1]
    for row in range(_first(statement) - 1, _end(statement)):
        lines[row] = ""
    lines[_first(statement) - 1] = head[: len(head) - len(head.lstrip())] + "pass"


def _stands(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _head_of(node: ast.stmt) -> Iterator[ast.AST]:
    """What a statement with a body evaluates before it."""
    for name in ("test", "iter", "items"):
        part = getattr(node, name, ())
        yield from part if isinstance(part, (list, tuple)) else (part,)


def _dotted(node: ast.AST) -> str:
    """A name, or an attribute of one: `x`, `self.total`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _reads(node: ast.AST) -> set[str]:
    """Names that are read below, and attributes of names."""
    return {
        _dotted(below)
        for below in ast.walk(node)
        if isinstance(below, (ast.Name, ast.Attribute)) and isinstance(below.ctx, ast.Load)
    } - {"", "self"}


def _writes(statement: ast.stmt) -> set[str]:
    """Names and attributes that a statement binds, or whose method it calls for nothing but what that writes."""
    found: set[str] = set()
    for node in ast.walk(statement):
        target: ast.AST | None = None
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            target = node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            target = node.value.func.value if isinstance(node.value.func, ast.Attribute) else None
        while isinstance(target, (ast.Subscript, ast.Attribute)) and not _dotted(target):
            target = target.value
        if target is not None:
            found.add(_dotted(target))
            found.add(_dotted(target).partition(".")[0])
    return found - {"", "self"}


def _undocumented(block: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without a docstring."""
    first = block[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(block) > 1
    return block[1:] if documented else block


def _blocks(top: ast.AST, twin: ast.AST, row: int) -> Iterator[tuple[list[ast.stmt], list[ast.stmt]]]:
    """The statement lists around `row`, the outermost first, each with its counterpart in the repaired tree."""
    for field in ("body", "orelse", "finalbody", "handlers"):
        block, opposite = getattr(top, field, None), getattr(twin, field, None)
        if not isinstance(block, list) or not isinstance(opposite, list) or not block:
            continue
        at = next((i for i, node in enumerate(block) if _first(node) <= row <= _end(node)), None)
        if at is None:
            continue
        if isinstance(block[0], ast.stmt):
            yield block, opposite
        # The counterpart of the statement at hand is at the same place, or shifted by what the repair inserted before.
        shifts = [0, len(opposite) - len(block)]
        for shift in dict.fromkeys(shifts):
            if 0 <= at + shift < len(opposite) and type(opposite[at + shift]) is type(block[at]):
                yield from _blocks(block[at], opposite[at + shift], row)
                break
        return


def _free_names(tree: ast.Module, chosen: Sequence[ast.stmt], around: ast.AST) -> list[str]:
    """Names that the statements read and that neither they nor definitions of the module give them, in order.

    What the function around them binds is its own, whatever Python or the module call by that name.
    """
    defined = {name for node in tree.body if _is_constant(node) for name in _binds(node)} | _BUILTINS
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
    row = _first(chosen[0])
    if row == 1 or any(_first(node) <= row - 1 <= _end(node) or _first(node) >= row and _first(node) <= _end(chosen[-1])
                       for node in kept if _inside_rows(node, row - 1, _end(chosen[-1]))):  # fmt: skip
        raise Uncut("there is no room before the statements")
    lines = _blanked(text, kept).split("\n")
    original = text.split("\n")
    indent = len(original[row - 1]) - len(original[row - 1].lstrip())
    for at in range(row - 1, _end(chosen[-1])):
        line = original[at]
        lines[at] = "    " + (line[indent:] if not line[:indent].strip() else line.lstrip())
    returned = [name for name in names if any(_rebinds(node, name) for node in chosen)]
    lines[row - 2] = f"def {_ENTRY}({', '.join(names)}):"
    at = _end(chosen[-1])
    tail = f"    return ({', '.join(returned)},)" if returned else "    return None"
    if at >= len(lines):
        lines.append("")
    if lines[at].strip():
        raise Uncut("there is no room after the statements")
    lines[at] = tail
    source = "\n".join(lines)
    try:
        parsed = ast.parse(source)
        compile(source, "<cut>", "exec")
    except (SyntaxError, ValueError) as error:
        raise Uncut("the statements do not stand by themselves") from error
    function = next(node for node in parsed.body if isinstance(node, ast.FunctionDef) and node.name == _ENTRY)
    return Unit(source, _ENTRY, parsed, function, None, tuple(name for name in free if name not in names))


def _inside_rows(node: ast.stmt, first: int, last: int) -> bool:
    return _first(node) <= last and _end(node) >= first


def _rebinds(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in _own(statement))

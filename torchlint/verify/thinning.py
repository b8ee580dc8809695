"""Leaving of a function what one line of it needs: a region that needs less of what is not there can be measured."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.findings import Finding
from torchlint.verify.allowed import NAMES
from torchlint.verify.trees import BUILTINS, Uncut, blocks_around, first_row, follow, last_row, parse, trains

# Methods of tensors and containers that only compute, besides those that are functions of torch as well.
_PLAIN_METHODS = frozenset(NAMES["torch"].split()) | frozenset(
    "view view_as reshape expand expand_as size dim numel to cpu cuda float half bfloat16 double long int bool item "
    "tolist numpy type type_as contiguous repeat masked_fill index_select new_zeros new_ones new_full new_empty "
    "new_tensor permute append extend items values keys get copy copy_ add_ mul_ sub_ div_ fill_ zero_ clamp_".split()
)
READING = ("TL101", "TL102")  # what is read must be computed: alone there is nothing to wait for
GROWING = ("TL601", "TL602", "TL605")  # what is kept grows by what a step computes, and by that alone
_LOOPS = (ast.For, ast.While)
NEEDED = {
    "everything": "",
    "computed": ", from what torch computes alone",
    "nothing": ", its own expression",
}


def thinned(
    before: str, one: ast.Module, after: str, other: ast.Module, path: tuple[str, ...], span: Span, level: str
) -> tuple[str, str] | None:
    """Both texts without the statements of the function that the flagged one needs nothing of, in the same rows.

    Kept is what gives, or writes to, a name that the flagged statement reads, and what that needs in turn. None where
    nothing can go, or where nothing would be left but a value that is read: what it waits for is not there.

    Args:
        span: of the flagged expression.
        level: of `NEEDED`. Of what gives those names only what torch, NumPy or Python computes may be kept, so that
            the results of other calls are given, or nothing; then the flagged expression stands for its statement.
    """
    way = _way_to(one, other, path, span[0][0])
    if way is None:
        return None
    alone = _flagged_in(way.leaf, span) if level != "everything" and isinstance(way.leaf, _SIMPLE) else None
    if way.is_test:
        shown = list(_head_of(way.leaf))
    else:
        shown = [alone[0] if alone is not None else way.leaf]
    kept = _needed(shown, way, level, _modules(one))
    if not kept and not any(map(computes, shown)):
        return None
    texts = []
    for side, text in enumerate((before, after)):
        dropped = _dropped(way, kept, side)
        if dropped is None:
            return None
        lines = text.split("\n")
        for statement in dropped:
            _pass_over(lines, statement)
        if alone is not None and not _leave_alone(lines, text, way, side, alone):
            return None
        texts.append("\n".join(lines))
    return (texts[0], texts[1]) if texts[0] != before and all(map(_stands, texts)) else None


@dataclass(frozen=True, slots=True)
class _Way:
    """The way to the flagged statement, the outermost block first.

    Attributes:
        blocks: the statement lists around it, each as it is written and as it is in the repaired tree.
        places: of the statement in each that leads on; the last is that of the flagged one.
    """

    blocks: list[tuple[list[ast.stmt], list[ast.stmt]]]
    places: list[int]

    @property
    def around(self) -> list[ast.stmt]:
        """The statements that lead on, and the flagged one."""
        return [block[place] for (block, _), place in zip(self.blocks, self.places, strict=True)]

    @property
    def leaf(self) -> ast.stmt:
        return self.blocks[-1][0][self.places[-1]]

    @property
    def is_test(self) -> bool:
        """Whether the test of an `if` is flagged: what follows from it is another matter."""
        return isinstance(self.leaf, ast.If)

    def others(self) -> Iterator[ast.stmt]:
        """The statements that run before the flagged one, in the rounds before it too where a loop is around."""
        looped = False
        for (block, _), place, leading in zip(self.blocks, self.places, self.around, strict=True):
            yield from block[:place]
            if looped:
                yield from block[place + 1 :]
            looped = looped or isinstance(leading, _LOOPS)


def _way_to(one: ast.Module, other: ast.Module, path: tuple[str, ...], row: int) -> _Way | None:
    """The way to the statement in a row; None where it stands in no function, and in no block at module level."""
    top, twin = (follow(one, path), follow(other, path)) if path else (one, other)
    if top is None or twin is None:
        return None
    blocks = list(blocks_around(top, twin, row))[0 if path else 1 :]  # what a module binds is given
    if not blocks:
        return None
    places = [
        next(i for i, node in enumerate(block) if first_row(node) <= row <= last_row(node)) for block, _ in blocks
    ]
    return _Way(blocks, places)


def _needed(shown: Sequence[ast.AST], way: _Way, level: str, modules: frozenset[str]) -> set[ast.stmt]:
    """The statements on the way that what is shown needs, and what these need in turn."""
    others, leading = list(way.others()), way.around[:-1]
    needed = set().union(*map(_reads, [*shown, *(part for node in leading for part in _head_of(node))]))
    kept = {one for one in others if level == "everything" and trains(one)}  # after its backward a graph keeps less
    needed = needed.union(*map(_reads, kept))
    growing = level != "nothing"
    while growing:
        growing = False
        for statement in others:
            if statement in kept or not _writes(statement) & needed:
                continue
            if level == "everything" or not _calls_out(statement, modules):
                kept.add(statement)
                needed |= _reads(statement)
                growing = True
    return kept


def _dropped(way: _Way, kept: set[ast.stmt], side: int) -> list[ast.stmt] | None:
    """What goes of the code as it is written (side 0) or repaired (1); None where the repair changes other statements.

    What the repair inserted, or took out, shifts the statements that follow.
    """
    dropped: list[ast.stmt] = []
    for pair, at in zip(way.blocks, way.places, strict=True):
        shift = len(pair[1]) - len(pair[0])
        for index, statement in enumerate(pair[0]):
            if index == at:
                continue
            place = index + shift if side and index > at else index
            opposite = pair[side][place] if 0 <= place < len(pair[side]) else None
            if type(opposite) is not type(statement):
                return None
            if opposite is not None and statement not in kept and not isinstance(statement, ast.Pass):
                dropped.append(opposite)
    block, at = way.blocks[-1][side], way.places[-1]
    flagged = block[at] if way.is_test and at < len(block) else None
    if isinstance(flagged, ast.If):
        dropped += [*flagged.body, *flagged.orelse]
    return dropped


def _leave_alone(
    lines: list[str], text: str, way: _Way, side: int, alone: tuple[ast.expr, list[tuple[str, int]]]
) -> bool:
    """Leave of the flagged statement the flagged expression; False where the repair is not in it."""
    expression, fields = alone
    block, at = way.blocks[-1][side], way.places[-1]
    found = _along(block[at], fields) if at < len(block) and type(block[at]) is type(way.leaf) else None
    if found is None or (side and ast.dump(found) == ast.dump(expression)):
        return False
    returns = not any(isinstance(node, _LOOPS) for node in way.around)
    _keep_alone(lines, text, block[at], found, returns)
    return True


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
            if node.func.id not in BUILTINS | modules:
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


_COMPUTING = (ast.BinOp, ast.Compare, ast.Subscript, *_LOOPS)


def computes(node: ast.AST) -> bool:
    """Whether it computes something apart from what it reads: there is an operator, a loop, or a call in a call."""
    calls = [below for below in ast.walk(node) if isinstance(below, ast.Call)]
    return len(calls) > 1 or any(isinstance(below, _COMPUTING) for below in ast.walk(node))


Span = tuple[tuple[int, int], tuple[int, int]]  # rows and bytes in them
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)


def span_of(text: str, finding: Finding) -> Span:
    """Where the finding stands."""
    lines = text.split("\n")

    def at(row: int, column: int) -> tuple[int, int]:
        return row, len(lines[row - 1][: column - 1].encode("utf-8"))

    return at(finding.start.row, finding.start.column), at(finding.end.row, finding.end.column)


def _flagged_in(statement: ast.stmt, span: Span) -> tuple[ast.expr, list[tuple[str, int]]] | None:
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


def _covers(node: ast.expr | ast.keyword, span: Span) -> bool:
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
    indent = _blank(lines, statement)
    rows = f"{indent}{'return ' if returns else ''}({segment})".split("\n")
    lines[kept.lineno - 1 : kept.lineno - 1 + len(rows)] = rows


def _pass_over(lines: list[str], statement: ast.stmt) -> None:
    lines[first_row(statement) - 1] = _blank(lines, statement) + "pass"


def _blank(lines: list[str], statement: ast.stmt) -> str:
    """Empty the rows of a statement; how far it was indented."""
    head = lines[first_row(statement) - 1]
    for row in range(first_row(statement) - 1, last_row(statement)):
        lines[row] = ""
    return head[: len(head) - len(head.lstrip())]


def _stands(text: str) -> bool:
    try:
        parse(text)
    except Uncut:
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

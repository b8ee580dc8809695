"""The statements of a file's module, told apart by CPython's own parser: what each binds, and which names it uses.

So the part of a program that some definitions hang on is found without reading any of it (`torchlint.engine.relint`).
Names are looked for in the whole of a statement, whatever they are there; what is found is more than is used, not less.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from torchlint.source.modules import Modules, Place
from torchlint.source.parse import parse
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["Named", "Piece", "Pieces", "Statement", "UnclearError", "outline", "reduced", "statements"]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_MOST_PARTS = 20  # of a dotted name
_NAMES = re.compile(r"[^\W\d][\w.]*")

# The names that a statement binds, its digest, its first and its last row.
Statement = tuple[tuple[str, ...], str, int, int]
Named = tuple[int, str]  # a file and a name that its module binds


@dataclass(frozen=True)
class Piece:
    """A statement of a module: its rows, and the names in it. `links` are the names that its imports stand for."""

    first: int
    last: int
    binds: frozenset[str]
    uses: frozenset[str]  # with the attributes that follow, as far as they are names: `nn.Linear`
    links: Mapping[str, tuple[int, str]]  # by the name that is bound: the dots before, and what is imported
    stars: tuple[tuple[int, str], ...]
    is_definition: bool
    runs: bool  # it does something where it stands: all but plain definitions


@functools.lru_cache(maxsize=512)
def outline(text: str) -> tuple[Piece, ...] | None:
    """The statements of a module, in order; None where CPython cannot parse it."""
    body = _parsed(text)
    if body is None:
        return None
    return tuple(map(_piece, body))


def statements(text: str) -> list[Statement]:
    """The statements of a module, in order, without what they use; none where CPython cannot parse it."""
    lines = text.split("\n")
    found: list[Statement] = []
    for statement in _parsed(text) or ():
        if isinstance(statement, _DEFINITIONS):
            bound = [statement.name]
        else:
            names = _Names()
            for node in ast.walk(statement):
                names.add(node)
            bound = sorted(names.bound | names.links.keys())
        first, last = _rows(statement)
        found.append((tuple(bound), _digest(lines, first, last), first, last))
    return found


def _parsed(text: str) -> list[ast.stmt] | None:
    if "\r" in text.replace("\r\n", ""):
        return None  # rows are counted by line feeds here
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _rows(statement: ast.stmt) -> tuple[int, int]:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    return first, statement.end_lineno or statement.lineno


def _digest(lines: list[str], first: int, last: int) -> str:
    text = "\n".join(lines[first - 1 : last])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _piece(statement: ast.stmt) -> Piece:
    found = _Names()
    for node in ast.walk(statement):
        found.add(node)
    is_definition = isinstance(statement, _DEFINITIONS)
    bound = {statement.name} if isinstance(statement, _DEFINITIONS) else found.bound | found.links.keys()
    decorated = bool(getattr(statement, "decorator_list", ()))
    runs = not is_definition or decorated or any(map(_calls, _heads(statement)))
    first, last = _rows(statement)
    return Piece(
        first, last, frozenset(bound), frozenset(found.used), found.links, tuple(found.stars), is_definition, runs
    )


def _heads(statement: ast.stmt) -> Iterable[ast.expr]:
    """What a definition evaluates where it stands, its body left aside."""
    if isinstance(statement, ast.ClassDef):
        return [*statement.bases, *(keyword.value for keyword in statement.keywords)]
    arguments = getattr(statement, "args", None)
    return [*arguments.defaults, *filter(None, arguments.kw_defaults)] if isinstance(arguments, ast.arguments) else []


def _calls(expression: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(expression))


@dataclass
class _Names:
    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    links: dict[str, tuple[int, str]] = field(default_factory=dict)
    stars: list[tuple[int, str]] = field(default_factory=list)

    def add(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            (self.used if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)
        elif isinstance(node, ast.Attribute):
            parts, base = [node.attr], node.value
            while isinstance(base, ast.Attribute):
                parts.append(base.attr)
                base = base.value
            if isinstance(base, ast.Name):
                self.used.add(".".join([base.id, *reversed(parts)]))
        elif isinstance(node, _DEFINITIONS):
            self.bound.add(node.name)
            self._annotation(getattr(node, "returns", None))
        elif isinstance(node, (ast.arg, ast.AnnAssign)):
            self._annotation(node.annotation)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node.value.replace(".", "_").isidentifier():
                self.used.add(node.value)  # an annotation, perhaps
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".", 1)[0]
                self.links[alias.asname or top] = (0, alias.name if alias.asname else top)
                self.used.add(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    self.stars.append((node.level, node.module or ""))
                else:
                    whole = ".".join(part for part in (node.module, alias.name) if part)
                    self.links[alias.asname or alias.name] = (node.level, whole)

    def _annotation(self, annotation: ast.expr | None) -> None:
        """What an annotation names in quotes."""
        for node in ast.walk(annotation) if annotation is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.used.update(_NAMES.findall(node.value))


class UnclearError(Exception):
    """A part of a program cannot be told from the rest."""


def _is_readable(text: str) -> bool:
    """Whether a file is read that CPython's parser does not take as it is."""
    try:
        parse(SourceFile.from_text(text, ""))
    except (UnreadableError, RecursionError):
        return False
    return True


class Pieces:
    """The statements of the files of a program, and which of them hang on which."""

    def __init__(self, text_of: Callable[[int], str], modules: Modules) -> None:
        self._text_of = text_of
        self._modules = modules
        self._known: dict[int, tuple[Piece, ...]] = {}
        self._bound: dict[int, dict[str, list[int]]] = {}
        self._meant: dict[tuple[int, str], frozenset[Named]] = {}

    def of(self, number: int) -> tuple[Piece, ...]:
        """The statements of a file; none where it cannot be read. Raises UnclearError where they are not told apart."""
        pieces = self._known.get(number)
        if pieces is None:
            text = self._text_of(number)
            pieces = outline(text)
            if pieces is None and _is_readable(text):
                raise UnclearError
            self._known[number] = pieces = pieces or ()
        return pieces

    def can_be_read(self, number: int) -> bool:
        """Whether a file can be read. Raises UnclearError as `of` does."""
        return bool(self.of(number)) or outline(self._text_of(number)) is not None

    def binding(self, number: int, name: str) -> list[int]:
        """Which statements of a file may bind a name: those that do, and those that import all that is somewhere."""
        bound = self._bound.get(number)
        if bound is None:
            bound = self._bound[number] = defaultdict(list)
            for index, piece in enumerate(self.of(number)):
                for one in (*piece.binds, *("*" if piece.stars else ())):
                    bound[one].append(index)
        return bound.get(name, []) + bound.get("*", [])

    def importing(self, number: int) -> Iterator[int]:
        """The statements of a file by which its module imports something."""
        for index, piece in enumerate(self.of(number)):
            if (piece.links or piece.stars) and not piece.is_definition:
                yield index

    def meant(self, number: int, name: str) -> frozenset[Named]:
        """What a dotted name in a file may mean: the names it stands for there, and wherever imports lead on, though
        nothing there may have that name."""
        known = self._meant.get((number, name))
        if known is None:
            found: set[Named] = set()
            seen = {(number, name)}
            todo = [(number, name)]
            while todo:
                at, dotted = todo.pop()
                head, _, rest = dotted.partition(".")
                where = self.binding(at, head)
                if where or (at, dotted) != (number, name):  # an edit may have taken from a file what others import
                    found.add((at, head))
                for piece in (self.of(at)[index] for index in where):
                    further = [*self._linked(at, piece, head, rest), *self._starred(at, piece, dotted)]
                    # A module that is not there may stand for itself: `from .x import x` in a package without it.
                    further = [one for one in further if one not in seen and one[1].count(".") < _MOST_PARTS]
                    seen.update(further)
                    todo += further
            known = self._meant[number, name] = frozenset(found)
        return known

    def _linked(self, number: int, piece: Piece, head: str, rest: str) -> Iterator[Named]:
        """Where an import of a statement leads for a name that begins with what the import binds."""
        if head in piece.links:
            level, what = piece.links[head]
            found = self._found(number, level, f"{what}.{rest}" if rest else what)
            if found is not None and found[1]:
                yield self._modules.numbers[found[0]], ".".join(found[1])
            elif found is not None and found[0][:-1] in self._modules.numbers:  # the package may bind its module's name
                package = self._modules.numbers[found[0][:-1]]
                if package != number:
                    yield package, found[0][-1]

    def _starred(self, number: int, piece: Piece, name: str) -> Iterator[Named]:
        """Where a name may come from by the imports of all that some modules hold."""
        for level, module in piece.stars:
            found = self._found(number, level, module)
            if found is not None and not found[1]:
                yield self._modules.numbers[found[0]], name

    def _found(self, number: int, level: int, name: str) -> tuple[Place, tuple[str, ...]] | None:
        asking = self._modules.places[number]
        return self._modules.relative(level, name, asking) if level else self._modules.absolute(name, asking)

    def used_by(self, number: int, index: int) -> Iterable[Named]:
        """What a statement may use: names of its own file and of others."""
        piece = self.of(number)[index]
        for name in piece.uses:
            yield from self.meant(number, name)
            head, _, rest = name.partition(".")
            for other in self._linked(number, piece, head, rest):  # it imports what it uses
                yield from self.meant(*other)
        for head in piece.links:
            for other in self._linked(number, piece, head, ""):
                yield from self.meant(*other)

    def below(self, whole: Collection[int], some: Iterable[Named]) -> dict[int, set[int]]:
        """All that some files and definitions hang on, as statements by file. The name "" means what a module runs."""
        found: dict[int, set[int]] = {number: set(range(len(self.of(number)))) for number in whole}
        todo = [(number, index) for number, indices in found.items() for index in indices]

        def take(number: int, indices: Iterable[int]) -> None:
            have = found.setdefault(number, set())
            todo.extend((number, index) for index in indices if index not in have)
            have.update(indices)

        for number, name in some:
            running = [index for index, piece in enumerate(self.of(number)) if piece.runs]
            take(number, self.binding(number, name) if name else running)
        while todo:
            number, index = todo.pop()
            piece = self.of(number)[index]
            if number not in whole and piece.links and not piece.is_definition:
                continue  # of what it imports, that which is used is found by its name
            for other, name in self.used_by(number, index):
                take(other, self.binding(other, name))
            if not piece.is_definition:
                take(number, self._filling(number, piece.binds))
        return found

    def _filling(self, number: int, names: frozenset[str]) -> Iterator[int]:
        """The statements that may change what names of their file hold, themselves or by a function there."""
        pieces = self.of(number)
        for index, piece in enumerate(pieces):
            called = (pieces[inner] for name in piece.uses for inner in self.binding(number, name))
            if piece.runs and not piece.links and any(names & one.uses for one in (piece, *called)):
                yield index

    def above(self, named: Iterable[Named], importers: Mapping[int, Collection[int]]) -> set[Named]:
        """All that hangs on some names, in any file; `importers` are the files that may import a file."""
        found = set(named)
        todo = list(found)
        while todo:
            number, name = todo.pop()
            for other in {number, *importers.get(number, ())}:
                for index, piece in enumerate(self.of(other)):
                    if name not in piece.binds and (number, name) in self.used_by(other, index):
                        for bound in piece.binds or {""}:
                            if (other, bound) not in found:
                                found.add((other, bound))
                                todo.append((other, bound))
        return found


def reduced(text: str, pieces: tuple[Piece, ...], kept: Collection[int]) -> str:
    """The text with some of its statements only, and its imports, on their own rows."""
    lines = text.split("\n")
    left: list[str] = []
    for index, piece in enumerate(pieces):
        if index in kept or (not piece.is_definition and (piece.links or piece.stars)):
            left += [""] * (piece.first - len(left) - 1)
            left += lines[len(left) : piece.last]
    return "\n".join([*left, ""])

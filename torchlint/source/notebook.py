"""Jupyter notebooks: their code cells as one Python module, and a way back into the file.

A notebook is JSON. Here it is read with the place of every piece of every cell's source, so that an edit replaces those
pieces and nothing else: indentation, the order of keys, outputs and the final newline stay byte for byte.

The module is the code cells one below the other. Magics and shell lines (`%time`, `!ls`, `x = !ls`, `torch.cat?`) are
masked row by row; cells of other languages, be it by a `%%` line or by their metadata, are left out. A cell that is
indented as a whole is dedented, as IPython does. Cells are told apart by their position, from 1, among all cells: their
ids may be missing, odd or doubled, and serve where something is to be known again.
"""

from __future__ import annotations

import ast
import bisect
import codecs
import functools
import json
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torchlint.findings import Edit, Position
from torchlint.source import shape
from torchlint.source.scan import scan
from torchlint.source.stack import call_deep
from torchlint.source.text import SourceFile, UnreadableError

__all__ = ["Cell", "Notebook", "View", "is_notebook", "masked"]


def is_notebook(filename: str) -> bool:
    """Whether a file of this name is a notebook."""
    return filename.endswith(".ipynb")


@dataclass(frozen=True, slots=True)
class _Literals:
    """Where the source of a cell stands in the JSON: one string, or a list, `start`, of pieces that are joined."""

    is_list: bool
    start: int
    pieces: tuple[tuple[str, int, int], ...]  # (text, offset of the literal, end of the literal)


@dataclass(frozen=True)
class Cell:
    """A code cell in Python.

    `source` holds its text, as it stands in the file but for a newline at its end, which is added where it is missing
    (`padded`). `code` is the same without `indent`, by which the cell as a whole is indented, and with what is no
    Python masked: rows are the same, columns where nothing is masked but for the indentation.
    """

    number: int  # from 1, among all cells
    source: SourceFile
    code: SourceFile
    padded: bool
    indent: str = ""
    identity: str = ""  # the id that nbformat 4.5 gives it
    literals: _Literals | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_text(
        cls, text: str, path: str, number: int, literals: _Literals | None = None, identity: str = ""
    ) -> Cell | None:
        """The cell with this text; none where its first line says that it is in another language.

        Raises UnreadableError, with the row in the cell, for what can be no source code.
        """
        padded = not text.endswith(("\n", "\r"))
        written = f"{text}\n" if padded else text
        plain = _NEWLINE.sub("\n", written)
        for match in _UNREADABLE.finditer(plain):
            what = "null bytes" if match.group() == "\0" else "lone surrogates"
            raise UnreadableError(f"source code cannot contain {what}", plain.count("\n", 0, match.start()) + 1)
        leading = _LEADING.match(plain)
        indent = leading["indent"] if leading is not None else ""
        code = re.sub(f"^{indent}", "", plain, flags=re.MULTILINE) if indent else plain
        magic = _CELL_MAGIC.match(code)
        if magic is not None and magic["name"] not in _PYTHON_MAGICS:
            return None
        source = SourceFile(path, b"", plain, written)
        return cls(number, source, _masked(code, path), padded, indent, identity, literals)

    @property
    def code_in_place(self) -> SourceFile:
        """`code` with the indentation of the whole, and so with the columns of `source`."""
        return _masked(self.source.text, self.source.path) if self.indent else self.code

    def indented_by(self, row: int) -> int:
        """By how many columns a row of `code` stands further left than in `source`."""
        lines = self.source.lines
        return len(self.indent) if row <= len(lines) and lines[row - 1].startswith(self.indent) else 0

    @property
    def text(self) -> str:
        """The text as it stands in the file."""
        return self.unpadded(self.source.written)

    def unpadded(self, written: str) -> str:
        """A text that takes the place of `source`, without what pads it."""
        return _LAST_NEWLINE.sub("", written) if self.padded else written

    def check(self) -> None:
        """Raises UnreadableError, with the row in the cell, where it does not parse on its own."""
        from torchlint.source.parse import parse  # imports LibCST

        shape.check(scan(self.code.text))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call_deep(functools.partial(ast.parse, self.code.text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            parse(self.code)  # knows the syntax of other Pythons than the one that runs


@dataclass(frozen=True)
class View:
    """Some of a notebook's cells as one module, each followed by an empty row.

    So whatever is put behind the last statement of a cell stands before the first row of the next one.
    """

    source: SourceFile
    cells: Sequence[Cell]

    @classmethod
    def of(cls, cells: Sequence[Cell], path: str) -> View:
        """The module of `cells`, called `path`."""
        text = "\n".join(cell.code.text for cell in cells)
        return cls(SourceFile(path, b"", text, text), cells)

    @functools.cached_property
    def _starts(self) -> list[int]:
        """The row of the module in which each cell begins."""
        starts, row = [], 1
        for cell in self.cells:
            starts.append(row)
            row += len(cell.code.lines)
        return starts

    def locate(self, position: Position) -> tuple[int | None, Position]:
        """The number of the cell in which a position of the module lies, and the position there."""
        cell = self.cell_at(position)
        if cell is None:
            return None, position
        row = self._row(position)
        return cell.number, Position(row, position.column + cell.indented_by(row))

    def cell_at(self, position: Position) -> Cell | None:
        """The cell in which a position of the module lies."""
        index = bisect.bisect_right(self._starts, position.row) - 1
        return self.cells[index] if index >= 0 else None

    def identity_at(self, position: Position) -> str:
        """The id of the cell in which a position of the module lies; empty where the file gives it none."""
        cell = self.cell_at(position)
        return "" if cell is None else cell.identity

    def _row(self, position: Position) -> int:
        return position.row - self._starts[bisect.bisect_right(self._starts, position.row) - 1] + 1

    def edit(self, edit: Edit) -> Edit:
        """An edit of the module as one of the cell in which it begins; what it writes is indented as the cell is."""
        (number, start), (_, end) = self.locate(edit.start), self.locate(edit.end)
        cell = self.cell_at(edit.start)
        if cell is None or not cell.indent:
            return Edit(start, end, edit.content, number)
        content = edit.content
        if edit.start.column == edit.end.column == 1 and (not content or content.endswith("\n")):
            start, end = replace(start, column=1), replace(end, column=1)  # whole rows
            return Edit(start, end, textwrap.indent(content, cell.indent), number)
        content = _BEFORE_ROW.sub(f"\n{cell.indent}", content)
        if start.column == 1:  # the row has no indentation yet
            content = cell.indent + content
        return Edit(start, end, content, number)


@dataclass(frozen=True)
class Notebook:
    """A notebook as it was read.

    `problems` says what is wrong with cells that are left out: (number of the cell, its id, what). `language` is the
    kernel's, where it is another one than Python; there are no cells then.
    """

    path: str
    data: bytes
    written: str = field(repr=False)
    cells: tuple[Cell, ...] = ()
    problems: tuple[tuple[int | None, str, UnreadableError], ...] = ()
    language: str = ""

    @classmethod
    def from_bytes(cls, data: bytes, path: str) -> Notebook:
        """Read a notebook of nbformat 3 or 4; an empty file, as Jupyter leaves some, is one without cells.

        Raises UnreadableError, with the row in the file, for what is no JSON, or no notebook.
        """
        body = data.removeprefix(codecs.BOM_UTF8)
        try:
            text = body.decode()
        except UnicodeDecodeError as error:
            row = len(_NEWLINE.findall(body[: error.start].decode(errors="replace"))) + 1
            raise UnreadableError(f"cannot be decoded as utf-8: byte 0x{body[error.start]:02x}", row) from error
        if not text.strip():
            return cls(path, data, text)
        try:
            found = _Reader(text).notebook()
        except json.JSONDecodeError as error:
            raise UnreadableError(f"is no JSON: {error.msg}", _row(text, error.pos)) from error
        except RecursionError as error:
            raise UnreadableError("is no JSON that can be read: too deeply nested") from error
        except ValueError as error:
            raise UnreadableError("is no JSON that can be read: a number has too many digits") from error
        language = _language(found.metadata)
        if "python" not in language.lower():
            return cls(path, data, text, language=language)
        return _with_cells(cls(path, data, text), found)

    @functools.cached_property
    def text(self) -> str:
        """The text of the module of all cells, whether or not they parse."""
        return self.view(self.cells).source.text

    def view(self, cells: Sequence[Cell]) -> View:
        """The module of some of the cells."""
        return View.of(cells, self.path)

    def cell(self, number: int) -> Cell:
        """The code cell with this number. Raises KeyError where there is none."""
        for cell in self.cells:
            if cell.number == number:
                return cell
        raise KeyError(number)

    def with_sources(self, sources: Mapping[int, str]) -> Notebook:
        """The notebook with other text in some cells, by their numbers; what was added to pad a cell is taken off.

        Only the pieces of a source that differ are replaced, and a list stays a list, a string a string. What the file
        says in plain ASCII stays so.
        """
        changes: list[tuple[int, int, str]] = []
        for cell in self.cells:
            source = sources.get(cell.number, cell.source.written)
            if source != cell.source.written:
                assert cell.literals is not None
                changes += _replaced(self.written, cell.literals, cell.unpadded(source))
        pieces: list[str] = []
        done = 0
        for start, end, written in sorted(changes):
            pieces += (self.written[done:start], written)
            done = end
        body = "".join((*pieces, self.written[done:])).encode()
        bom = codecs.BOM_UTF8 if self.data.startswith(codecs.BOM_UTF8) else b""
        return Notebook.from_bytes(bom + body, self.path)

    def lines(self, number: int | None) -> Sequence[str]:
        """The rows, without their ends, of a cell, or of the file itself; none for a cell that is not there."""
        if number is None:
            return _NEWLINE.split(self.written)
        try:
            cell = self.cell(number)
        except KeyError:
            return ()
        return cell.source.lines[: -1 if cell.padded else None]


_NEWLINE = re.compile(r"\r\n?|\n")
_ROW = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_LAST_NEWLINE = re.compile(r"(?:\r\n?|\n)\Z")
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
_BEFORE_ROW = re.compile(r"\n(?!\n)")


def _row(text: str, offset: int) -> int:
    return len(_NEWLINE.findall(text, 0, offset)) + 1


# What is no Python

# The magics whose cell is Python that runs in the notebook's own namespace.
_PYTHON_MAGICS = frozenset({"capture", "debug", "ipytest", "prun", "time", "timeit", "wandb"})
# A cell's first line that says what the whole cell is. On Databricks one sign does: there these are languages.
_CELL_MAGIC = re.compile(r"\s*^(?:%%(?P<name>\w*)|%(?:fs|md|sh)\b|%(?:html|r|scala|sql)[ \t]*$)", re.MULTILINE)

# By what IPython dedents: the indentation of the first row with something on it, also under a magic for the cell.
_LEADING = re.compile(r"(?:[ \t]*\n)*(?:%%[^\n]*\n(?:[ \t]*\n)*)?(?P<indent>[ \t]+)(?=\S)")

_INDENT = re.compile(r"[ \t]*")
# No Python statement begins with these characters; the assignment of what a magic returns; a question at a row's end.
_ESCAPE = re.compile(
    r"""(?P<target>[\w*\[(][\w.,*\[\]() \t]*=[ \t]*)[!%]
    |[%!?,;/]
    |[^\n#'"?]+\?{1,2}[ \t]*(?:;[ \t]*)?$""",
    re.VERBOSE | re.MULTILINE,
)
_CONTINUED_ROW = re.compile(r"[^\n]*(?:(?<=\\)\n[^\n]*)*")

# What a masked row computes is as unknown as what this returns; IPython itself puts such a call there.
_UNKNOWN = "get_ipython()"


def masked(text: str) -> str:
    """The text of a cell with magics and shell lines replaced, row by row, by Python that says nothing."""
    pieces: list[str] = []
    done = 0
    for start, end in scan(text, _escape_end).skipped:
        code = _INDENT.match(text, start).end()  # type: ignore[union-attr]
        target = _ESCAPE.match(text, code)["target"]  # type: ignore[index]
        statement = f"{target}{_UNKNOWN}" if target else "pass"
        pieces += (text[done:code], statement, "\n" * text.count("\n", start, end))
        done = end
    return "".join((*pieces, text[done:]))


def _masked(text: str, path: str) -> SourceFile:
    code = masked(text)
    return SourceFile(path, b"", code, code)


def _escape_end(text: str, start: int) -> int:
    """The end of the magic whose row begins at `start`; `start` itself where none does."""
    code = _INDENT.match(text, start).end()  # type: ignore[union-attr]
    if _ESCAPE.match(text, code) is None:
        return start
    return _CONTINUED_ROW.match(text, start).end()  # type: ignore[union-attr]


def _language(metadata: Any) -> str:
    """The language of a notebook, from its metadata; Python where it says nothing."""
    info = _member(metadata, "language_info", "name") or _member(metadata, "kernelspec", "language")
    return info if isinstance(info, str) and info else "python"


def _is_python(cell: Mapping[str, Any]) -> bool:
    """Whether nothing in a cell's metadata names another language: nbformat 3, VS Code, Polyglot Notebooks."""
    metadata = cell.get("metadata")
    named = (
        cell.get("language"),
        _member(metadata, "vscode", "languageId"),
        _member(metadata, "polyglot_notebook", "kernelName"),
        _member(metadata, "dotnet_interactive", "language"),
    )
    return all("python" in name.lower() for name in named if isinstance(name, str) and name)


def _member(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


# The JSON and its places


@dataclass
class _RawCell:
    """One element of the list of cells, without its outputs."""

    start: int
    members: dict[str, Any] = field(default_factory=dict)
    literals: _Literals | None = None
    problem: str = ""


@dataclass
class _RawNotebook:
    cells: list[_RawCell] = field(default_factory=list)
    metadata: Any = None


def _with_cells(notebook: Notebook, found: _RawNotebook) -> Notebook:
    """The notebook with its code cells in Python, and what is wrong with others."""
    cells: list[Cell] = []
    problems: list[tuple[int | None, str, UnreadableError]] = []
    unsound = [(number, raw) for number, raw in enumerate(found.cells, 1) if _problem(raw)]
    if unsound:
        number, raw = unsound[0]
        more = f", nor are {len(unsound) - 1} more" if len(unsound) > 1 else ""
        message = f"cell {number} is not sound{more}: {_problem(raw)}"
        problems.append((None, "", UnreadableError(message, _row(notebook.written, raw.start))))
    left_out = {number for number, _ in unsound}
    for number, raw in enumerate(found.cells, 1):
        if number in left_out or raw.members["cell_type"] != "code" or not _is_python(raw.members):
            continue
        assert raw.literals is not None
        text = "".join(piece for piece, _, _ in raw.literals.pieces)
        identity = raw.members.get("id")
        identity = identity if isinstance(identity, str) else ""
        try:
            cell = Cell.from_text(text, notebook.path, number, raw.literals, identity)
        except UnreadableError as error:
            problems.append((number, identity, error))
        else:
            cells += [] if cell is None else [cell]
    return replace(notebook, cells=tuple(cells), problems=tuple(problems))


def _problem(cell: _RawCell) -> str:
    """What keeps an element of the list of cells from being one."""
    if cell.problem:
        return cell.problem
    if not isinstance(cell.members.get("cell_type"), str):
        return "`cell_type` is missing" if "cell_type" not in cell.members else "`cell_type` is no string"
    return "`source` is missing" if cell.literals is None and cell.members["cell_type"] == "code" else ""


class _Reader:
    """Reads the JSON of a notebook, and notes where the sources of its cells stand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.decode = json.JSONDecoder().raw_decode

    def notebook(self) -> _RawNotebook:
        """Raises JSONDecodeError for what is no JSON, UnreadableError for what is no notebook."""
        found = _RawNotebook()
        lists: set[str] = set()

        def cells(at: int) -> int:
            return self._array(at, lambda at: self._cell(at, found.cells.append), "`cells` is no list")

        def worksheet(at: int) -> int:
            return self._object(at, lambda key, at: member(key, at, ()), "a worksheet is no object")

        def member(key: str, at: int, known: Sequence[str] = ("worksheets", "metadata")) -> int:
            lists.add(key)
            if key == "cells":
                if known:  # said twice, the last counts
                    found.cells.clear()
                return cells(at)
            if key == "worksheets" and key in known:  # nbformat 3
                return self._array(at, worksheet, "`worksheets` is no list")
            value, end = self.decode(self.text, at)
            if key == "metadata" and key in known:
                found.metadata = value
            return end

        end = self._space(self._object(self._space(0), member, "the file holds no object"))
        if end < len(self.text):
            raise json.JSONDecodeError("extra data", self.text, end)
        if not lists & {"cells", "worksheets"}:
            raise UnreadableError("is no notebook: it has no `cells`")
        return found

    def _cell(self, at: int, add: Callable[[_RawCell], None]) -> int:
        cell = _RawCell(at)
        add(cell)

        def member(key: str, at: int) -> int:
            if key in ("source", "input"):  # the latter in nbformat 3
                return self._source(cell, key, at)
            value, end = self.decode(self.text, at)
            if key != "outputs":  # they can be large
                cell.members[key] = value
            return end

        if self.text[at : at + 1] != "{":
            cell.problem = "it is no object"
            return self.decode(self.text, at)[1]
        return self._object(at, member)

    def _source(self, cell: _RawCell, key: str, at: int) -> int:
        pieces: list[tuple[str, int, int]] = []

        def piece(at: int) -> int:
            if self.text[at : at + 1] == '"':
                text, end = self.decode(self.text, at)
                pieces.append((text, at, end))
                return end
            cell.problem = f"`{key}` holds something else than strings"
            return self.decode(self.text, at)[1]

        is_list = self.text[at : at + 1] == "["
        end = self._array(at, piece) if is_list else piece(at)
        cell.literals = _Literals(is_list, at, tuple(pieces))
        return end

    def _object(self, at: int, member: Callable[[str, int], int], otherwise: str = "") -> int:
        def pair(at: int) -> int:
            if self.text[at : at + 1] != '"':
                raise json.JSONDecodeError("expecting a name in double quotes", self.text, at)
            key, at = self.decode(self.text, at)
            return member(key, self._space(self._expect(":", self._space(at))))

        return self._elements(at, "{}", pair, otherwise)

    def _array(self, at: int, element: Callable[[int], int], otherwise: str = "") -> int:
        return self._elements(at, "[]", element, otherwise)

    def _elements(self, at: int, brackets: str, element: Callable[[int], int], otherwise: str) -> int:
        """Go past what stands in brackets; `element` goes past one of its parts."""
        if otherwise and self.text[at : at + 1] != brackets[0]:
            self.decode(self.text, at)  # where it is no JSON either, that is said
            raise UnreadableError(f"is no notebook: {otherwise}", _row(self.text, at))
        at = self._space(self._expect(brackets[0], at))
        if self.text[at : at + 1] == brackets[1]:
            return at + 1
        while True:
            at = self._space(element(at))
            if self.text[at : at + 1] == brackets[1]:
                return at + 1
            comma, at = at, self._space(self._expect(",", at))
            if self.text[at : at + 1] == brackets[1]:
                raise json.JSONDecodeError("illegal trailing comma", self.text, comma)

    def _expect(self, character: str, at: int) -> int:
        if self.text[at : at + 1] != character:
            raise json.JSONDecodeError(f"expecting {character!r}", self.text, at)
        return at + 1

    def _space(self, at: int) -> int:
        return _SPACE.match(self.text, at).end()  # type: ignore[union-attr]


_SPACE = re.compile(r"[ \t\n\r]*")


# Writing


def _replaced(text: str, literals: _Literals, wanted: str) -> Iterator[tuple[int, int, str]]:
    """The changes of the JSON `text`, as (start, end, what is written there), that make a source read `wanted`."""
    spans = [(start, end) for _, start, end in literals.pieces]
    old = [piece for piece, _, _ in literals.pieces]
    quoted = {piece: text[start:end] for piece, start, end in literals.pieces}  # as the file writes it

    def quote(piece: str) -> str:
        return quoted.get(piece) or json.dumps(piece, ensure_ascii=text.isascii())

    if not literals.is_list:
        yield (*spans[0], quote(wanted))
        return
    new = _pieces(old, wanted)
    before = _common(old, new)
    after = _common(old[before:][::-1], new[before:][::-1])
    gone, come = spans[before : len(spans) - after], new[before : len(new) - after]
    if len(spans) > 1:
        separator = text[spans[0][1] : spans[1][0]]
    else:
        separator = "," + (text[literals.start + 1 : spans[0][0]] if spans else "")
    written = separator.join(map(quote, come))
    if gone and come:
        yield gone[0][0], gone[-1][1], written
    elif come and after:
        yield spans[before][0], spans[before][0], written + separator
    elif come:
        end = spans[-1][1] if spans else literals.start + 1
        yield end, end, (separator if spans else "") + written
    elif gone and after:
        yield gone[0][0], spans[len(spans) - after][0], ""
    elif gone:
        yield (spans[before - 1][1] if before else gone[0][0]), gone[-1][1], ""


def _pieces(old: Sequence[str], wanted: str) -> list[str]:
    """`wanted` in pieces like `old`: rows, where those are rows; else what they have in common, and rows between."""
    if all(_ROW.fullmatch(piece) for piece in old) and all(piece.endswith(("\n", "\r")) for piece in old[:-1]):
        return _ROW.findall(wanted)
    start, end = 0, len(wanted)
    before = 0
    while before < len(old) and wanted.startswith(old[before], start):
        start += len(old[before])
        before += 1
    after = len(old)
    while after > before and end - len(old[after - 1]) >= start and wanted.endswith(old[after - 1], start, end):
        after -= 1
        end -= len(old[after])
    return [*old[:before], *_ROW.findall(wanted[start:end]), *old[after:]]


def _common(one: Iterable[str], other: Iterable[str]) -> int:
    """How many elements two sequences begin with alike."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count

"""From repairs said in terms of nodes to edits of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import libcst as cst

from torchlint.findings import Applicability, Edit, Fix, Position
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.source.parse import Tree
from torchlint.source.positions import Span
from torchlint.source.scan import LogicalLine
from torchlint.source.text import SourceFile

__all__ = ["to_fix"]

_IMPORT = re.compile(r"(?:import|from)\b")
_STRING = re.compile(r"[rRuU]?[\"']")
_COMPOUND = re.compile(r"(?:async|class|def|for|if|match|try|while|with)\b|@")
_WORD = re.compile(r"\w+")


# What may stand before an argument on its row, and behind it.
_ARGUMENT = re.compile(r"[ \t]*(?:\w+[ \t]*=[ \t]*|\*{1,2})?\Z")
_TAIL = re.compile(r"(?P<comma>[ \t]*,)?(?P<comment>[ \t]*(?:#[^\n]*)?)")
_ASSIGNED = re.compile(r"(?:[\w.]+ = |return )?")
_LONGEST = 120  # columns of a row that a repair writes, where it can be broken


class _CannotEditError(Exception):
    """The repair cannot be written here without harm: a person has to."""


def to_fix(fix: NodeFix, tree: Tree, spans: Mapping[cst.CSTNode, Span]) -> Fix:
    """The fix with its edits as text.

    Where an edit would drop a comment, reach into an f-string or another file, or has no place to go, nothing is
    edited, and the fix is only displayed.
    """
    writer = _Writer(tree)
    if any(edit.node not in spans for edit in fix.edits):
        return Fix(Applicability.DISPLAY, fix.message)
    try:
        edits = [writer.edit(edit, spans[edit.node]) for edit in fix.edits]
        edits += writer.imports(fix.imports)
    except _CannotEditError:
        return Fix(Applicability.DISPLAY, fix.message)
    edits = list(_closed_up(writer.source, sorted(edits, key=lambda edit: (edit.start, edit.end))))
    return Fix(fix.applicability, fix.message, tuple(edits))


def _closed_up(source: SourceFile, edits: list[Edit]) -> Iterator[Edit]:
    """The edits, rows that go together in one; where a paragraph goes, the blank row behind it goes as well."""
    pending: Edit | None = None
    for edit in edits:
        if pending is not None and _empties_rows(edit) and pending.end == edit.start:
            pending = replace(pending, end=edit.end)
            continue
        if pending is not None:
            yield _with_gap(source, pending)
        pending = edit if _empties_rows(edit) else None
        if pending is None:
            yield edit
    if pending is not None:
        yield _with_gap(source, pending)


def _empties_rows(edit: Edit) -> bool:
    return not edit.content and edit.start.column == edit.end.column == 1 and edit.start != edit.end


def _with_gap(source: SourceFile, edit: Edit) -> Edit:
    first, behind = edit.start.row, edit.end.row
    above = source.line(first - 1).split("#")[0].strip() if first > 1 else ""
    if behind <= len(source.lines) and not source.line(behind).strip() and (not above or above.endswith(":")):
        return replace(edit, end=Position(behind + 1, 1))
    return edit


class _Writer:
    """Writes edits for one file."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.source = tree.source
        self.scan = tree.scan
        self.text = tree.source.text

    def edit(self, edit: NodeEdit, span: Span) -> Edit:
        """One edit. Raises _CannotEditError."""
        start, end = self.source.offset(span[0]), self.source.offset(span[1])
        if any(first < start < last for first, last in self.scan.formatted):
            raise _CannotEditError
        match edit.where:
            case "replace":
                self._keep_comments(start, end, edit.content)
                return self.source.edit(start, end, self._fitted(start, end, edit.content))
            case "unwrap":
                start, end = self._with_parentheses(edit.node, start, end)
                self._keep_comments(start, end, edit.content)
                return self.source.edit(start, end, self._fitted(start, end, edit.content))
            case "before":
                start, _ = self._with_parentheses(edit.node, start, end)
                return self.source.edit(start, start, edit.content)
            case "after":
                start, end = self._with_parentheses(edit.node, start, end)
                if edit.content.startswith(", ") and _ARGUMENT.match(self.text[self._row(start) : start]):
                    return self._argument_row(start, end, edit.content.removeprefix(", "))
                return self.source.edit(end, end, edit.content)
            case "line-before":
                return self._line_before(start, edit.content)
            case "line-after":
                return self._line_after(start, end, edit.content)
            case "lines":
                return self._lines(start, end, edit.content)
            case "argument":
                return self._without_argument(start, end)
            case "delete":
                return self._delete(start, end)
            case _:
                raise ValueError(f"no place is called {edit.where!r}")

    def _row(self, offset: int) -> int:
        """Where the row begins that an offset stands in."""
        return self.text.rfind("\n", 0, offset) + 1

    def _argument_row(self, start: int, end: int, argument: str) -> Edit:
        """An argument on a row of its own behind one that has a row of its own, whose comment stays with it."""
        row = self._row(start)
        indentation = self.text[row:start][: len(self.text[row:start]) - len(self.text[row:start].lstrip())]
        stop = self.text.find("\n", end)
        behind = _TAIL.fullmatch(self.text, end, stop if stop >= 0 else len(self.text))
        if behind is None:
            return self.source.edit(end, end, f",\n{indentation}{argument}")
        comma = "," if behind["comma"] else ""
        return self.source.edit(end, behind.end(), f",{behind['comment']}\n{indentation}{argument}{comma}")

    def _fitted(self, start: int, end: int, content: str) -> str:
        """A call that would make its row too long, with an argument a row."""
        row, stop = self._row(start), self.text.find("\n", end)
        behind = self.text[end : stop if stop >= 0 else len(self.text)]
        if "\n" in content or len(self.text[row:start] + content + behind.rstrip()) <= _LONGEST:
            return content
        before = self.text[row:start]
        return _hanging(content, before[: len(before) - len(before.lstrip())])

    def _with_parentheses(self, node: cst.CSTNode, start: int, end: int) -> tuple[int, int]:
        """The span of a node with its own parentheses, unless a word stands right before or behind them."""
        for _ in range(self.tree.places.parentheses(node)):
            before, behind = self.scan.code_before(start), self.scan.code_behind(end)
            if self.text[before - 1 : before] != "(" or self.text[behind : behind + 1] != ")":
                break
            if _WORD.match(self.text[before - 2 : before - 1]) or _WORD.match(self.text, behind + 1):
                break
            start, end = before - 1, behind + 1
        return start, end

    def _keep_comments(self, start: int, end: int, content: str) -> None:
        for first, last in self.scan.comment_spans:
            if start <= first < end and self.text[first:last] not in content:
                raise _CannotEditError

    def _line(self, offset: int) -> tuple[int, LogicalLine]:
        index = self.scan.index_at(offset)
        if index is None:
            raise _CannotEditError
        return index, self.scan.logical_lines[index]

    def _indented(self, content: str, line: LogicalLine) -> str:
        indentation = self.text[line.start : line.code]
        rows = [
            _hanging(row, indentation) if len(indentation + row) > _LONGEST and not row[:1].isspace() else row
            for row in content.splitlines()
        ]
        return "".join(f"{indentation}{row}\n" if row.strip() else "\n" for row in rows)

    def _line_before(self, start: int, content: str) -> Edit:
        index, line = self._line(start)
        if line.code != start:
            return self._inline(start, f"{content}; ", content)
        while index > 0 and self.text[self.scan.logical_lines[index - 1].code] == "@" != self.text[start]:
            index -= 1
        first = self.scan.logical_lines[index]
        return self.source.edit(first.start, first.start, self._indented(content, first))

    def _line_after(self, start: int, end: int, content: str) -> Edit:
        _, line = self._line(start)
        _, last = self._line(max(start, end - 1))
        if line.code != start or self._code_between(end, last.end):
            return self._inline(end, f"; {content}", content)
        written = self._indented(content, line)
        if last.end < len(self.text):
            return self.source.edit(last.end + 1, last.end + 1, written)
        return self.source.edit(last.end, last.end, "\n" + written.removesuffix("\n"))

    def _lines(self, start: int, end: int, content: str) -> Edit:
        _, line = self._line(start)
        _, last = self._line(max(start, end - 1))
        if line.code != start or self._code_between(end, last.end):
            raise _CannotEditError
        self._keep_comments(start, last.end + 1, content)
        return self.source.edit(line.start, last.end, self._indented(content, line).removesuffix("\n"))

    def _without_argument(self, start: int, end: int) -> Edit:
        """An argument goes with the comma behind it, else with that before it; with its row where it has one."""
        if behind := re.compile(r"\s*,[ \t]*").match(self.text, end):
            end = behind.end()
            row = self.text.rfind("\n", 0, start) + 1
            if not self.text[row:start].strip() and self.text[end : end + 1] == "\n":
                start, end = row, end + 1
        elif before := re.search(r",\s*\Z", self.text[:start]):
            start = before.start()
        self._keep_comments(start, end, "")
        return self.source.edit(start, end, "")

    def _inline(self, offset: int, written: str, content: str) -> Edit:
        """Beside another statement of the same line, where only simple statements may stand."""
        if "\n" in content or "#" in content or _COMPOUND.match(content):
            raise _CannotEditError
        return self.source.edit(offset, offset, written)

    def _code_between(self, start: int, end: int) -> str:
        """What stands there beside white space and comments."""
        return re.sub(r"#[^\n]*", "", self.text[start:end]).strip()

    def _delete(self, start: int, end: int) -> Edit:
        index, line = self._line(start)
        _, last = self._line(max(start, end - 1))
        self._keep_comments(start, end, "")
        behind = self.text[end : last.end]
        if line.code == start and not self._code_between(end, last.end):
            if self._is_alone_in_block(index, last):
                return self.source.edit(start, end, "pass")
            if behind.strip():  # a comment, which stays on a row of its own
                return self.source.edit(start, end + len(behind) - len(behind.lstrip()), "")
            return self.source.edit(line.start, min(last.end + 1, len(self.text)), "")
        if semicolon := re.match(r"[ \t]*;[ \t]*", behind):
            rest = semicolon.end() if self._code_between(end + semicolon.end(), last.end) else 0
            if rest:
                return self.source.edit(start, end + rest, "")
        if before := re.search(r"[ \t]*;[ \t]*\Z", self.text[line.start : start]):
            return self.source.edit(line.start + before.start(), end, "")
        return self.source.edit(start, end, "pass")

    def _is_alone_in_block(self, index: int, last: LogicalLine) -> bool:
        lines = self.scan.logical_lines
        column = self._column(lines[index])
        after = self.scan.index_from(last.end)
        first = index == 0 or self._column(lines[index - 1]) < column
        final = after >= len(lines) or self._column(lines[after]) < column
        return first and final and column > 0

    def _column(self, line: LogicalLine) -> int:
        return len(self.text[line.start : line.code].expandtabs(8))

    # Imports

    def imports(self, statements: tuple[str, ...]) -> Iterator[Edit]:
        """Edits that add the imports that the file does not have. Raises _CannotEditError where a name is taken."""
        missing = []
        for statement in statements:
            wanted = dict(_bindings([cst.parse_statement(statement)]))
            have = dict(_bindings(self.tree.module.body))
            lacking = {name for name, origin in wanted.items() if have.get(name) != origin}
            if lacking:
                if any(self._is_used(name) for name in lacking):
                    raise _CannotEditError
                missing.append(statement)
        if missing:
            yield self._import_edit(missing)

    def _is_used(self, name: str) -> bool:
        """Whether the name stands anywhere in code, other than behind a dot or as a keyword of a call."""
        word = re.escape(name)
        for match in re.finditer(rf"(?<![\w.]){word}\b(?!\s*=[^=])|(?m:^)\s*{word}\s*=[^=]", self.text):
            if not any(first <= match.end() - 1 < last for first, last in self.scan.opaque):
                return True
        return False

    def _import_edit(self, statements: list[str]) -> Edit:
        """Behind the imports that the file begins with, else behind its docstring, else above its first statement."""
        after: LogicalLine | None = None
        first: LogicalLine | None = None
        docstring = False
        for index, line in enumerate(self.scan.logical_lines):
            if _IMPORT.match(self.text, line.code) and line.code == line.start:
                after, docstring = line, False
            elif index == 0 and _STRING.match(self.text, line.code):
                after, docstring = line, True
            else:
                first = line
                break
        written = "".join(f"{statement}\n" for statement in statements)
        if after is None:
            at = first.start if first is not None else len(self.text)
            return self.source.edit(at, at, written + ("\n" if first is not None else ""))
        if docstring:
            written = "\n" + written
        if after.end == len(self.text):
            return self.source.edit(after.end, after.end, "\n" + written.removesuffix("\n"))
        return self.source.edit(after.end + 1, after.end + 1, written)


def _hanging(written: str, indentation: str) -> str:
    """`name = f(a, b)` with an argument a row, where it is a call; else as it is. Of a chain, the longest is broken."""
    start = _ASSIGNED.match(written)
    assert start is not None
    try:
        node: cst.BaseExpression = cst.parse_expression(written[start.end() :])
    except cst.ParserSyntaxError:
        return written
    empty = cst.Module([])
    calls: list[cst.Call] = []
    while isinstance(node, (cst.Call, cst.Attribute)) and not node.lpar:
        if isinstance(node, cst.Call) and not any(isinstance(a.value, cst.GeneratorExp) for a in node.args):
            calls.append(node)
        node = node.func if isinstance(node, cst.Call) else node.value
    longest = max(calls, key=lambda call: sum(len(empty.code_for_node(a)) for a in call.args), default=None)
    if longest is None or not longest.args:
        return written
    arguments = [empty.code_for_node(a.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip() for a in longest.args]
    step = "\t" if "\t" in indentation else "    "
    rows = "".join(f"{indentation}{step}{argument},\n" for argument in arguments)
    tail = written[start.end() + len(empty.code_for_node(longest)) :]
    return f"{start[0]}{empty.code_for_node(longest.func)}(\n{rows}{indentation}){tail}"


def _bindings(body: object) -> Iterator[tuple[str, str]]:
    """The names that the import statements among `body`, and in the body of a `try`, bind; with what they stand for."""
    for statement in body if isinstance(body, (list, tuple)) else ():
        if isinstance(statement, cst.Try):
            yield from _bindings(statement.body.body)
        elif isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                if isinstance(small, (cst.Import, cst.ImportFrom)):
                    yield from _bound_by(small)


def _bound_by(statement: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, str]]:
    if isinstance(statement.names, cst.ImportStar):
        return
    prefix = ""
    if isinstance(statement, cst.ImportFrom):
        prefix = "." * len(statement.relative) + (_dotted(statement.module) if statement.module else "") + ":"
    for alias in statement.names:
        name = _dotted(alias.name)
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            yield alias.asname.name.value, prefix + name
        elif prefix:
            yield name, prefix + name
        else:
            yield name.split(".")[0], name.split(".")[0]


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""

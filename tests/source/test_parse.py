from __future__ import annotations

import ast

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

import torchlint.source.scan
from torchlint.findings import Position
from torchlint.source.parse import Tree, parse
from torchlint.source.places import PlacesOfLibcst, straightened
from torchlint.source.positions import locate
from torchlint.source.scan import scan
from torchlint.source.text import SourceFile, UnreadableError


def source(text: str) -> SourceFile:
    return SourceFile.from_bytes(text.encode(), "a.py")


ODD_LAYOUTS = [
    "a = 1\rb = 2\r",
    "if x:\r  a\rb\r",
    "\fx = 1\n",
    "if x:\n    a\n\f    b\n",
    "if x:\n    a\n    \fb\n",
    "if x:\n    a\n\\\n    b\n",
    "if x:\n    a\n\\\nb\n",
    "if x:\n    a\n    \\\nb\n",
    "\\\nx = 1\n",
    "if a:\n  b\n\f\f  c\n",
    "if x:\n a\n \\\n \\\n b(1)\n",
    "def f():\n    a\n\f\ndef g():\n    b\n",
    "s = '''\n\f x\n\\\n'''\nx = (\n\f 1)\n",
    "if a:\n \tif b:\n \t \tc\n",
    "a = 1\r\n\rb = '''x\ry'''; c\n",
    "class A:\n\tx = 1\n\n\n\ty = 2\n ",
]


@pytest.mark.parametrize("text", ODD_LAYOUTS)
def test_layouts_that_libcst_misreads_are_read_as_python_reads_them(text: str) -> None:
    read = source(text)
    expected = ast.parse(text)
    code, shifts = straightened(scan(read.text))
    assert ast.dump(ast.parse(code)) == ast.dump(expected)
    for tree in (
        parse(read),
        Tree(read, scan(read.text), module := cst.parse_module(code), PlacesOfLibcst(read, module, code, shifts)),
    ):
        assert starts(tree) == [Position(node.lineno, node.col_offset + 1) for node in expected.body]


def starts(tree: Tree) -> list[Position]:
    """Where the statements begin that a module has at its top."""
    statements: list[cst.CSTNode] = []
    for line in tree.module.body:
        statements += line.body if isinstance(line, cst.SimpleStatementLine) else [line]
    spans = tree.locate(statements)
    return [spans[statement][0] for statement in statements]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a = 1\nprint 'x'\n", 2),
        ("a = 1\nb = (\n", 2),
        ("x = 1 \\", 1),
        ("if a:\n    b\n  c\n", 3),
        ("\\\n  x = 1\n", 2),
        ("a\n\n0777\n", 3),
        ("x = 1\n\\\n", 2),
        ("x\ny = '\\xz'\n", 2),
        ("a\nb'é'\n", 2),
        (f"a\nb = {'9' * 9999}\n", 2),
        ("a\nb\nx = 'a' b'b'\n", 3),
    ],
)
def test_a_syntax_error_has_pythons_row(text: str, row: int) -> None:
    with pytest.raises(UnreadableError, match="syntax") as refused:
        parse(source(text))
    assert refused.value.row == row


def test_newer_syntax_is_read_whatever_python_runs() -> None:
    parse(source("try:\n    a\nexcept A, B:\n    t'{x}'\ntype X[T = int] = T\n"))


def test_a_tree_that_does_not_give_its_text_back_is_not_reported_from() -> None:
    read, module = source("x = 1\ny = 2\n"), cst.parse_module("x = 1\ny = 2\n")
    tree = Tree(read, scan(read.text), module, PlacesOfLibcst(read, module, "x = 1\ny =  2\n", {}))
    with pytest.raises(UnreadableError, match="give this file back") as refused:
        tree.locate([tree.module.body[0]])
    assert refused.value.row == 2
    other = parse(source("z = 3\n"))
    assert tree.places.extent(other.module.body[0]) is None  # whose text is asked for in all trees there are


def test_positions_are_those_of_libcst() -> None:
    with open(torchlint.source.scan.__file__, encoding="utf-8") as file:
        text = file.read()
    text += "@a.b\n@(c)\nasync def f(x: int = (1), *a, **k) -> (y): await x  # c\nx = (\n  yield_(a for a in b)\n)\n"
    module = cst.parse_module(text)
    theirs = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    code, ours = locate(module, theirs)
    assert code == text
    for node, span in theirs.items():
        assert ours[node] == (
            Position(span.start.line, span.start.column + 1),
            Position(span.end.line, span.end.column + 1),
        )


def test_a_node_of_another_tree_has_no_position() -> None:
    _, spans = locate(cst.parse_module("x = 1\n"), [cst.Name("x")])
    assert spans == {}

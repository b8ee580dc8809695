from __future__ import annotations

import ast

import pytest

from torchlint.source import shape
from torchlint.source.parse import parse
from torchlint.source.scan import scan
from torchlint.source.text import SourceFile, UnreadableError


def check(text: str) -> None:
    shape.check(scan(text))


SHAPES = {
    "nested brackets": lambda n: "x = " + "(" * n + "1" + ")" * n,
    "links": lambda n: "x = a" + ".b()" * n,
    "terms": lambda n: "x = " + "a + " * n + "b",
    "powers": lambda n: "x = " + "a ** " * n + "b",
    "unary": lambda n: "x = " + "not " * n + "a",
    "lambdas": lambda n: "x = " + "lambda a, b: " * n + "1",
    "conditional": lambda n: "x = " + "a if b else " * n + "c",
    "clauses": lambda n: "x = [a " + "for a in b " * n + "]",
    "strings": lambda n: "x = (" + "'a'\n" * n + ")",
    "elif": lambda n: "if a: b\n" + "elif c: d\n" * n,
    "nested blocks": lambda n: "".join(" " * i + "if a:\n" for i in range(n)) + " " * n + "b\n",
    "nested brackets in a pattern": lambda n: "match a:\n  case " + "[" * n + "b" + "]" * n + ": pass",
    "nested brackets in a field": lambda n: "f'{" + "(" * n + "a" + ")" * n + "}'",
}


@pytest.mark.parametrize("name", SHAPES)
def test_too_much_of_anything_is_refused_by_name_before_it_is_parsed(name: str) -> None:
    with pytest.raises(UnreadableError, match=r"the limit is [\d,]+"):
        check(SHAPES[name](20_000 if name != "nested blocks" else 150))


@pytest.mark.parametrize("name", SHAPES)
def test_what_people_write_passes_and_is_parsed(name: str) -> None:
    counts = {
        "nested brackets": 150,
        "nested brackets in a field": 150,
        "nested blocks": 90,
        "nested brackets in a pattern": 6,
    }
    count = counts.get(name, 400)
    text = SHAPES[name](count) + "\n"
    tree = parse(SourceFile.from_text(text, "a.py"))
    assert tree.locate([tree.module.body[0]])


@pytest.mark.parametrize("name", ["terms", "elif"])
def test_long_chains_that_python_runs_pass(name: str) -> None:
    text = SHAPES[name](800) + "\n"
    tree = parse(SourceFile.from_text(text, "a.py"))
    assert tree.locate([tree.module.body[0]])


@pytest.mark.parametrize(
    "text",
    [
        "x = {\n" + "    'key': [1, 2.5, f(a, b=c)],\n" * 5_000 + "}\n",
        "x = [" + "lambda a, b: a, " * 2_000 + "]\n",
        "x = [" + "a + b.c[0] * -d, " * 5_000 + "]\n",
        "x = f(" + "a if b else c, " * 2_000 + ")\n",
        "def f():\n" + "    if a:\n        pass\n    elif b:\n        pass\n" * 3_000,
        "'''" + "- ( [ . not lambda\n" * 5_000 + "'''\n",
        "f'''{x:{y}}" + "- ( [ . not lambda\n" * 5_000 + "'''\n",
        "x = 1\n" * 20_000,
    ],
    ids=range(8),
)
def test_much_side_by_side_is_not_deep(text: str) -> None:
    check(text)


def test_many_chains_that_are_each_short_enough_add_up() -> None:
    check(SHAPES["links"](1_200))
    with pytest.raises(UnreadableError, match="work for the parser"):
        check((SHAPES["links"](1_200) + "\n") * 20)


def test_the_row_is_that_of_the_statement() -> None:
    with pytest.raises(UnreadableError) as refused:
        check("a\nb\n" + SHAPES["nested brackets"](5_000))
    assert refused.value.row == 3


def test_blocks_nest_as_deep_as_in_python() -> None:
    text = SHAPES["nested blocks"]
    check(text(99))
    ast.parse(text(99))
    with pytest.raises(UnreadableError) as refused:
        check(text(101))
    with pytest.raises(IndentationError) as wrong:
        ast.parse(text(101))
    assert refused.value.row == wrong.value.lineno

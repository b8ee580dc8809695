"""What is made from CPython's tree against what LibCST parses: the same nodes, at the same places, written alike."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest

from torchlint.rules import pages
from torchlint.semantics.nodes import children
from torchlint.source import written
from torchlint.source.parse import Tree, parse
from torchlint.source.places import PlacesOfLibcst, PlacesOfTranslation
from torchlint.source.text import SourceFile

SNIPPETS = [
    "a; b = 1; del a, b\nif x: a; b\nelif y: pass\nelse: c\n",
    "if a:\n    pass\nelse:\n    if b:\n        pass\n    elif c:\n        d\n",
    "def f(a, /, b: int = (1), *c, d=2, e, **g) -> (x): return\ndef g(*, a): pass\ndef h(*a, b): pass\n",
    "lambda: 0, lambda x, *y, z=1, **k: (x), lambda *, a: a\n",
    "f((a)); f((a), (b)); f(((a))); f (a); f(a)(b); f(*(a), k=(b), **(c)); f(a=1, *b)\n",
    "f(x for x in y); f((x for x in y)); f((x), (y)); (f)(a); (f(a)); x[(a)](b)\n",
    "x[1]; x[1, 2]; x[(1, 2)]; x[(1), (2)]; x[(1),]; x[(1,),]; x[1:2, ::3]; x[:, (a)]; x[()]; x[...]; x[(a, b), c]\n",
    "(a, b), ( c , ), (), (d), (e, (f)), [*g, (h)], {i, *j}, {k: (l), **m}\n",
    "a, b = c, *d = e\nfor x, in y: pass\nfor (x, y) in (z): pass\nreturn_ = (yield)\n",
    "a and b and (c) or not (d); a < b <= (c) is not d not in e; -(+~a) ** (b)\n",
    "(a if b else (c)) if (d) else e\n[a for (b) in c if d if (e) for f in g]\n{a: b for a in b}\n{a for a in b}\n",
    "with a, (b)[c]: pass\nwith a as b, c as (d, e): pass\nwith (a as b, c as d,): pass\n",
    "async def f():\n    async for a in b: await (c)\n    async with d: [x async for x in y]\n    yield (z)\n",
    "try: a\nexcept (A, B) as e: raise C from (e)\nexcept D: raise\nexcept: pass\nelse: b\nfinally: c\n",
    "import a.b.c as d, e\nfrom . import f\nfrom ..g.h import (i as j, k,)\nfrom l import *\n",
    "@a.b\n@(c)\nclass A((B), *C, k=(d), **e):\n    '''Text.'''\n    x: int\n    y: 'z' = (1)\n",
    "def f(self): global g, h\n",
    "'a' 'b'; f'{a} {b!r:>{c}}' 'd'; (\n    'e'\n    f'{g(h)}'\n)\nb'x' ; r'\\d'; '''\n'''; ''; f'''{\na}'''\n",
    "1; 0x1F; 1_000; 1.5e3; 2j; None; True; ...; (a := (b)); print((yield_))\n",
    "x = (  # why\n    a  # here\n)  # there\ny = [\n    # above\n    (b),  # beside\n]\n",
    "é = 'ü'; g(é, (ß)); ñ.ö(k=é)\nif é: x = '漢' + é; y(é)\n",
    "match x:\n    case {'a': [1, *r], **o} if (r): a\n    case A.b(1, (2), c=(3), d=e.f) | A(): b\n",
    "match a, (b):\n    case [a, *_] | (b, c) | None | -1 | 'x' 'y' | 1+2j as g: ...\n    case (_): pass\n",
    "match x:\n    case a, *b: c\n    case [a], (b): c\n    case (a,) | () | [] | {}: d\n    case (A(b) as c): d\n",
    "while (a): break\nelse: continue_\nassert (a), (b)\nassert a\na += (b); a @= b; a: (c) = d\n",
    "a = b \\\n    + (c)\nif x:\n\tif y:\n\t\tz\n\n# end\n",
    "\fx = 1\nif a:\n    b\n\f    c(d)\n\\\ny\n",
]
if sys.version_info >= (3, 12):
    SNIPPETS.insert(0, "def f[T: (int), *Ts, **P](x: T): a\nclass A[T]((B)): b\ntype C[T, **P] = (D)[T]\n")
if sys.version_info >= (3, 13):
    SNIPPETS.insert(0, "def f[T: (int) = (a), *Ts = *b, **P = [c]](x: T): a\n")
BLOCKS = [
    block.source
    for code in pages.codes()
    if code != "TL003"  # whose blocks are no Python
    for block in pages.load(code).blocks
    if block.kind in ("bad", "good", "ok")
]
FILES = [path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parents[1] / "cases").glob("*.py"))]


def both(text: str) -> tuple[Tree, PlacesOfLibcst]:
    tree = parse(SourceFile.from_text(text, "a.py"))
    assert isinstance(tree.places, PlacesOfTranslation)
    return tree, PlacesOfLibcst(tree.source, cst.parse_module(text), text, {})


def pairs(one: cst.CSTNode, other: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """The nodes that correspond; fails where the trees differ in what is no white space, punctuation or parenthesis."""
    todo = [(one, other)]
    while todo:
        one, other = todo.pop()
        assert type(one) is type(other)
        for name in ("value", "star"):
            if isinstance(getattr(one, name, None), str):
                assert getattr(one, name) == getattr(other, name)
        yield one, other
        todo += zip(children(one), children(other), strict=True)


@pytest.mark.parametrize("texts", [SNIPPETS[:-2], BLOCKS[::9], FILES[::9]], ids=["snippets", "pages", "cases"])
def test_nodes_are_those_of_libcst_and_stand_where_they_are_written(texts: list[str]) -> None:
    for text in texts:
        tree, theirs = both(text)
        matched = dict(pairs(tree.module, theirs.module))
        spans = theirs.locate(matched.values())
        for node, original in matched.items():
            extent = tree.places.extent(node)
            if isinstance(node, cst.BaseExpression) and not isinstance(node, cst.StarredElement):
                assert tree.places.parentheses(node) == len(original.lpar), written.code(node)  # type: ignore[attr-defined]
                if original.lpar:  # type: ignore[attr-defined]
                    assert squeezed(written.code(node)) == squeezed(cst.Module([]).code_for_node(original))
            if extent is not None and not isinstance(node, cst.CompFor):  # LibCST counts the space in front
                assert text[slice(*extent)] == text[slice(*spans[original])]


@pytest.mark.parametrize("text", SNIPPETS[-2:])
def test_odd_layouts_have_the_nodes_that_stand_there(text: str) -> None:
    tree = parse(SourceFile.from_text(text, "a.py"))
    names = [node for node in below(tree.module) if isinstance(node, cst.Name)]
    assert [text[slice(*extent)] for extent in tree.places.locate(names).values()] == [name.value for name in names]


def squeezed(text: str) -> str:
    return "".join(text.split())


def below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in children(node):
        yield from below(child)


@pytest.mark.parametrize("text", ["for a in*b: c\n", "a = rf'\\\n{b(1)!r:>{c}}'\n", "a = *b, c\n"])
def test_what_libcst_finds_fault_with_is_read(text: str) -> None:
    tree = parse(SourceFile.from_text(text, "a.py"))
    names = [node for node in below(tree.module) if isinstance(node, cst.Name)]
    assert {name.value for name in names} == {"a", "b", "c"}
    for name, (start, end) in tree.places.locate(names).items():
        assert text[start:end] == name.value


def test_places_that_cpython_does_not_tell_are_found_as_well() -> None:
    text = "def first(second: int = 1):\n    third = f'{fourth(5)} {sixth}'\nimport seventh.eighth as ninth\n"
    tree = parse(SourceFile.from_text(text, "a.py"))
    nodes = [node for node in below(tree.module) if isinstance(node, (cst.Name, cst.Param, cst.AssignTarget, cst.Call))]
    spans = tree.locate(nodes)
    assert len(spans) == len(nodes)
    for node, (start, end) in spans.items():
        found = text[tree.source.offset(start) : tree.source.offset(end)]
        assert found.startswith(node.value if isinstance(node, cst.Name) else ("second", "third", "fourth(5)"))


def test_a_node_of_another_file_has_no_place() -> None:
    one, other = (parse(SourceFile.from_text("x = f(1)\n", name)) for name in ("a.py", "b.py"))
    assert one.locate([*other.module.body, cst.Name("x")]) == {}


def test_comments_are_told_from_the_text() -> None:
    text = "# 1\n\n# 2\n@a\ndef f():  # 3\n    x  # 4\n    # 5\n# 6\ny = 1  # 7\nfor z in y:\n    '# 8'\n    # 9\n"
    tree = parse(SourceFile.from_text(text, "a.py"))
    function, line, loop = tree.module.body
    assert isinstance(function, cst.FunctionDef)
    assert isinstance(line, cst.SimpleStatementLine)
    assert isinstance(loop, cst.For)
    assert written.comments_above(function) == ["# 1", "# 2"]
    assert written.comments_in(function) == ["# 3", "# 4", "# 5"]
    assert (written.comments_above(line), written.comment_behind(line)) == (["# 6"], "# 7")
    assert (written.comments_above(loop), written.comments_in(loop)) == ([], ["# 9"])


def test_what_is_in_no_tree_is_written_as_libcst_does() -> None:
    node = cst.parse_expression("( a+b )")
    assert (written.code(node), written.bare(node), written.parentheses(node)) == ("( a+b )", "a+b", 1)

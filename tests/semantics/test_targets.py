from __future__ import annotations

import libcst as cst
import pytest

from torchlint.semantics.names import names_read
from torchlint.semantics.nodes import below
from torchlint.semantics.targets import changed_names, loop_names, targets


@pytest.mark.parametrize(
    ("loop", "names"),
    [
        ("for x in rows: pass", "x"),
        ("for i, (x, *others) in rows: pass", "i x others"),
        ("for [x, (y,)] in rows: pass", "x y"),
        ("for self.step, batch.rows in rows: pass", "self.step batch.rows"),
        ("for table[i], x in rows: pass", "x"),
        ("[x for row in rows for i, x in row]", "row i x"),
        ("{key: x for key, x in rows}", "key x"),
        ("while (x := take()): pass", ""),
    ],
)
def test_a_loop_binds_the_names_of_its_targets(loop: str, names: str) -> None:
    found = next(node for node in below(cst.parse_module(loop)) if isinstance(node, (cst.For, cst.While, cst.BaseComp)))
    assert loop_names(found) == set(names.split())


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("x = y = z", "x y"),
        ("x, *others = z", "x others"),
        ("x: int = z", "x"),
        ("self.x += z", "self.x"),
        ("x[0][i] = z", "x"),
        ("x.data = z", "x x.data"),
        ("self.x.grad[0] = z", "self.x self.x.grad"),
        ("f(x).y = z", ""),
        ("if (x := z): pass", "x"),
        ("with z as (x, y), z: pass", "x y"),
        ("try: pass\nexcept z as x: pass", "x"),
        ("import z as x", "x"),
        ("for x in z: y = x", "x y"),
        ("[x for x in z]", "x"),
        ("del x, y[0]", "x y"),
        ("match z:\n    case [x, *y]: pass", "x y"),
        ("match z:\n    case {'k': x, **y} as w: pass", "x y w"),
        ("match z:\n    case Point(at=x) | [_, x]: pass", "x"),
    ],
)
def test_every_statement_and_pattern_that_writes_to_a_name_changes_it(code: str, names: str) -> None:
    written = (target for node in below(cst.parse_module(code)) for target in targets(node))
    assert {name for target in written for name in changed_names(target)} == set(names.split())


def test_members_and_keywords_are_no_names_that_are_read() -> None:
    assert names_read(cst.parse_expression("f(self.net(x), dim=y).size")) == {"f", "self", "self.net", "x", "y"}

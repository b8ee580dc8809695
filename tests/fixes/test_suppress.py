from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.fakes import fake_rule, settings, use_rules
from torchlint.engine import run
from torchlint.fixes import add_suppressions


@pytest.fixture(autouse=True)
def _rules(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    use_rules(monkeypatch, fake_rule(), fake_rule(code="TL102", name="slower"))


def suppressed(text: str) -> str:
    Path("a.py").write_text(text)
    own = settings(Path.cwd(), rules=frozenset({"TL001", "TL002", "TL003", "TL101", "TL102"}))
    result = add_suppressions([Path("a.py")], own)
    assert result.run.errors == []
    assert run.check([Path("a.py")], own).findings == [], "something is still found, or a suppression is of no use"
    return Path("a.py").read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("loader = slow()\n", "loader = slow()  # torchlint: ignore[TL101]\n"),
        ("loader = slow()", "loader = slow()  # torchlint: ignore[TL101]"),
        (
            "loader = slow(), slower(), slow()\n",
            "loader = slow(), slower(), slow()  # torchlint: ignore[TL101, TL102]\n",
        ),
        (
            'loader = slow()  # see "# torchlint: ignore[TL1]"\n',
            'loader = slow()  # see "# torchlint: ignore[TL1]"  # torchlint: ignore[TL101]\n',
        ),
        ("loader = slow()  # why\n", "loader = slow()  # why  # torchlint: ignore[TL101]\n"),
        (
            "loader = slow(), slower()  # torchlint: ignore[TL102] why\n",
            "loader = slow(), slower()  # torchlint: ignore[TL102, TL101] why\n",
        ),
        ("loader = slow() + \\\n    1\n", "loader = slow() + \\\n    1  # torchlint: ignore[TL101]\n"),
        ("f(\n    loader,\n    slow(),\n)\n", "f(\n    loader,\n    slow(),  # torchlint: ignore[TL101]\n)\n"),
        ("x = '''a\nb'''; slow(), loader\n", "x = '''a\nb'''; slow(), loader  # torchlint: ignore[TL101]\n"),
        ("loader = slow('''a\nb''')\n", "loader = slow('''a\nb''')  # torchlint: ignore[TL101]\n"),
        ("if loader:\n    slow(), '''\n'''\n", "if loader:\n    slow(), '''\n'''  # torchlint: ignore[TL101]\n"),
        (
            "if loader:\n    '''\n''', slow() + \\\n    f(), '''\n'''.a\n",
            "if loader:\n    '''\n''', slow() + \\\n    f(), '''\n'''.a  # torchlint: ignore[TL101]\n",
        ),
        ("for loader in slow():\n    a\n", "for loader in slow():  # torchlint: ignore[TL101]\n    a\n"),
    ],
)
def test_comments_go_where_they_work(before: str, after: str) -> None:
    assert suppressed(before) == after


def test_where_no_row_takes_a_comment_it_stands_above(monkeypatch: Any) -> None:
    monkeypatch.setattr("torchlint.fixes.suppress._takes_comment", lambda *_: False)
    assert suppressed("if loader:\n    slow()\n") == "if loader:\n    # torchlint: ignore[TL101]\n    slow()\n"


def test_unreadable_files_are_left(monkeypatch: Any) -> None:
    Path("a.py").write_text("loader = slow(\n")
    result = add_suppressions([Path("a.py")], settings(Path.cwd()))
    assert [finding.code for finding in result.run.findings] == ["TL003"]
    assert Path("a.py").read_text() == "loader = slow(\n"

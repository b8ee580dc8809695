"""What comments silence, seen from outside: a file goes in, findings come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.fakes import fake_rule, settings, use_rules
from torchlint.engine.lint import lint_bytes
from torchlint.fixes.apply import apply
from torchlint.source.text import SourceFile


@pytest.fixture(autouse=True)
def _rules(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule(), fake_rule(code="TL102", name="slow"))


def found(text: str, *codes: str) -> list[tuple[int, str]]:
    rules = frozenset(codes or ("TL101", "TL001", "TL002"))
    result = lint_bytes(text.encode(), "a.py", settings(rules=rules))
    assert result.errors == ()
    return [(finding.start.row, finding.code) for finding in result.findings]


@pytest.mark.parametrize(
    "text",
    [
        "loader\nslow()  # torchlint: ignore[TL101]\n",
        "loader\nslow()  # torchlint: ignore[sync-scalar-read] by name\n",
        "loader\nslow()  # torchlint: ignore[tl1]\n",
        "loader\nslow()  # noqa: TL101\n",
        "loader\nslow()  # noqa\n",
        "loader\n# torchlint: ignore[TL101]\nslow()\n",
        "loader\n# torchlint: ignore[TL101]\n\n# more\nf(\n    slow(),\n)\n",
        "slow()\nloader\n\n# torchlint: file-ignore[TL101]\n",
        "loader\nf(  # torchlint: ignore[TL101]\n    slow(),\n)\n",
        "loader\nf(\n    slow(),  # torchlint: ignore[TL101]\n)\n",
        "loader\nf(\n    slow(),\n)  # torchlint: ignore[TL101]\n",
        "loader\nf(\n    # torchlint: ignore[TL101]\n    slow(),\n)\n",
        "loader\nx = slow() + \\\n    1  # torchlint: ignore[TL101]\n",
        "loader\nslow(\n    1,  # torchlint: ignore[TL101] within\n    2,\n)\n",
        "loader\n@a  # torchlint: ignore[TL101]\ndef f(x=slow()):\n    pass\n",
        "loader\n# torchlint: ignore[TL101]\n@a\ndef f(x=slow()):\n    pass\n",
    ],
)
def test_a_suppression_holds_for_the_finding_and_its_statement(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loader\nx  # torchlint: ignore[TL101]\nslow()\n", [(2, "TL001"), (3, "TL101")]),
        ("loader\nf(\n    1,  # torchlint: ignore[TL101]\n    slow(),\n)\n", [(3, "TL001"), (4, "TL101")]),
        ("loader\n# noqa: TL101\nslow()\n", [(2, "TL001"), (3, "TL101")]),
        ("loader\nslow()  # torchlint: ignore[TL1O1]\n", [(2, "TL101"), (2, "TL002")]),
        ("loader\nslow()  # torchlint: ignore[]\n", [(2, "TL101"), (2, "TL002")]),
        ("loader\nslow()  # torchlint: ignore[TL101\n", [(2, "TL101"), (2, "TL002")]),
        ("loader\nslow()  # torchlint: ignore[TL101] # torchlint: ignore[TL101]\n", [(2, "TL001")]),
        ("loader\nslow()  # noqa: E501\n", [(2, "TL101")]),
        ("loader\nslow()  # noqa: TL99x\n", [(2, "TL101"), (2, "TL002")]),
        ("loader\nx = '# torchlint: ignore[TL101]'; slow()\n", [(2, "TL101")]),
        ("x = 1  # noqa: TL101\n", [(1, "TL001")]),
        ("x = 1  # noqa\n", []),
        ("loader\nfor a in slow():\n    b  # torchlint: ignore[TL101]\n", [(2, "TL101"), (3, "TL001")]),
        ("loader\nslow()  # torchlint: ignore[TL1, TL001] both\n", []),
        ("x  # torchlint: ignore[TL101, TL001]\n", []),
    ],
)
def test_what_is_not_silenced_and_what_is_unused(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text) == expected


def test_a_loop_is_silenced_at_its_header_alone(monkeypatch: Any) -> None:
    use_rules(monkeypatch, fake_rule(whole_statement=True))
    assert found("loader\nfor a in slow():  # torchlint: ignore[TL101]\n    b\n") == []
    assert (2, "TL101") in found("loader\nfor a in slow():\n    b  # torchlint: ignore[TL101]\n")


def test_a_suppression_of_a_rule_that_did_not_run_is_not_judged() -> None:
    text = "loader\nx  # torchlint: ignore[TL102]\ny  # torchlint: file-ignore[TL1]\n"
    assert found(text, "TL101", "TL001") == []


def test_a_finding_that_is_not_shown_still_needs_its_suppression(monkeypatch: Any) -> None:
    from torchlint.findings import Confidence

    use_rules(monkeypatch, fake_rule(confidence=Confidence.POSSIBLE))
    assert found("loader\nslow()  # torchlint: ignore[TL101]\n") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # torchlint: ignore[TL101] why\n", "x = 1\n"),
        ("x = 1  # noqa: TL101\n", "x = 1\n"),
        ("x = 1  # type: ignore # torchlint: ignore[TL101] why # more\n", "x = 1  # type: ignore # more\n"),
        ("x = 1  # torchlint: ignore[TL101] why # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: E501, TL101\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: TL101, E501 why\n", "x = 1  # noqa: E501 why\n"),
        ("if a:\n    # torchlint: ignore[TL101]\n    b\n", "if a:\n    b\n"),
        ("a\n# torchlint: file-ignore[TL101]", "a\n"),
    ],
)
def test_removing_an_unused_suppression_removes_nothing_else(before: str, after: str) -> None:
    result = lint_bytes(before.encode(), "a.py", settings(rules=frozenset({"TL101", "TL001"})))
    assert apply(SourceFile.from_text(before, "a.py"), result.findings).written == after


def test_suppressed_findings_are_counted() -> None:
    text = "loader\nslow()  # noqa: TL101\nslow()  # torchlint: ignore[TL101]\nslow()\n"
    result = lint_bytes(text.encode(), "a.py", settings(Path()))
    assert result.suppressed == 2
    assert len(result.findings) == 1

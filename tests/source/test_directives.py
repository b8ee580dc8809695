from __future__ import annotations

import pytest

from torchlint.source.directives import Directive, Scope, find, may_have
from torchlint.source.scan import scan


def directives(text: str) -> list[Directive]:
    return find(scan(text))


def names(text: str) -> list[list[str]]:
    return [[selector.text for selector in directive.selectors] for directive in directives(text)]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# torchlint: ignore[TL101] a reason", [["TL101"]]),
        ("#torchlint:ignore[TL601]no space", [["TL601"]]),
        ("# torchlint : ignore [ TL1 , sync-branch,]", [["TL1", "sync-branch"]]),
        ("# TORCHLINT: Ignore[tl101]", [["tl101"]]),
        (
            "# type: ignore # noqa: E501,TL601 # pylint: x # torchlint: ignore[TL101]",
            [["E501", "TL601"], ["TL101"]],
        ),
        ("# noqa: TL101", [["TL101"]]),
        ("#noqa:TL101 , TL102 why not", [["TL101", "TL102"]]),
        ("# noqa : TL503", [["TL503"]]),
        ("# NOQA: tl601 E501", [["tl601", "E501"]]),
        ("# noqa:TL601,noqa:TL602", [["TL601"]]),
        ("# torchlint: ignore[TL101] # torchlint: ignore[TL102]", [["TL101"], ["TL102"]]),
        ('# see "# torchlint: ignore[TL101]" for how', []),
        ("# mytorchlint: ignore[TL101]", []),
        ("# torchlint: input q=bf16[8,16]", []),
        ("# torchlint: a tool", []),
        ("# noqa: because it must be", []),
    ],
)
def test_what_names_rules(comment: str, expected: list[list[str]]) -> None:
    assert names(f"x = 1  {comment}\n") == expected


@pytest.mark.parametrize(
    ("comment", "says"),
    [
        ("# torchlint: ignore", "in brackets"),
        ("# torchlint: ignore[]", "names no rule"),
        ("# torchlint: ignore[ , ]", "names no rule"),
        ("# torchlint: ignore[TL601 unclosed", "not closed"),
        ("# torchlint: file-ignore[", "not closed"),
        ("# torchlint: ignroe[TL601]", "did you mean 'ignore'"),
        ("# torchlint: disable[TL601]", "no directive is called 'disable'"),
    ],
)
def test_what_is_malformed_suppresses_nothing_and_says_why(comment: str, says: str) -> None:
    (directive,) = directives(f"x = 1  {comment}\n")
    assert directive.problem is not None
    assert says in directive.problem.message
    assert directive.selectors == ()
    assert not directive.blanket


def test_a_bare_noqa_is_for_every_rule() -> None:
    assert [directive.blanket for directive in directives("x  # noqa\n")] == [True]
    assert [directive.blanket for directive in directives("x  # noqa: TL101\n")] == [False]


def test_text_in_strings_is_no_directive() -> None:
    assert directives("x = '# torchlint: ignore[TL101]'\ny = '''\n# noqa\n'''\nf'{x}# noqa'\n") == []


def test_where_they_hold() -> None:
    text = "# torchlint: file-ignore[TL1]\n# torchlint: ignore[TL2]\nx  # torchlint: ignore[TL3]\n# noqa: TL4\n"
    assert [directive.scope for directive in directives(text)] == [Scope.FILE, Scope.NEXT, Scope.LINE, Scope.LINE]


def test_places_are_those_of_the_names() -> None:
    text = "x  # torchlint: ignore[TL101, TL102] why\n"
    (directive,) = directives(text)
    assert [text[selector.start : selector.end] for selector in directive.selectors] == ["TL101", "TL102"]
    assert text[directive.start : directive.end] == "# torchlint: ignore[TL101, TL102]"


def test_files_without_a_mention_need_no_search() -> None:
    assert not may_have("import torch\nx = 1  # a comment\n")
    assert may_have("x = 1  # NoQA\n")

"""The scan against Python's own tokenizer, which is slow and knows better."""

from __future__ import annotations

import io
import sys
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import torchlint
from torchlint.source.scan import scan

_LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def by_tokenize(text: str) -> tuple[list[int], list[int]]:
    """The offsets of comments, and of the first tokens of logical lines."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    comments: list[int] = []
    lines: list[int] = []
    first: int | None = None
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        offset = starts[token.start[0] - 1] + token.start[1]
        if token.type == tokenize.COMMENT:
            comments.append(offset)
        elif token.type == tokenize.NEWLINE:
            if first is not None:
                lines.append(first)
            first = None
        elif token.type not in _LAYOUT and first is None:
            first = offset
    return comments, lines


def by_scan(text: str) -> tuple[list[int], list[int]]:
    found = scan(text)
    return [comment.start for comment in found.comments], [line.code for line in found.logical_lines]


@pytest.mark.parametrize("path", sorted(Path(torchlint.__file__).parent.rglob("*.py")), ids=lambda path: path.name)
def test_comments_and_lines_are_those_of_the_tokenizer(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert by_scan(text) == by_tokenize(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = '#'  # b\n",
        "a = '''\n# no\n'''  # yes\n",
        "a = 'it\\'s # no'  # yes\n",
        "a = r'\\'  # no, all of it is the string'\n",
        "a = (1,  # one\n     2)  # two\nb\n",
        "a = 1 + \\\n    2  # sum\n",
        "if a: b; c  # d\n",
        "f'{a}#'  # b\n",
        "f'{{#}}{a!r:>{w}}#'  # b\n",
        "f\"{x['#']}\"  # b\n",
        "rb'#' b\"#\"  # b\n",
        "f'''{\na  # in a field\n}'''  # b\n" if sys.version_info >= (3, 12) else "a\n",
        "x = f'{a:{b}}' f'{c}'  # d\n",
        "''  # empty\n",
        "x = [\n  # only\n]\n\n\n# last",
    ],
)
def test_strings_and_comments_are_told_apart(text: str) -> None:
    assert by_scan(text) == by_tokenize(text)


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ("f'{x['#']}'  # b\n", ["# b"]),  # the same quotes within: Python 3.12 and later
        ("f'{f'{f'{1}#'}#'}#'  # b\n", ["# b"]),
        ("f'''{x:#>{'w'}}'''  # b\n", ["# b"]),
        ("t'{x}#'  # b\n", ["# b"]),
        ("rf'\\{x}#'  # b\n", ["# b"]),
        ("f'\\N{NUMBER SIGN}{x}'  # b\n", ["# b"]),
        ("f'{x!r:#^{w}}' '#'  # b\n", ["# b"]),
    ],
)
def test_newer_strings_are_known_whatever_python_runs(text: str, comments: list[str]) -> None:
    assert [comment.text for comment in scan(text).comments] == comments


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("a\n", 0),
        ("f(a[b], (c, {d}))\n", 3),
        ("f('(((')  # ((((\n", 1),
        ("x = [\n  (\n    {1: (2)}\n  )\n]\n", 4),
        ("f'{((((a))))}'" + "\n", 0),  # short fields are not looked into
        ("f'{" + "(" * 40 + "a" + ")" * 40 + "}'\n", 41),
    ],
)
def test_depth_counts_brackets_in_code(text: str, depth: int) -> None:
    assert scan(text).depth == depth


@given(st.text(alphabet=st.sampled_from("abfrt'\"#()[]{}:!\\\n \t"), max_size=60))
def test_any_text_can_be_scanned(text: str) -> None:
    found = scan(text)
    assert all(0 <= start <= end <= len(text) for start, end in found.opaque)
    assert all(line.start <= line.code < line.end for line in found.logical_lines)
    assert all(text[comment.start] == "#" for comment in found.comments)

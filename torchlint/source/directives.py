"""Suppressions in comments, and where each of them holds.

    x = loss.item()  # torchlint: ignore[TL101] a reason        this rule, for this line
    x = loss.item()  # torchlint: ignore[TL1, sync-branch]      several, as selectors
    # torchlint: ignore[TL101]                                  alone on its row: the statement that follows
    # torchlint: file-ignore[TL2] a reason                      the whole file, wherever it stands
    x = loss.item()  # noqa: TL101                              this rule, for this line
    x = loss.item()  # noqa                                     every rule, for this line, as for flake8 and ruff

A line is: each row from the finding's first to its last, and the first and the last row of its statement. Codes may be
written in lower case and spaces may stand anywhere between the parts; a directive may stand behind another comment,
after a `#` of its own. What names no rule, or nothing, suppresses nothing.
"""

from __future__ import annotations

import difflib
import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.source.scan import Scan

__all__ = ["Directive", "Problem", "Scope", "Selector", "find", "may_have"]


class Scope(enum.Enum):
    """Where a directive holds."""

    FILE = "file"
    LINE = "line"  # where it stands
    NEXT = "next"  # for the statement that follows


@dataclass(frozen=True, slots=True)
class Selector:
    """One name in a directive's list, with its place in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a directive, or what looks like one, suppresses nothing; with its place in the text."""

    message: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive. `start` to `end` is its own part of the comment, a reason after it not included.

    `selectors` is empty for what suppresses everything (a bare noqa) and for what has a `problem`.
    """

    kind: str  # "ignore", "file-ignore" or "noqa"
    scope: Scope
    selectors: tuple[Selector, ...]
    start: int
    end: int
    comment: tuple[int, int]
    problem: Problem | None = None

    @property
    def blanket(self) -> bool:
        """Whether it suppresses every rule."""
        return self.kind == "noqa" and not self.selectors


_MENTION = re.compile(r"torchlint\s*:|noqa", re.IGNORECASE)

# A directive opens a comment, or follows a `#` in one: what is quoted in prose is none.
_OPENING = r"(?:^|(?<=\s))#+[ \t]*"
_OURS = re.compile(
    _OPENING + r"torchlint[ \t]*:[ \t]*(?P<kind>[\w-]+)[ \t]*(?P<list>\[(?P<names>[^\[\]#]*)(?P<closed>\])?)?",
    re.IGNORECASE,
)
_NOQA = re.compile(
    _OPENING + r"noqa\b(?:[ \t]*:[ \t]*(?P<names>[a-z]+[0-9]+(?:[ \t]*[, \t][ \t]*[a-z]+[0-9]+)*))?(?P<colon>[ \t]*:)?",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\s,]+(?:[ \t]+[^\s,]+)*")
_CODE = re.compile(r"[a-z]+[0-9]+", re.IGNORECASE)

_SUPPRESSIONS = ("ignore", "file-ignore")
_OTHERS = ("input",)  # directives that are not suppressions


def may_have(text: str) -> bool:
    """Whether a file with this text can have a directive; cheap."""
    # Letters of either case are slow to search for, and most files hold neither word.
    lower = text.lower() if text.isascii() else None
    return (lower is None or "torchlint" in lower or "noqa" in lower) and _MENTION.search(text) is not None


def find(scan: Scan) -> list[Directive]:
    """The directives of a file, in their order."""
    found = []
    for comment in scan.comments:
        if _MENTION.search(comment.text):
            end = comment.start + len(comment.text)
            found += [*_ours(comment.text, comment.start, end, comment.alone), *_noqa(comment.text, comment.start, end)]
    return sorted(found, key=lambda directive: directive.start)


def _ours(text: str, at: int, end: int, alone: bool) -> Iterator[Directive]:
    for match in _OURS.finditer(text):
        kind = match["kind"].lower()
        start = at + match.start()
        problem = None
        selectors: tuple[Selector, ...] = ()
        if kind not in _SUPPRESSIONS:
            near = difflib.get_close_matches(kind, _SUPPRESSIONS, n=1, cutoff=0.75)
            if kind in _OTHERS or not (near or match["list"]):
                continue  # a hint, or prose
            hint = f"; did you mean {near[0]!r}?" if near else ""
            problem = f"no directive is called {match['kind']!r}{hint}"
        elif match["list"] is None:
            problem = f"`{kind}` needs the rules in brackets, such as `{kind}[TL101]`"
        elif match["closed"] is None:
            problem = f"the bracket of `{kind}[` is not closed"
        else:
            offset = at + match.start("names")
            selectors = tuple(
                Selector(name.group(), offset + name.start(), offset + name.end())
                for name in _NAME.finditer(match["names"])
            )
            if not selectors:
                problem = f"`{kind}[]` names no rule"
        scope = Scope.FILE if kind == "file-ignore" else Scope.NEXT if alone else Scope.LINE
        finish = at + match.end()
        wrong = None if problem is None else Problem(problem, start, finish)
        yield Directive(kind, scope, selectors, start, finish, (at, end), wrong)


def _noqa(text: str, at: int, end: int) -> Iterator[Directive]:
    for match in _NOQA.finditer(text):
        selectors: tuple[Selector, ...] = ()
        if match["names"]:
            offset = at + match.start("names")
            selectors = tuple(
                Selector(name.group(), offset + name.start(), offset + name.end())
                for name in _CODE.finditer(match["names"])
            )
        elif match["colon"]:
            continue  # "noqa:" and no code: other tools complain of it, and it must not silence everything
        yield Directive("noqa", Scope.LINE, selectors, at + match.start(), at + match.end(), (at, end))

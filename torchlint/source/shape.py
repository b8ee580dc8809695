"""Limits on the size and the shape of what is given to LibCST.

LibCST recurses in native code: it kills the process from about 1,200 nested brackets, and takes time and memory by the
square of a chain's length (measured with 1.9: 1,000 method calls in a chain 2 s, 3,000 24 s; 4,000 nested lambdas 3 GB
of memory). So text is looked at before it is parsed. Every limit is on size or shape, so that the answer does not
depend on the machine, and lies above what people write; those that CPython has itself are CPython's.

One pass of `scan` decides for nearly all files: what is too long or nested in itself needs a long logical line, and few
files have one. Only those lines are then looked at token by token.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchlint.source.scan import Scan
from torchlint.source.text import UnreadableError

__all__ = ["LIMITS", "check"]

LIMITS = {
    "bytes": 20_000_000,
    "tokens": 1_500_000,  # a parse takes about 25 µs and 1 kB for each
    "nested brackets": 200,  # CPython's
    "nested blocks": 99,  # CPython's
    "nesting of an expression": 3_000,  # brackets and all chains below together; LibCST's own limit is about the same
    "links in a chain of calls, attributes and subscripts": 2_600,
    "terms in a chain of operators": 2_600,
    "operators of powers in a row": 500,
    "unary operators in a row": 1_000,
    "nested lambdas": 500,
    "nested conditional expressions": 500,
    "clauses of a comprehension": 1_000,
    "strings in a row": 2_500,
    "elif branches of one if": 2_000,
    "nested brackets in a pattern": 8,  # each level of a `case` takes LibCST four times as long
    "work for the parser": 30_000_000,  # the sum of the squares of all long chains; about 20 s
}

_MANY_BYTES = 1_000_000  # a smaller file cannot hold too many tokens
_LONG = 250  # characters; what a shorter line costs follows from its length
_LONG_IF_NESTED = 40  # the same in a file whose brackets nest deeper than
_NESTED = 20
_WORK_OF_NESTING = 12  # nested brackets, against links of a chain as many

# Brackets around nothing but short parts, and how often these may be taken for a part of one character.
_SHORT = rf"[^()\[\]{{}},;]{{0,{_LONG}}}"
_FLAT_BRACKETS = re.compile(rf"[(\[{{](?:{_SHORT}[,;])*{_SHORT}[)\]}}]")
_FLAT_LINE = re.compile(rf"(?:{_SHORT}[,;])*{_SHORT}")
_FLAT_ROUNDS = LIMITS["nesting of an expression"] // _LONG

_TOKENS = re.compile(r"\w+|[^\w\s]")
_DEEP_INDENT = re.compile(rf"^[ \t\f]{{{LIMITS['nested blocks']}}}", re.MULTILINE)
_MATCH = re.compile(r"^[ \t\f]*match\b.*:", re.MULTILINE)
_CASE = re.compile(r"case\b\s*[^\s=.,):]")
_BRACKETS = re.compile(r"[()\[\]{}]")
_ELIF = re.compile(r"elif\b")
_ELIF_OR_ELSE = re.compile(r"el(?:if|se)\b")

# What makes a tree deep. Strings are a quote here; what is left out stands beside something that is not.
_DEEPENS = re.compile(
    r"(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<separator>[,;])|(?P<colon>:)|(?P<string>\")|(?P<dot>\.)|(?P<power>\*\*)"
    r"|(?P<operator>//|<<|>>|[<>=!]=|[-+~*/%@&|^<>]|\b(?:not|and|or|in|is)\b)"
    r"|(?P<lambda>\blambda\b)|(?P<if>\bif\b)|(?P<else>\belse\b)|(?P<for>\bfor\b)|(?P<operand>\w+)"
)


def check(scan: Scan) -> None:
    """Raises UnreadableError, naming the limit, where the text goes past one."""
    text = scan.text
    _demand("bytes", len(text), scan, 0)
    if len(text) > _MANY_BYTES:
        _demand("tokens", sum(1 for _ in _TOKENS.finditer(text)), scan, 0)
    _demand("nested brackets", scan.depth, scan, scan.deepest)
    if _DEEP_INDENT.search(text):
        _check_blocks(scan)
    longest = _LONG_IF_NESTED if scan.depth > _NESTED else _LONG
    work = start = 0
    for end in scan.ends:
        if end - start > longest:
            work += _check_line(scan, start, end)
            _demand("work for the parser", work, scan, start)
        start = end + 1
    if scan.depth > LIMITS["nested brackets in a pattern"] and _MATCH.search(text):
        _check_patterns(scan)
    if text.count("elif") > LIMITS["elif branches of one if"]:
        _check_elifs(scan)


def _demand(limit: str, value: int, scan: Scan, offset: int) -> None:
    if value > LIMITS[limit]:
        row = scan.text.count("\n", 0, offset) + 1
        raise UnreadableError(f"too large or too deeply nested: {value:,} {limit}, the limit is {LIMITS[limit]:,}", row)


@dataclass(slots=True)
class _Level:
    """What stands between two brackets, or in a whole line: the depth that its parts add up to."""

    in_lambda: int = 0  # lambdas whose colon has not come yet; their commas separate nothing
    counts: Counter[str] = field(default_factory=Counter)  # of the part since the last comma, by limit
    inner: int = 0  # the deepest level closed in this part
    brackets: int = 0  # the same, counting brackets alone
    deepest: int = 0  # the deepest part
    most_brackets: int = 0

    def end_part(self) -> None:
        """A comma: what follows stands beside what came before, not below it."""
        self.deepest = max(self.deepest, self.inner + sum(self.counts.values()))
        self.most_brackets = max(self.most_brackets, self.brackets)
        self.counts.clear()
        self.inner = self.brackets = 0

    def close(self, level: _Level) -> None:
        """A level below this one ended."""
        self.inner = max(self.inner, level.deepest + 1)
        self.brackets = max(self.brackets, level.most_brackets + 1)


_LIMIT_OF = {
    "dot": "links in a chain of calls, attributes and subscripts",
    "open": "links in a chain of calls, attributes and subscripts",
    "operator": "terms in a chain of operators",
    "power": "operators of powers in a row",
    "unary": "unary operators in a row",
    "lambda": "nested lambdas",
    "else": "nested conditional expressions",
    "for": "clauses of a comprehension",
    "string": "strings in a row",
}


def _check_line(scan: Scan, start: int, end: int) -> int:
    """Hold the logical line against the limits on expressions; returns the work it is for the parser."""
    code = " ".join("".join(_code_of(scan, start, end)).split())
    if scan.depth <= _NESTED and _is_flat(code):
        return 0
    levels = [_Level()]
    work = 0
    after_operand = False

    def end_part(level: _Level) -> int:
        for limit, count in level.counts.items():
            _demand(limit, count, scan, start)
        effort = sum(level.counts.values()) ** 2
        level.end_part()
        _demand("nesting of an expression", level.deepest, scan, start)
        return effort

    for match in _DEEPENS.finditer(code):
        kind = match.lastgroup or ""
        level = levels[-1]
        if kind in ("operator", "power") and not after_operand:
            kind = "unary"
        if kind == "separator":
            if not level.in_lambda:
                work += end_part(level)
        elif kind == "colon":
            level.in_lambda = max(0, level.in_lambda - 1)
        elif kind == "close":
            work += end_part(level)
            if len(levels) > 1:
                levels.pop()
                levels[-1].close(level)
        elif kind in _LIMIT_OF and (kind != "open" or after_operand):
            level.counts[_LIMIT_OF[kind]] += 1
        if kind == "open":
            levels.append(_Level())
        elif kind == "lambda":
            level.in_lambda += 1
        after_operand = kind in ("operand", "close", "string")
    for level in reversed(levels):
        work += end_part(level)
    return work + _WORK_OF_NESTING * levels[0].most_brackets ** 2


def _is_flat(code: str) -> bool:
    """Whether all parts of a line are short once the brackets in them are taken for one character: nearly always."""
    if len(code) <= _LONG:
        return True
    if code.count("lambda") >= LIMITS["nested lambdas"]:  # their commas separate nothing
        return False
    for _ in range(_FLAT_ROUNDS):
        if _FLAT_LINE.fullmatch(code):
            return True
        code, replaced = _FLAT_BRACKETS.subn("0", code)
        if not replaced:
            return False
    return False


def _code_of(scan: Scan, start: int, end: int) -> Iterator[str]:
    """The code between two offsets; for a string its quote."""
    text = scan.text
    position = start
    for index in range(bisect_left(scan.opaque, (start, start)), len(scan.opaque)):
        opaque_start, opaque_end = scan.opaque[index]
        if opaque_start >= end:
            break
        yield text[position:opaque_start]
        if text[opaque_start] in "\"'":
            yield '"'
        position = opaque_end
    yield text[position:end]


def _check_elifs(scan: Scan) -> None:
    counts: dict[int, int] = {}  # elif branches so far, by the indentation of an if that is still open
    for line in scan.logical_lines:
        indentation = line.code - line.start
        if not _ELIF_OR_ELSE.match(scan.text, line.code):
            counts = {column: count for column, count in counts.items() if column < indentation}
        elif _ELIF.match(scan.text, line.code):
            counts[indentation] = counts.get(indentation, 0) + 1
            _demand("elif branches of one if", counts[indentation], scan, line.code)


def _check_patterns(scan: Scan) -> None:
    for line in scan.logical_lines:
        if _CASE.match(scan.text, line.code):
            depth = deepest = 0
            for piece in _code_of(scan, line.code, line.end):
                for bracket in _BRACKETS.findall(piece):
                    depth += 1 if bracket in "([{" else -1
                    deepest = max(deepest, depth)
            _demand("nested brackets in a pattern", deepest, scan, line.code)


def _check_blocks(scan: Scan) -> None:
    open_blocks = [0]
    for line in scan.logical_lines:
        indentation = line.code - line.start
        while open_blocks[-1] > indentation:
            open_blocks.pop()
        if open_blocks[-1] < indentation:
            open_blocks.append(indentation)
            _demand("nested blocks", len(open_blocks) - 1, scan, line.code)

"""The rules' pages: documentation, test cases and experiments in one file each.

A page is `rules_docs/TLnnn-name.md`. Its fenced blocks carry what they are for in the info string:

- ```` ```python bad ````: a module in which every line to be reported ends in a comment naming the code, `# TL101`;
- ```` ```python good ````: the same module repaired; the first `bad` and the first `good` are the pair that is run;
- ```` ```python ok ````: a trap that must stay silent;
- ```` ```python inputs ````: how the pair is called. It defines `ENTRY`, the name of the function that both modules
  define, `SIZES`, keyword arguments of `inputs` by the names "small", "medium" and "large", and
  `inputs(device, dtype, **size)`, which returns fresh arguments for the entry.

The pages lie beside the package in a source tree and inside it in a wheel. Reading one imports nothing heavy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

__all__ = ["SECTIONS", "Block", "Page", "PageError", "codes", "file", "load", "parse"]

# What every page says, in this order.
SECTIONS = (
    "What it does",
    "Why it costs",
    "Example",
    "Use instead",
    "When it is fine",
    "Fix safety",
    "What it trades",
    "Measured",
    "References",
)

_FILE_NAME = re.compile(r"(?P<code>TL\d{3})-(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)\.md")
_TITLE = re.compile(r"# (?P<name>\S+) \((?P<code>TL\d{3})\)")
_FENCE = re.compile(r"```(?P<info>.*)")


class PageError(ValueError):
    """A page that does not follow the format, or a code that has none."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    `kind` is "bad", "good", "ok" or "inputs", and "" for code that is only shown. `row` is the row of the page, from 1,
    on which `source` begins.
    """

    kind: str
    source: str
    row: int
    section: str


@dataclass(frozen=True, slots=True)
class Page:
    """One rule's page. `text` is the whole of it; `sections` maps each heading to the text below it."""

    code: str
    name: str
    summary: str
    text: str
    sections: Mapping[str, str]
    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        """The heading: the rule's name and code."""
        return f"{self.name} ({self.code})"

    def of_kind(self, kind: str) -> tuple[Block, ...]:
        """The blocks of one kind, in the order of the page."""
        return tuple(block for block in self.blocks if block.kind == kind)

    @property
    def pair(self) -> tuple[Block, Block, Block] | None:
        """The `bad`, `good` and `inputs` blocks that make an experiment; none where the page has no inputs."""
        inputs = self.of_kind("inputs")
        return (self.of_kind("bad")[0], self.of_kind("good")[0], inputs[0]) if inputs else None


@cache
def codes() -> tuple[str, ...]:
    """The codes that have a page, in their order."""
    return tuple(sorted(_files()))


def file(code: str) -> Path:
    """Where the page of the rule `code` lies in this installation. Raises PageError where there is none."""
    if code not in _files():
        raise PageError(f"{code} has no page")
    return _files()[code]


@cache
def load(code: str) -> Page:
    """The page of the rule `code`.

    Raises:
        PageError: no such page is installed, or it does not follow the format.
    """
    where = file(code)
    page = parse(where.read_text(encoding="utf-8"), where.name)
    if where.name != f"{page.code}-{page.name}.md":
        raise PageError(f"{where.name}: the title says {page.title}")
    return page


def parse(text: str, filename: str) -> Page:
    """Read the text of a page; `filename` is for messages.

    Raises:
        PageError: the text has no title, or a fence that is not closed.
    """
    lines = text.splitlines()
    title = _TITLE.fullmatch(lines[0]) if lines else None
    if title is None:
        raise PageError(f"{filename}:1: the first line must read '# name (TLnnn)'")
    sections: dict[str, list[str]] = {}
    blocks: list[Block] = []
    section, opened, info = "", 0, ""
    for row, line in enumerate(lines[1:], start=2):
        fence = _FENCE.fullmatch(line)
        if fence is not None and not opened:
            opened, info = row, fence["info"].strip()
        elif opened and line == "```":
            kind = info.removeprefix("python").strip() if info.startswith("python") else ""
            blocks.append(Block(kind, "\n".join(lines[opened : row - 1]) + "\n", opened + 1, section))
            opened = 0
        elif not opened and line.startswith("## "):
            section = line.removeprefix("## ").strip()
            if section in sections:
                raise PageError(f"{filename}:{row}: a second section '{section}'")
            sections[section] = []
            continue
        sections.setdefault(section, []).append(line)
    if opened:
        raise PageError(f"{filename}:{opened}: this block is not closed")
    said = {heading: "\n".join(body).strip() for heading, body in sections.items()}
    summary = " ".join(said.pop("", "").split())
    return Page(title["code"], title["name"], summary, text, MappingProxyType(said), tuple(blocks))


@cache
def _files() -> Mapping[str, Path]:
    """The page files by code."""
    here = Path(__file__)
    for folder in (here.parents[1] / "rules_docs", here.parents[2] / "rules_docs"):
        if folder.is_dir():
            names = ((file, _FILE_NAME.fullmatch(file.name)) for file in folder.iterdir())
            return MappingProxyType({name["code"]: file for file, name in names if name is not None})
    raise PageError("the rules' pages are missing from this installation; install torchlint again")

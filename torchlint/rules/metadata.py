"""What the rules say of themselves, read from their modules without importing them, or LibCST.

A run in which nothing changed, a hook that has nothing to do, and `torchlint rule` need no more than this.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["metadata"]

# The head of a class at the top level of a module: what stands before its first method.
_HEAD: Final = re.compile(r"^class \w+\(.*\):\n((?:(?: {4}(?!def |@).*)?\n)+)", re.MULTILINE)


@cache
def metadata() -> Mapping[str, Mapping[str, Any]]:
    """The attributes of every rule's class by its code; a member of an enumeration by its name."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*/[!_]*.py")):
        for head in _HEAD.findall(path.read_text(encoding="utf-8")):
            attributes = dict(_attributes(head))
            if "code" in attributes:
                found[attributes["code"]] = attributes
    return dict(sorted(found.items()))


def _attributes(head: str) -> Iterator[tuple[str, Any]]:
    for statement in ast.parse("if True:\n" + head).body[0].body:  # type: ignore[attr-defined]
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                yield name, value
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr=member)):
                yield name, member

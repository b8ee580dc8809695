"""Dropping the imports that repairs have left without use."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

import libcst as cst

from torchlint.engine.edits import to_fix
from torchlint.findings import Applicability
from torchlint.fixes.apply import apply_edits
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.source import written
from torchlint.source.parse import parse
from torchlint.source.scan import Scan, scan
from torchlint.source.text import SourceFile

__all__ = ["drop_unused"]

# Importing these does nothing that a program could miss.
_HARMLESS: Final = frozenset(sys.stdlib_module_names) | {"torch", "numpy"}
_IMPORT: Final = re.compile(r"(?:import|from)\b")


def drop_unused(before: SourceFile, after: SourceFile) -> SourceFile:
    """`after`, without the imports at its top whose names `before` used and `after` does not.

    What was unused before stays, and so does what others may import from a package's `__init__.py`.
    """
    if PurePath(after.path).name == "__init__.py":
        return after
    tree = parse(after)
    lost = {
        name
        for statement in _imports(tree.module)
        for alias in statement.names  # type: ignore[union-attr]
        if (name := _name(statement, alias)) is not None
        and not _is_used(after, tree.scan, name)
        and _is_used(before, scan(before.text), name)
    }
    if not lost:
        return after
    edits = [edit for statement in _imports(tree.module) for edit in _without(statement, lost)]
    spans = tree.locate([edit.node for edit in edits])
    fix = to_fix(NodeFix(Applicability.SAFE, "Drop what is not used any more", tuple(edits)), tree, spans)
    return SourceFile.from_bytes(after.encode(apply_edits(after, fix.edits)), after.path)


def _imports(module: cst.Module) -> Iterator[cst.Import | cst.ImportFrom]:
    for line in module.body:
        if isinstance(line, cst.SimpleStatementLine):
            for small in line.body:
                if isinstance(small, (cst.Import, cst.ImportFrom)) and not isinstance(small.names, cst.ImportStar):
                    yield small


def _name(statement: cst.Import | cst.ImportFrom, alias: cst.ImportAlias) -> str | None:
    """The name that an import binds, where it is of a module that is known to do nothing else."""
    if isinstance(statement, cst.ImportFrom) and (statement.relative or statement.module is None):
        return None
    source = statement.module if isinstance(statement, cst.ImportFrom) else alias.name
    root: cst.CSTNode | None = source
    while isinstance(root, cst.Attribute):
        root = root.value
    if not isinstance(root, cst.Name) or root.value not in _HARMLESS or root.value == "__future__":
        return None
    if alias.asname is not None:
        return alias.asname.name.value if isinstance(alias.asname.name, cst.Name) else None
    if isinstance(statement, cst.Import):
        return root.value
    return alias.name.value if isinstance(alias.name, cst.Name) else None


def _without(statement: cst.Import | cst.ImportFrom, lost: set[str]) -> Iterator[NodeEdit]:
    assert not isinstance(statement.names, cst.ImportStar)
    kept = [alias for alias in statement.names if _name(statement, alias) not in lost]
    if not kept:
        yield NodeEdit(statement, "", "delete")
    elif len(kept) < len(statement.names):
        line = cst.parse_statement(written.code(statement))
        assert isinstance(line, cst.SimpleStatementLine)
        whole = line.body[0]
        assert isinstance(whole, (cst.Import, cst.ImportFrom))
        assert not isinstance(whole.names, cst.ImportStar)
        left = [whole.names[statement.names.index(alias)] for alias in kept]
        left[-1] = left[-1].with_changes(comma=whole.names[-1].comma)
        yield NodeEdit(statement, cst.Module([]).code_for_node(whole.with_changes(names=left)))


def _is_used(source: SourceFile, scanned: Scan, name: str) -> bool:
    """Whether the name stands anywhere but in comments and in the imports: in code, or in a string that may be code."""
    hidden = list(scanned.comment_spans)
    hidden += [(line.start, line.end) for line in scanned.logical_lines if _IMPORT.match(source.text, line.code)]
    return any(
        not any(start <= match.start() < end for start, end in hidden)
        for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\b", source.text)
    )

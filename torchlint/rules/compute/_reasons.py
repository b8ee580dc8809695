"""Whether code says why it does something unusual."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.source import written

_WORDS: Final = 3  # shorter comments name things; a reason is a sentence
_PRAGMA: Final = re.compile(r"#\s*(noqa|type:|pylint:|torchlint:|fmt:|TL\d)", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


def states_reason(model: Model, node: cst.CSTNode) -> bool:
    """Whether a comment stands on the statement around a node, or directly above it."""
    statement: cst.CSTNode | None = node
    while statement is not None and not isinstance(statement, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        statement = model.parent(statement)
    if statement is None:
        return False
    comments = written.comments_above(statement)
    if isinstance(statement, cst.SimpleStatementLine) and (behind := written.comment_behind(statement)) is not None:
        comments.append(behind)
    return any(_is_reason(comment) for comment in comments)


def speaks_of(context: Context, pattern: re.Pattern[str]) -> bool:
    """Whether a docstring or a comment of the function around, or its class's docstring, has what the pattern finds."""
    owner = context.owner
    if owner is None or not isinstance(owner.node, cst.FunctionDef):
        return False
    said = [owner.node.get_docstring(), *written.comments_in(owner.node)]
    if owner.cls is not None:
        said.append(owner.cls.node.get_docstring())
    return any(pattern.search(text) is not None for text in said if text and _PRAGMA.match(text) is None)


def _is_reason(comment: str) -> bool:
    return _PRAGMA.match(comment) is None and len(_WORD.findall(comment)) >= _WORDS

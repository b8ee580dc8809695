"""Leaving out what measured code must not use and does not need: progress bars, loggers, writers, files saved.

Imports of modules that only show, log or report are taken out of the code, and their names become stand-ins that take
what they are given and do nothing (`standins.inert`); calls that only save something go the same way. Each is named in
the report. All other modules that are not on the list stay, for the policy to refuse. Rows stay what they were.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.verify import policy
from torchlint.verify.extract import Unit

__all__ = ["Quiet", "quiet"]

# Modules that show, log and report, or that do nothing in a process without companions.
_QUIET = ("logging", "loguru", "mlflow", "rich", "tensorboard", "tensorboardX", "torch.distributed",
          "torch.utils.tensorboard", "tqdm", "wandb", "warnings")  # fmt: skip
# Functions of listed modules that only write or say something; the stand-in for them is called like them.
_SAYING: Mapping[str, str] = {
    "torch.save": "torchlint_unsaved",
    "torch.jit.save": "torchlint_unsaved",
    "torch.onnx.export": "torchlint_unsaved",
}


@dataclass(frozen=True, slots=True)
class Quiet:
    """A unit without what it must not use: its source, and the names that stand-ins take, with what they stood for."""

    unit: Unit
    names: dict[str, str]


def quiet(unit: Unit, allow: Sequence[str]) -> Quiet:
    """The unit without imports of what only shows, logs or reports.

    Args:
        unit: as `extract` cut it.
        allow: modules that the user allowed.
    """
    names: dict[str, str] = {}
    lines = unit.source.split("\n")
    for statement in ast.walk(unit.tree):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            kept = []
            for alias, full in _imported(statement):
                if full is None or not _is_quiet(full) or _is_known(full, isinstance(statement, ast.Import), allow):
                    kept.append(alias)
                elif alias.asname is None and isinstance(statement, ast.Import) and policy.knows(full.split(".")[0]):
                    kept.append(alias)  # its name is that of a package which is allowed
                else:
                    names[alias.asname or alias.name.split(".")[0]] = full
            if len(kept) < len(statement.names) and not _rewrite(lines, statement, kept):
                return Quiet(unit, {})
    for node, full in sorted(_saying(unit.tree), key=lambda found: found[0].col_offset, reverse=True):
        names[_SAYING[full]] = full
        _replace(lines, node, _SAYING[full])
    if not names:
        return Quiet(unit, {})
    source = "\n".join(lines)
    free = tuple(name for name in unit.free if name not in names)
    return Quiet(Unit(source, unit.entry, ast.parse(source), unit.function, unit.owner, free), names)


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[ast.alias, str | None]]:
    """Each name with what it stands for; None for imports of the language."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            yield alias, alias.name
        elif statement.module == "__future__" or alias.name == "*":
            yield alias, None
        else:
            yield alias, f"{'.' * statement.level}{statement.module or ''}.{alias.name}"


def _is_quiet(full: str) -> bool:
    return any(full == module or full.startswith(f"{module}.") for module in _QUIET)


def _is_known(full: str, is_module: bool, allow: Sequence[str]) -> bool:
    if policy.knows(full, None, allow):
        return True
    module, _, name = full.rpartition(".")
    return not is_module and bool(module) and policy.knows(module, name, allow)


def _rewrite(lines: list[str], statement: ast.Import | ast.ImportFrom, kept: Sequence[ast.alias]) -> bool:
    """Leave the kept names of an import alone; `pass` where none is left, since it may be all of a block.

    False where something else stands in its rows.
    """
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    around = lines[first - 1][: statement.col_offset] + lines[last - 1][statement.end_col_offset or 0 :].split("#")[0]
    if around.strip():
        return False
    indent = lines[first - 1][: statement.col_offset]
    if kept and isinstance(statement, ast.Import):
        text = ast.unparse(ast.Import(list(kept)))
    elif kept and isinstance(statement, ast.ImportFrom):
        text = ast.unparse(ast.ImportFrom(statement.module, list(kept), statement.level))
    else:
        text = "pass"
    lines[first - 1 : last] = [indent + text, *[""] * (last - first)]
    return True


def _saying(tree: ast.Module) -> Iterator[tuple[ast.Attribute, str]]:
    found = [(node, ast.unparse(node)) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    yield from ((node, full) for node, full in found if full in _SAYING and node.lineno == node.end_lineno)


def _replace(lines: list[str], node: ast.Attribute, text: str) -> None:
    line = lines[node.lineno - 1].encode("utf-8")
    line = line[: node.col_offset] + text.encode("utf-8") + line[node.end_col_offset or 0 :]
    lines[node.lineno - 1] = line.decode("utf-8")

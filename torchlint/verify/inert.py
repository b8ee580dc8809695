"""Leaving out what measured code must not use and does not need: progress bars, loggers, writers, files saved.

Imports of modules that only show, log or report are taken out of the code, and their names become stand-ins that take
what they are given and do nothing (`standins.inert`); calls that only save something go the same way. Each is named in
the report. All other modules that are not on the list stay, for the policy to refuse. Rows stay what they were.

Where the policy refuses a module that is not Python's own, such as a helper's in another file, `without` takes its
imports out as well: what was imported is described by how it is used (`inputs.py`), a base class of it becomes one that
torch or Python has, a decorator of it is left out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from torchlint.verify import policy
from torchlint.verify.allowed import NAMES
from torchlint.verify.extract import Unit

__all__ = ["Quiet", "quiet", "without"]

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
    """A unit without what it must not use: its source, and the names that stand-ins take, with what they stood for.

    `names` are those that do nothing; `foreign` what other modules define; `replaced` says in sentences what else was.
    """

    unit: Unit
    names: dict[str, str]
    foreign: Mapping[str, str] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()


def quiet(unit: Unit, allow: Sequence[str]) -> Quiet:
    """The unit without imports of what only shows, logs or reports.

    Args:
        unit: as `extract` cut it.
        allow: modules that the user allowed.
    """
    lines = unit.source.split("\n")
    changed = _by_package(unit.tree, lines)
    names = _taken_out(
        unit.tree, lines, lambda full, is_module: _is_quiet(full) and not _is_known(full, is_module, allow)
    )
    if names is None:
        return Quiet(unit, {})
    for node, full in sorted(_saying(unit.tree), key=lambda found: found[0].col_offset, reverse=True):
        names[_SAYING[full]] = full
        _replace(lines, node, _SAYING[full])
    if not names and not changed:
        return Quiet(unit, {})
    source = "\n".join(lines)
    free = tuple(name for name in unit.free if name not in names)
    return Quiet(Unit(source, unit.entry, ast.parse(source), unit.function, unit.owner, free), names)


# Modules that are never stood in for: their names are listed one by one, or what they do is for the policy to refuse.
_PLAIN = "abc argparse datetime json pprint string textwrap typing_extensions".split()
_OWN = (frozenset(module.split(".")[0] for module in NAMES) | sys.stdlib_module_names) - frozenset(_PLAIN)
_OF_OS = frozenset("path environ getenv cpu_count sep".split())  # what says where things are, and opens none of them
_JIT = re.compile(r"jit|kernel|compile|autotune|heuristics")  # decorators that make another code of it


def without(quieted: Quiet, allow: Sequence[str]) -> Quiet:
    """The unit without the imports of modules that are neither Python's, nor torch's, nor allowed.

    An import that a handler of ImportError stands by fails, so that its fallback runs.
    """
    unit = quieted.unit
    lines = unit.source.split("\n")

    used = {ast.unparse(node) for node in ast.walk(unit.tree) if isinstance(node, ast.Attribute)}
    of_os = {text.split(".")[1] for text in used if text.startswith("os.")} <= _OF_OS

    def is_foreign(full: str, is_module: bool) -> bool:
        if full == "os" or full.rpartition(".")[0] == "os":
            return of_os and (is_module or full[3:] in _OF_OS)
        return full.split(".")[0] not in _OWN and not _is_known(full, is_module, allow)

    names = _taken_out(unit.tree, lines, is_foreign)
    if not names:
        return quieted
    replaced: list[str] = []
    for node in ast.walk(unit.tree):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        for decorator in node.decorator_list:
            if _head(decorator) in names and not _JIT.search(ast.unparse(decorator)):
                _blank(lines, decorator)
                replaced.append(f"the decorator {_head(decorator)} of {node.name} is left out")
        if isinstance(node, ast.ClassDef) and any(_head(base) in names for base in node.bases):
            replaced.append(_derived(lines, node, unit.tree, names))
    tree = ast.parse("\n".join(lines))
    function, owner = _twins(tree, unit)
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    kept = {name: full for name, full in names.items() if name in read}
    free = tuple(name for name in unit.free if name not in names)
    made = Unit("\n".join(lines), unit.entry, tree, function, owner, free)
    return Quiet(made, quieted.names, kept, tuple(replaced))


def _by_package(tree: ast.Module, lines: list[str]) -> bool:
    """Import from torch's packages what they hold under the name of a module within; whether there was any."""
    found = False
    for statement in ast.walk(tree):
        if (
            not isinstance(statement, ast.ImportFrom)
            or statement.level
            or not (statement.module or "").startswith("torch.")
        ):
            continue
        package = statement.module or ""
        if _knows(package, True, ()):
            continue
        while package and not all(_knows(f"{package}.{alias.name}", False, ()) for alias in statement.names):
            package = package.rpartition(".")[0]
        if package.startswith("torch."):
            statement.module = package
            found = _rewrite(lines, statement, statement.names) or found
    return found


def _taken_out(tree: ast.Module, lines: list[str], out: Callable[[str, bool], bool]) -> dict[str, str] | None:
    """Take the imports out of the lines for which `out` says so; the names they gave, with what those stood for.

    None where an import shares its rows with something else.
    """
    names: dict[str, str] = {}
    attempts = {id(s) for t in ast.walk(tree) if isinstance(t, ast.Try) and t.handlers for s in t.body}
    for statement in ast.walk(tree):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            kept, lost = [], {}
            for alias, full in _imported(statement):
                is_module = isinstance(statement, ast.Import)
                if full is None or not out(full, is_module):
                    kept.append(alias)
                elif alias.asname is None and is_module and policy.knows(full.split(".")[0]):
                    kept.append(alias)  # its name is that of a package which is allowed
                else:
                    lost[alias.asname or alias.name.split(".")[0]] = full
            fails = bool(lost) and id(statement) in attempts and not any(map(_is_quiet, lost.values()))
            if len(kept) < len(statement.names) and not _rewrite(lines, statement, [] if fails else kept, fails):
                return None
            names.update({} if fails else lost)
    return names


def _head(node: ast.expr) -> str:
    """The first name of a dotted or called one."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _derived(lines: list[str], owner: ast.ClassDef, tree: ast.Module, names: Mapping[str, str]) -> str:
    """Let a class derive from what is left of its bases, or from what torch has; says so."""
    left = [ast.unparse(base) for base in owner.bases if _head(base) not in names]
    lost = [ast.unparse(base) for base in owner.bases if _head(base) in names]
    methods = {child.name for child in owner.body if isinstance(child, ast.FunctionDef)}
    imported = {
        alias.asname or alias.name: alias.name
        for statement in tree.body
        if isinstance(statement, (ast.Import, ast.ImportFrom))
        for alias in statement.names
    }
    module = next((name for name, full in imported.items() if full in ("nn", "torch.nn")), None)
    module = module or next((f"{name}.nn" for name, full in imported.items() if full == "torch"), None)
    if (
        not left
        and module is not None
        and (methods & {"forward", "training_step"} or f"{module}." in ast.unparse(owner))
    ):
        left = [f"{module}.Module"]
    first, last = owner.bases[0], owner.bases[-1]
    for row in range(first.lineno, last.end_lineno or last.lineno):  # the rows after the first
        text = lines[row].encode("utf-8")
        end = last.end_col_offset or 0 if row + 1 == last.end_lineno else len(text)
        lines[row] = (b" " * end + text[end:]).decode("utf-8")
    text = lines[first.lineno - 1].encode("utf-8")
    rest = text[last.end_col_offset or 0 :] if last.end_lineno == first.lineno else b""
    lines[first.lineno - 1] = (text[: first.col_offset] + ", ".join(left).encode("utf-8") + rest).decode("utf-8")
    return f"{owner.name} derives from {', '.join(left) or 'object'} alone, not from {', '.join(lost)}"


def _twins(tree: ast.Module, unit: Unit) -> tuple[ast.FunctionDef, ast.ClassDef | None]:
    """The unit's function and its class in the tree of the changed source, which has the same rows."""
    owner = unit.owner
    if owner is not None:
        owner = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == unit.entry.split(".")[0])
    inside = owner.body if owner is not None else tree.body
    name = unit.function.name
    return next((n for n in inside if isinstance(n, ast.FunctionDef) and n.name == name), unit.function), owner


def _blank(lines: list[str], decorator: ast.expr) -> None:
    for row in range(decorator.lineno - 1, decorator.end_lineno or decorator.lineno):
        lines[row] = ""


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
    return _knows(full, is_module, tuple(allow))


@lru_cache(maxsize=4096)  # the same modules are imported in every file
def _knows(full: str, is_module: bool, allow: tuple[str, ...]) -> bool:
    if policy.knows(full, None, allow):
        return True
    module, _, name = full.rpartition(".")
    return not is_module and bool(module) and policy.knows(module, name, allow)


def _rewrite(
    lines: list[str], statement: ast.Import | ast.ImportFrom, kept: Sequence[ast.alias], fails: bool = False
) -> bool:
    """Leave the kept names of an import alone; `pass` where none is left, since it may be all of a block.

    Where it `fails`, it raises what a missing module does. False where something else stands in its rows.
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
        text = "raise ImportError" if fails else "pass"
    lines[first - 1 : last] = [indent + text, *[""] * (last - first)]
    return True


def _saying(tree: ast.Module) -> Iterator[tuple[ast.Attribute, str]]:
    found = [(node, ast.unparse(node)) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    yield from ((node, full) for node, full in found if full in _SAYING and node.lineno == node.end_lineno)


def _replace(lines: list[str], node: ast.Attribute, text: str) -> None:
    line = lines[node.lineno - 1].encode("utf-8")
    line = line[: node.col_offset] + text.encode("utf-8") + line[node.end_col_offset or 0 :]
    lines[node.lineno - 1] = line.decode("utf-8")

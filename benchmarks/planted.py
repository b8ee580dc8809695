"""Whether antipatterns are found in surroundings that nobody here wrote.

    python benchmarks/planted.py path/to/package...
    python benchmarks/planted.py --select TL101,TL6 path/to/package...

Takes every `bad` block of the rules' pages, writes it anew in several ways, and appends each to a copy of a real file
from the given folders: as it stands, with its functions as methods of a class, nested in a function, with what is
marked moved into a helper or into a comprehension, with names that give nothing away, with imports under other names.
Prints for each rule how many of the lines that must be reported were, at any confidence and by default, and each miss.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from torchlint.engine.lint import lint_bytes
from torchlint.engine.settings import Settings
from torchlint.findings import Confidence
from torchlint.rules import pages
from torchlint.rules.registry import all_rules

_MARK = re.compile(r"#\s*(?P<codes>TL\d{3}(?:,\s*TL\d{3})*)\s*$")
_HOST_SIZE = range(1_000, 12_000)  # bytes of the files to plant in: real ones that take no time to read
_BUILTINS = frozenset(dir(builtins))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OPAQUE = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


class Plant(NamedTuple):
    """A module, and the statements in it that must be reported, each with others that will do as well."""

    module: ast.Module
    wanted: tuple[tuple[ast.stmt, ...], ...]


def planted(source: str, code: str) -> Plant:
    """A `bad` block and the statements on its marked rows."""
    module = ast.parse(source)
    rows = [row for row, line in enumerate(source.splitlines(), start=1) if _is_marked(line, code)]
    module.body = [s for s in module.body if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]
    return Plant(module, tuple((_statement(module, row),) for row in rows))


def _is_marked(line: str, code: str) -> bool:
    mark = _MARK.search(line)
    return mark is not None and code in re.split(r",\s*", mark["codes"])


def _statement(module: ast.Module, row: int) -> ast.stmt:
    """The innermost statement on a row."""
    around = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.stmt) and _first_row(node) <= row <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=_first_row)


def _first_row(statement: ast.stmt) -> int:
    decorators = statement.decorator_list if isinstance(statement, _DEFINITIONS) else []
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


# --- The ways of writing it anew: each changes a copy, and says None where it does not apply --------------------------


def as_it_stands(plant: Plant) -> Plant | None:
    """The block itself."""
    return plant


def nested(plant: Plant) -> Plant | None:
    """All but the imports within a function."""
    body = plant.module.body
    imports = [statement for statement in body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    rest = [statement for statement in body if statement not in imports]
    made = [s.name for s in rest if isinstance(s, _DEFINITIONS)]
    rest.append(ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name in made], ast.Load())))
    plant.module.body = [*imports, _function("_build", [], rest)]
    return plant


def methods(plant: Plant) -> Plant | None:
    """The plain functions as methods of one class, which call one another through `self`."""
    body = plant.module.body
    chosen = [s for s in body if isinstance(s, ast.FunctionDef) and not s.decorator_list]
    names = {function.name for function in chosen}
    rest = [statement for statement in body if statement not in chosen]
    if not chosen or any(isinstance(n, ast.Name) and n.id in names for s in rest for n in ast.walk(s)):
        return None
    for node in [node for function in chosen for node in ast.walk(function)]:
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.Name) and value.id in names:
                setattr(node, field, _through_self(value))
            elif isinstance(value, list):
                value[:] = [_through_self(v) if isinstance(v, ast.Name) and v.id in names else v for v in value]
    for function in chosen:
        function.args.args.insert(0, ast.arg("self"))
    runner = ast.ClassDef(name="_Runner", bases=[], keywords=[], body=list(chosen), decorator_list=[])
    plant.module.body = [*rest, runner]
    return plant


def _through_self(name: ast.Name) -> ast.Attribute:
    return ast.Attribute(ast.Name("self", ast.Load()), name.id, name.ctx)


def renamed(plant: Plant) -> Plant | None:
    """With local names that give nothing away."""
    keywords = {node.arg for node in ast.walk(plant.module) if isinstance(node, ast.keyword)}
    local: set[str] = set()
    for function in ast.walk(plant.module):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, ast.arg):
                    local.add(node.arg)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    local.add(node.id)
    fresh = {name: f"v{n}" for n, name in enumerate(sorted(local - keywords - {"self", "cls"} - _globals(plant)))}
    for node in ast.walk(plant.module):
        if isinstance(node, ast.arg):
            node.arg = fresh.get(node.arg, node.arg)
        elif isinstance(node, ast.Name):
            node.id = fresh.get(node.id, node.id)
    return plant if fresh else None


def aliased(plant: Plant) -> Plant | None:
    """With imports under other names."""
    fresh: dict[str, str] = {}
    for node in ast.walk(plant.module):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in node.names:
                bound = name.asname or name.name
                if "." not in bound and bound != "*":
                    name.asname = fresh[bound] = f"_{bound}_x"
    for node in ast.walk(plant.module):
        if isinstance(node, ast.Name):
            node.id = fresh.get(node.id, node.id)
    return plant if fresh else None


def in_helper(plant: Plant) -> Plant | None:
    """With what a marked statement computes moved into a function of its own."""
    known = _globals(plant) | _BUILTINS
    helpers: list[ast.stmt] = []
    wanted = []
    for (statement,) in plant.wanted:
        value = _value(statement)
        if value is None:
            wanted.append((statement,))
            continue
        inner = {n.id for n in ast.walk(value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        inner |= {node.arg for node in ast.walk(value) if isinstance(node, ast.arg)}
        free = dict.fromkeys(n.id for n in ast.walk(value) if isinstance(n, ast.Name) and n.id not in known | inner)
        name = f"_part{len(helpers)}"
        returned = ast.Return(value)
        helpers.append(_function(name, list(free), [returned]))
        call = ast.Call(ast.Name(name, ast.Load()), [ast.Name(each, ast.Load()) for each in free], [])
        statement.value = call  # type: ignore[attr-defined]
        wanted.append((returned, statement))
    imports = sum(isinstance(s, (ast.Import, ast.ImportFrom)) for s in plant.module.body)
    plant.module.body[imports:imports] = helpers
    return Plant(plant.module, tuple(wanted)) if helpers else None


def in_comprehension(plant: Plant) -> Plant | None:
    """With what a marked statement computes as the element of a comprehension."""
    changed = False
    for (statement,) in plant.wanted:
        value = _value(statement)
        if value is not None:
            once = ast.parse("[None for _ in (0,)][0]", mode="eval").body
            assert isinstance(once, ast.Subscript)
            assert isinstance(once.value, ast.ListComp)
            once.value.elt = value
            statement.value = once  # type: ignore[attr-defined]
            changed = True
    return plant if changed else None


WAYS: tuple[Callable[[Plant], Plant | None], ...] = (
    as_it_stands,
    methods,
    nested,
    in_helper,
    in_comprehension,
    renamed,
    aliased,
)


def _value(statement: ast.stmt) -> ast.expr | None:
    """What a simple statement computes, where that can stand elsewhere."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)) or statement.value is None:
        return None
    return None if any(isinstance(node, _OPAQUE) for node in ast.walk(statement)) else statement.value


def _globals(plant: Plant) -> set[str]:
    """The names that the module binds at its top."""
    names = set()
    for statement in plant.module.body:
        if isinstance(statement, _DEFINITIONS):
            names.add(statement.name)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names |= {name.asname or name.name.split(".")[0] for name in statement.names}
        else:
            names |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def _function(name: str, parameters: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    arguments = ast.arguments([], [ast.arg(each) for each in parameters], None, [], [], None, [])
    return ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])


# --- Planting and looking --------------------------------------------------------------------------------------------


def written(plant: Plant) -> tuple[str, list[frozenset[int]]]:
    """The text of a plant, and for each wanted finding the rows, from 1, on which it may stand."""
    module = ast.fix_missing_locations(plant.module)
    text = ast.unparse(module)
    twins = dict(zip(ast.walk(module), ast.walk(ast.parse(text)), strict=True))
    rows = []
    for statements in plant.wanted:
        may: set[int] = set()
        for statement in statements:
            twin = twins[statement]
            assert isinstance(twin, ast.stmt)
            may.update(range(_first_row(twin), twin.lineno + 1))
        rows.append(frozenset(may))
    return text, rows


def hosts(folders: Iterable[Path]) -> Iterator[bytes]:
    """Real files to plant in, again and again."""
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    texts = [text for text in (path.read_bytes() for path in files) if len(text) in _HOST_SIZE and b"torch" in text]
    if not texts:
        raise SystemExit("none of the folders holds a file of some size that names torch")
    while True:
        yield from texts


def found(host: bytes, text: str, code: str) -> dict[int, Confidence]:
    """The rows of `text`, from 1, on which the rule reports something when it stands at the end of `host`."""
    above = host.rstrip() + b"\n\n\n"
    rows = above.count(b"\n")
    settings = Settings(root=Path(), rules=frozenset([code]), min_confidence=Confidence.POSSIBLE)
    result = lint_bytes(above + text.encode() + b"\n", "planted.py", settings)
    best: dict[int, Confidence] = {}
    for finding in result.findings:
        row = finding.start.row - rows
        best[row] = max(finding.confidence, best.get(row, Confidence.POSSIBLE))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--select", default="TL", help="the rules to look at, by the beginnings of their codes")
    args = parser.parse_args()
    wanted, at_all, shown = Counter[str](), Counter[str](), Counter[str]()
    misses = []
    ground = hosts(args.folders)
    for code in [rule.code for rule in all_rules() if rule.code.startswith(tuple(args.select.split(",")))]:
        for number, block in enumerate(pages.load(code).of_kind("bad"), start=1):
            for way in WAYS:
                plant = way(copy.deepcopy(planted(block.source, code)))
                if plant is None:
                    continue
                text, places = written(plant)
                best = found(next(ground), text, code)
                for rows in places:
                    grade = max((best[row] for row in rows if row in best), default=None)
                    wanted[code] += 1
                    at_all[code] += grade is not None
                    shown[code] += grade is not None and grade > Confidence.POSSIBLE
                    if grade is None:
                        line = text.splitlines()[min(rows) - 1].strip()
                        misses.append(f"missed {code} block {number} {way.__name__}: {line[:90]}")
    print("\n".join(misses))
    for code in wanted:
        recall = at_all[code] / wanted[code]
        print(
            f"{code}  planted {wanted[code]:3}  found {at_all[code]:3}  by default {shown[code]:3}  recall {recall:.2f}"
        )
    total = wanted.total()
    print(f"all    planted {total:3}  found {at_all.total():3}  by default {shown.total():3}", end="")
    print(f"  recall {at_all.total() / max(1, total):.3f}")


if __name__ == "__main__":
    main()

"""Programs that nobody would write, linted and repaired: no internal error, and what is repaired still compiles.

    python benchmarks/fuzz.py --seconds 60              from a new seed, which is printed
    python benchmarks/fuzz.py --seconds 60 --seed 7     the same programs again
    python benchmarks/fuzz.py --keep FOLDER             writes each program that failed there
    python benchmarks/fuzz.py --grammar                 programs that hypothesmith makes of the grammar alone
    python benchmarks/fuzz.py --record                  and adds a line to `fuzz.jsonl`

Programs are blocks of the rules' pages whose statements and expressions are exchanged for one another's, wrapped,
doubled, moved and dropped. A program is checked with all rules, its findings are silenced by comments, it is repaired,
and the language server's worker does the same with it. Then it is laid out otherwise (`benchmarks/layouts.py`): the
same must be found, and all the rest goes well again. Last, some characters are spoiled, and it is read or refused as
CPython does. Exits with 1 where something failed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import datetime
import json
import platform
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from layouts import lay_out, spoil

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from torchlint.engine.job import Job  # noqa: E402
from torchlint.engine.lint import lint_source  # noqa: E402
from torchlint.engine.settings import Settings  # noqa: E402
from torchlint.findings import Confidence, Finding  # noqa: E402
from torchlint.fixes.apply import apply_edits  # noqa: E402
from torchlint.fixes.run import fix_source  # noqa: E402
from torchlint.fixes.suppress import edits_that_silence  # noqa: E402
from torchlint.lsp import tasks  # noqa: E402
from torchlint.rules import pages  # noqa: E402
from torchlint.rules.registry import all_rules  # noqa: E402
from torchlint.source.text import SourceFile  # noqa: E402

SETTINGS = Settings(
    root=ROOT,
    rules=frozenset({"TL003", *(rule.code for rule in all_rules())}),
    min_confidence=Confidence.POSSIBLE,
    cache_dir=None,
    unsafe_fixes=True,
)
# Statements around `...`, which is where the wrapped ones go.
WRAPPINGS = r"""
for i in range(n): ...
for a, *b in loader: ...
async def outer(x, *args, y=None, **kwargs): ...
def inner(self, x=(yield)): ...
class Thing(Base, metaclass=Meta): ...
class Net(torch.nn.Module): ...
with torch.no_grad(): ...
with open(p) as f, torch.autocast("cuda"): ...
while (n := next(it, None)): ...
if step % 100 == 0: ...
try: ...\nexcept* ValueError as e: pass
try: ...\nexcept (A, B): pass\nelse: pass\nfinally: pass
match x:\n case {"a": [1, *rest], **others} if rest: ...
""".strip().splitlines()
EXPRESSIONS = """
(lambda *a, **k: a)(*x, **y); [i async for i in x]; {**a, **b}; {*a}; x[..., None, ::2]; (yield); await x
f"{x!r:>{n}}"; not x; x if y else z; (z := x); -x ** -y; x @ y; x < y < z; (*a, b); x.T.grad.data
self.x.y; super().forward(x); ...; b"x"; 1j; None
""".replace("\n", ";")


class Programs:
    """Makes programs of the pages' blocks."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        blocks = [block for code in pages.codes() if code != "TL003" for block in pages.load(code).blocks]
        self.modules = [ast.parse(block.source) for block in blocks if block.kind in ("bad", "good", "ok")]
        nodes = [node for module in self.modules for node in ast.walk(module)]
        self.statements = [node for node in nodes if isinstance(node, ast.stmt)]
        self.expressions = [node for node in nodes if isinstance(node, ast.expr) and not _is_target(node)]
        written = [ast.parse(text.strip(), mode="eval").body for text in EXPRESSIONS.split(";") if text.strip()]
        self.expressions += written * 20
        self.wrappings = [text.replace("\\n", "\n") for text in WRAPPINGS]

    def one(self) -> str | None:
        """A program, or None where what was made is none."""
        module = copy.deepcopy(self.draw.choice(self.modules))
        for _ in range(self.draw.randint(1, 8)):
            self.draw.choice((self._statement, self._statement, self._expression, self._expression, self._wrap))(module)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = ast.unparse(ast.fix_missing_locations(module)) + "\n"
                compile(text, "fuzz.py", "exec")
        except (SyntaxError, ValueError, RecursionError, AttributeError, TypeError):
            return None
        return text

    def _bodies(self, module: ast.Module) -> list[list[ast.stmt]]:
        found = []
        for node in ast.walk(module):
            for name in ("body", "orelse", "finalbody"):
                body = getattr(node, name, None)
                if isinstance(body, list) and body:
                    found.append(body)
        return found

    def _statement(self, module: ast.Module) -> None:
        body = self.draw.choice(self._bodies(module))
        place = self.draw.randrange(len(body))
        new = copy.deepcopy(self.draw.choice(self.statements))
        how = self.draw.randrange(5)
        if how == 0:
            body[place] = new
        elif how == 1:
            body.insert(place, new)
        elif how == 2 and len(body) > 1:
            del body[place]
        elif how == 3:
            body.insert(self.draw.randrange(len(body) + 1), copy.deepcopy(body[place]))
        else:
            self.draw.shuffle(body)

    def _expression(self, module: ast.Module) -> None:
        places = [
            (node, name, index)
            for node in ast.walk(module)
            for name, value in ast.iter_fields(node)
            for index, item in enumerate(value if isinstance(value, list) else [value])
            if isinstance(item, ast.expr) and not _is_target(item)
        ]
        if not places:
            return
        node, name, index = self.draw.choice(places)
        new = copy.deepcopy(self.draw.choice(self.expressions))
        value = getattr(node, name)
        if isinstance(value, list):
            value[index] = new
        else:
            setattr(node, name, new)

    def _wrap(self, module: ast.Module) -> None:
        body = self.draw.choice(self._bodies(module))
        begin = self.draw.randrange(len(body))
        end = self.draw.randint(begin + 1, len(body))
        wrapping = _parsed(self.draw.choice(self.wrappings))
        for node in ast.walk(ast.Module(wrapping, [])):
            inside = getattr(node, "body", None)
            if isinstance(inside, list) and inside and ast.unparse(inside[0]) == "...":
                inside[:] = body[begin:end]
                break
        body[begin:end] = wrapping


def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _is_target(node: ast.expr) -> bool:
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def failures(text: str, draw: random.Random) -> Iterator[str]:
    """What fails with a program, with the same one laid out otherwise, and with what is no program any more."""
    found: list[Counter[str]] = []
    for program in (text, lay_out(text, draw)):
        for reason in _failures(program, found):
            yield f"{reason}\n{program}" if program != text else reason
    if len(found) == 2 and found[0] != found[1]:
        yield f"laid out otherwise, it shows {found[1] - found[0]}, not {found[0] - found[1]}:\n{program}"
    spoilt = spoil(text, draw) + "\nimport torch\n"  # which is always read
    for reason in _misread(spoilt):
        yield f"{reason}, spoilt:\n{spoilt}"


def _failures(text: str, found: list[Counter[str]]) -> Iterator[str]:
    """What fails when a program is checked, silenced and repaired; adds the codes of what is found in it."""
    source = SourceFile.from_bytes(text.encode(), "fuzz.py")
    result = lint_source(source, SETTINGS)
    yield from result.errors
    found.append(Counter(finding.code for finding in result.findings))
    yield from (f"it is refused: {finding.message}" for finding in result.findings if finding.code == "TL003")
    silenced = apply_edits(source, list(edits_that_silence(source, result.findings)))
    yield from _broken(silenced, "with suppressions")
    left = lint_source(SourceFile.from_bytes(silenced.encode(), "fuzz.py"), SETTINGS)
    yield from (f"not silenced: {finding.code} in line {finding.start.row}" for finding in left.findings)
    change = fix_source(source, Job(Path("fuzz.py"), "fuzz.py", SETTINGS))
    yield from change.result.errors
    assert isinstance(change.after, SourceFile)
    yield from _broken(change.after.written, "repaired")
    yield from _unlike(text, result.findings)


def _misread(text: str) -> Iterator[str]:
    """What fails with a text that CPython need not read."""
    job = Job(Path("fuzz.py"), "fuzz.py", SETTINGS, text.encode())
    result = tasks.lint(job)
    yield from result.errors
    refused = [finding for finding in result.findings if finding.code == "TL003"]
    if not refused:
        tasks.fix(job)
    row: int | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text.encode())
        except SyntaxError as error:
            row = error.lineno or 0
        except ValueError:
            row = 0  # NUL, of which CPython names no row
    if bool(refused) != (row is not None):
        yield f"CPython {'reads' if row is None else 'refuses'} it, torchlint does not: {refused}"
    elif refused and row and refused[0].start.row != row:
        yield f"refused in row {refused[0].start.row}, CPython says {row}: {refused[0].message}"


def _unlike(text: str, findings: Sequence[Finding]) -> Iterator[str]:
    """What fails in the language server, which must find what a check finds, and silence it."""
    job = Job(Path("fuzz.py"), "fuzz.py", SETTINGS, text.encode())
    linted = tasks.lint(job)
    yield from linted.errors
    if [finding.fingerprint for finding in linted.findings] != [finding.fingerprint for finding in findings]:
        yield "the language server finds something else"
    tasks.fix(job)
    tasks.silence(job, linted.findings)


def _broken(text: str, what: str) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "fuzz.py", "exec")
        except (SyntaxError, ValueError) as error:
            yield f"{what}, it does not compile: {error}"


def grammatical(seconds: float, seed: int) -> Iterator[str]:
    """Programs that hypothesmith makes, for a while; they use torch."""
    import hypothesis
    import hypothesmith

    made: list[str] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=10, deadline=None, database=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(hypothesmith.from_node() | hypothesmith.from_grammar())
    def make(text: str) -> None:
        made.append(text)

    until = time.monotonic() + seconds
    while time.monotonic() < until:
        made.clear()
        with contextlib.suppress(AttributeError, TypeError):  # some trees that hypothesmith makes have no text
            make()
        seed += 1
        make = hypothesis.seed(seed)(make)
        for text in made:
            if time.monotonic() > until:
                return
            if "__future__" not in text and next(_broken(text, "made"), None) is None:
                yield f"import torch\n{text}\n"


def mutated(seconds: float, seed: int) -> Iterator[str]:
    """Programs made of the pages' blocks, for a while."""
    programs = Programs(seed)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        text = programs.one()
        if text is not None:
            yield text


def run(programs: Iterable[str], draw: random.Random, say: Callable[[str, list[str]], None]) -> int:
    """Try programs; how many there were. `say` is told of each program that failed, and why."""
    tried = 0
    for text in programs:
        tried += 1
        try:
            said = list(failures(text, draw))
        except Exception:
            said = [traceback.format_exc()]
        if said:
            say(text, said)
    return tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--grammar", action="store_true", help="programs of hypothesmith, which must be installed")
    parser.add_argument("--record", action="store_true", help="add what came of it to fuzz.jsonl")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    reasons: list[str] = []

    def say(text: str, said: list[str]) -> None:
        reasons.append(said[0].strip().splitlines()[-1 if said[0].startswith("Traceback") else 0])
        print("\n".join(said), flush=True)
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            header = "".join(f"# {line}\n" for reason in said for line in reason.splitlines())
            (options.keep / f"{options.seed}_{len(reasons)}.py").write_text(header + text, encoding="utf-8")

    programs = grammatical if options.grammar else mutated
    tried = run(programs(options.seconds, options.seed), random.Random(options.seed), say)
    print(f"{tried} programs, {len(reasons)} failed")
    if options.record:
        row = {
            "programs of": "hypothesmith's grammar" if options.grammar else "the rules' pages",
            "seconds": round(options.seconds),
            "seed": options.seed,
            "programs": tried,
            "failed": reasons,
            "date": datetime.date.today().isoformat(),
            "torchlint": version("torchlint"),
            "python": platform.python_version(),
            "libcst": version("libcst"),
        }
        with (ROOT / "benchmarks" / "fuzz.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
    return int(bool(reasons))


if __name__ == "__main__":
    sys.exit(main())

"""What a line costs in files of a thousand, ten thousand and a hundred thousand lines: about the same.

    python benchmarks/linear.py                            all shapes
    python benchmarks/linear.py --lines 1000,10000 chains  some sizes, some shapes
    python benchmarks/linear.py --record                   adds a row for each shape to `linear.jsonl`

Files are made: many functions, one huge function, deep nesting, long chains of calls, and others by which an analysis
loses its way. All rules look at each. Prints the CPU time of a line in microseconds, by shape and size. Exits with 1
where a line of the largest file costs more than twice what one of the smallest does. Each file is linted in a process
of its own, so that none finds what another left; the least of three runs counts, of large files the only one.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

MOST = 2.0  # times what a line costs in the smallest file
LARGE = 1_000  # lines

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 8).to(device)
"""


def _repeated(block: str) -> Iterator[str]:
    """The block again and again, `@` exchanged for the number of the round."""
    for number in count():
        yield from block.replace("@", str(number)).splitlines()


FUNCTION = """\
def train_@(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
"""
CLASS = """\
class Net@(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
    def forward(self, x, mask=None):
        x = self.norm(self.layer(x))
        if mask is not None:
            x = x.masked_fill(mask, 0)
        return torch.softmax(x, -1)
"""
METHOD = """\
    def step_@(self, batch):
        loss = self.layer(batch.to(self.device)).mean()
        self.total_@ = self.total + loss
        return self.step_@(batch) if loss.item() > 0 else loss
"""
DEEP = "\n".join(
    ["def deep_@(x, loader):"]
    + [
        " " * depth + ("for y in loader:", "if x.sum() > 0:", "with torch.no_grad():")[depth % 3]
        for depth in range(1, 19)
    ]
    + [" " * 19 + "x = x + model(x).mean().item()"]
)
CHAIN = "x = x" + ".to(device).float().mean(0)" * 3
TRY = """\
    try:
        x = model(x).cpu()
    except ValueError:
        x = x * 2
    finally:
        torch.cuda.synchronize()
"""
BRANCHES = """\
    if x.mean() > @:
        y = x.cpu()
    elif flag == @:
        y = model(x)
"""

SHAPES: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "functions": ("", lambda: _repeated(FUNCTION)),
    "classes": ("", lambda: _repeated(CLASS)),
    "methods of one class": (
        "class Trainer:\n    def __init__(self, device):\n        self.device = device\n        self.total = 0\n"
        "        self.layer = nn.Linear(8, 8).to(device)\n",
        lambda: _repeated(METHOD),
    ),
    "one function": ("def main(x, y):\n", lambda: _repeated("    x@ = model(x + @)\n    y = x@.mean() + y\n")),
    "one function of one name": ("def main(x):\n", lambda: _repeated("    x = model(x) + @\n")),
    "one function of branches": ("def main(x, flag):\n", lambda: _repeated(BRANCHES)),
    "one function of loops": ("def main(x):\n", lambda: _repeated("    for y in x:\n        z = model(y).item()\n")),
    "one function of exceptions": ("def main(x):\n", lambda: _repeated(TRY)),
    "one loop": (
        "def main(loader, x):\n  for batch in loader:\n    loss = model(batch.cuda()).mean()\n    loss.backward()\n",
        lambda: _repeated("    x@ = loss.item() + @\n    x = torch.cat([x, loss * x@])\n"),
    ),
    "statements of the module": ("x = torch.ones(8, device=device)\n", lambda: _repeated("x = model(x) + @\n")),
    "findings": (
        "def main(loader):\n  for batch in loader:\n    x = model(batch.cuda())\n    x.mean().backward()\n",
        lambda: _repeated("    print(x[@].item())\n"),
    ),
    "suppressed findings": (
        "def main(loader):\n  for batch in loader:\n    x = model(batch.cuda())\n    x.mean().backward()\n",
        lambda: _repeated("    print(x[@].item())  # torchlint: ignore[TL101]\n"),
    ),
    "unused suppressions": ("", lambda: _repeated("# torchlint: ignore[TL101]\n")),
    "suppressions in a statement": ("x = [\n", lambda: _repeated("    # torchlint: ignore[TL101]\n")),
    "codes of one comment": ("x = 1  # torchlint: ignore[", lambda: _repeated("TL101, ")),
    "deep nesting": ("", lambda: _repeated(DEEP)),
    "functions in functions": (
        "",
        lambda: _repeated(
            "\n".join(" " * depth + f"def inner_@_{depth}(x):" for depth in range(40)) + f"\n{' ' * 40}return x.item()"
        ),
    ),
    "chains": ("x = torch.ones(8)\n", lambda: _repeated(CHAIN)),
    "a dictionary": ("table = {\n", lambda: _repeated("    'key_@': torch.zeros(@, device=device),")),
    "a list of lists": ("table = [\n", lambda: _repeated("    [@, @.5, 'a', (1, 2), {'b': @}],")),
    "callers of one helper": (
        "def helper(x):\n    return model(x).mean()\n",
        lambda: _repeated("def call_@(loader):\n    for x in loader:\n        helper(x.cuda()).item()\n"),
    ),
    "helpers that call the next": (
        "",
        lambda: _repeated("def call_@(x):\n    x = x.cuda() + @\n    return call_~(x)\n"),
    ),
    "imports": ("", lambda: _repeated("from torch.nn import functional as F_@\n")),
    "names of the module": ("", lambda: _repeated("SIZE_@ = @\n")),
    "comments": ("", lambda: _repeated("# torchlint is told nothing here, @ times\n")),
}
ENDS = {
    "a dictionary": "}\n",
    "a list of lists": "]\n",
    "suppressions in a statement": "]\n",
    "codes of one comment": "TL102]\n",
}


def text_of(shape: str, lines: int) -> str:
    """A file of this shape of about that many lines, one that uses torch."""
    head, body = SHAPES[shape]
    rows = islice(body(), lines)
    between = "" if shape == "codes of one comment" else "\n"
    text = HEAD + head + between.join(rows) + between + ENDS.get(shape, "")
    if shape == "helpers that call the next":
        for number in range(lines):
            text = text.replace("call_~", f"call_{number + 1}", 1)
    while True:  # not in the middle of a statement
        try:
            compile(text, shape, "exec")
        except (SyntaxError, RecursionError):
            text = text.rstrip("\n").rpartition("\n")[0] + "\n"
        else:
            return text


def cost(shape: str, lines: int) -> tuple[float, str]:
    """CPU seconds that linting such a file takes, and what went wrong."""
    from torchlint.engine.lint import lint_bytes
    from torchlint.engine.settings import Settings
    from torchlint.findings import Confidence
    from torchlint.rules.registry import all_rules

    rules = frozenset({"TL003", *(rule.code for rule in all_rules())})
    settings = Settings(root=ROOT, rules=rules, min_confidence=Confidence.POSSIBLE, cache_dir=None)
    data = text_of(shape, lines).encode()
    lint_bytes(text_of(shape, 10).encode(), "warm.py", settings)
    taken, wrong = [], ""
    for _ in range(1 if lines > LARGE else 3):
        begun = time.process_time()
        result = lint_bytes(data, f"{lines}.py", settings)
        taken.append(time.process_time() - begun)
        wrong = "; ".join([*result.errors, *(found.message for found in result.findings if found.code == "TL003")])
    return min(taken), wrong


def main() -> int:
    """Measure and say what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", default=list(SHAPES))
    parser.add_argument("--lines", default="1000,10000,100000")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one file")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = [int(size) for size in options.lines.split(",")]
    if options.one:
        print(json.dumps(cost(options.shapes[0], sizes[0])))
        return 0
    failed = False
    for shape in options.shapes:
        rates: list[float | None] = []
        said: list[str] = []
        for size in sizes:
            command = [sys.executable, __file__, "--one", "--lines", str(size), shape]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit, check=True)
            except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
                rates.append(None)
                said.append(f"{size}: {error}")
                break
            seconds, wrong = json.loads(done.stdout)
            rates.append(seconds / size * 1e6)
            said += [f"{size}: {wrong}"] if wrong else []
        known = [rate for rate in rates if rate is not None]
        bad = len(known) < len(sizes) or known[-1] > MOST * known[0]
        failed |= bad
        row = "".join("       -" if rate is None else f"{rate:8.0f}" for rate in rates)
        print(f"{shape:28}{row}  {'not linear' if bad else ''} {'; '.join(said)[:150]}", flush=True)
        if options.record:
            came = {
                "shape": shape,
                "us_per_line": {str(size): rate and round(rate) for size, rate in zip(sizes, rates, strict=False)},
                "said": said,
                "date": datetime.date.today().isoformat(),
                "python": platform.python_version(),
            }
            with (ROOT / "benchmarks" / "linear.jsonl").open("a", encoding="utf-8") as out:
                out.write(json.dumps(came) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""What reading files as one program costs: against reading each alone, and after an edit of one file.

    python benchmarks/project.py                                   a generated tree of 1,000 files
    python benchmarks/project.py path/to/site-packages/timm        a package, which is copied first

Cold, without a cache: torchlint's time on the tree with its files linked, as a multiple of the same without; one after
the other within each round, the median of the rounds; and the time of a first run that fills a cache, for which files
tell what they told one another. Warm: a file that no other imports is edited, by a function that nobody calls
(`tree_s`, and `file_s` where only that file is named) and where it calls others (`inside_s`), and linted again; beside
it the time where nothing changed, and what a process pays that does no more than import LibCST. `resident_s` is what an
edit costs a process that goes on, which is what --watch does at each change; `server_s` is what the language server's
worker takes for a document that was edited and not saved. Times are the processor's, of whole processes with their
workers, start-up included but for the last two; what else the machine does changes them less than it does the clock's.
`watch_s` is the clock's, from the edit until `torchlint --watch` has printed what it found, of which it waits about a
twentieth of a second for further edits. Byte code is kept, as it is where torchlint is installed, also where the
environment says otherwise. Unix only. Needs `torchlint[watch]` installed in the interpreter that runs this script.

`project.jsonl` holds what this printed on a busy machine with two cores, where all takes about twice its time; `load`
is how many processes ran or waited in the minute before it ended.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

_LINKED = "from torchlint.cli import main; main()"
_ALONE = (
    """
from torchlint.engine import run
from torchlint.engine.job import Group
run.groups = lambda jobs: [Group((number,)) for number in range(len(jobs))]
"""
    + _LINKED
)

_RESIDENT = """
import sys, time
from pathlib import Path
from torchlint.engine.run import check
from torchlint.engine.settings import Configuration
name, rounds = Path(sys.argv[1]), int(sys.argv[2])
settings = Configuration({"jobs": 1}, isolated=True)
text = name.read_text(encoding="utf-8")
for number in range(rounds + 1):
    name.write_text(f"{text}\\n\\ndef resident_{number}(loss):\\n    return loss.item()\\n", encoding="utf-8")
    before = time.process_time()
    check([Path(".")], settings)
    if number:
        print(time.process_time() - before)
"""

_SERVER = """
import sys, time
from pathlib import Path
from torchlint.engine.job import Job
from torchlint.engine.settings import Configuration
from torchlint.lsp import tasks
name, rounds = Path(sys.argv[1]).absolute(), int(sys.argv[2])
settings = Configuration({"jobs": 1}, isolated=True).for_file(name)
tasks.prepare()
text = name.read_text(encoding="utf-8")
for number in range(rounds + 1):
    data = f"{text}\\n\\ndef served_{number}(loss):\\n    return loss.item()\\n".encode()
    before = time.process_time()
    tasks.lint(Job(name, str(name), settings, data))
    if number:
        print(time.process_time() - before)
"""

_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

_COMMON = '''"""Helpers {k} of the generated project."""

import torch
from torch import nn
{imports}

class Meter{k}:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value, size=1):
        self.total += value.item() * size
        self.count += size

    @property
    def average(self):
        return self.total / max(self.count, 1)


class Block{k}(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.norm(torch.relu(self.project(x)))


def masked_mean{k}(values, mask):
    kept = values[mask > 0]
    return kept.mean() if kept.numel() else values.sum() * 0.0


def top_accuracy{k}(scores, labels):
    with torch.no_grad():
        hits = scores.argmax(dim=-1) == labels
        return hits.float().mean()


def warm_up{k}(step, steps, peak):
    return peak * min(1.0, (step + 1) / steps)
'''

_MODEL = '''"""Network {k} of the generated project."""

import torch
from torch import nn

from lab.common.helpers_{a} import Block{a}
from lab.common.helpers_{b} import Block{b}, masked_mean{b}


class Net{k}(nn.Module):
    def __init__(self, width=64, depth=4, classes=10):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.blocks = nn.ModuleList(Block{a}(width) for _ in range(depth))
        self.mixer = Block{b}(width)
        self.head = nn.Linear(width, classes)

    def features(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.mixer(x)

    def forward(self, x, mask=None):
        x = self.features(x)
        if mask is not None:
            x = x * mask.unsqueeze(-1)
        return self.head(x)

    def regulariser(self, x, mask):
        return masked_mean{b}(self.features(x).square().mean(-1), mask)


def build(width=64, depth=4, classes=10):
    net = Net{k}(width, depth, classes)
    for parameter in net.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    return net
'''

_TASK = '''"""Task {k} of the generated project."""

import torch
import torch.nn.functional as F

from lab.common.helpers_{a} import Meter{a}, top_accuracy{a}
from lab.models.net_{m} import build


class Task{k}:
    def __init__(self, device, width=64):
        self.device = device
        self.net = build(width).to(device)
        self.losses = Meter{a}()
        self.hits = Meter{a}()

    def batch(self, batch):
        x, y = batch
        return x.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)

    def loss(self, batch):
        x, y = self.batch(batch)
        scores = self.net(x)
        return F.cross_entropy(scores, y), scores, y

    def step(self, batch, optimizer):
        optimizer.zero_grad(set_to_none=True)
        loss, scores, y = self.loss(batch)
        loss.backward()
        optimizer.step()
        self.losses.update(loss.detach(), y.shape[0])
        self.hits.update(top_accuracy{a}(scores, y), y.shape[0])
        return loss

    @torch.inference_mode()
    def evaluate(self, loader):
        self.net.eval()
        total = torch.zeros((), device=self.device)
        for batch in loader:
            loss, _, _ = self.loss(batch)
            total += loss
        self.net.train()
        return (total / len(loader)).item()
'''

_SCRIPT = '''"""Training script {k} of the generated project."""

import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset

from lab.common.helpers_{a} import warm_up{a}
from lab.tasks.task_{t} import Task{t}


def loaders(args):
    data = TensorDataset(torch.randn(1024, args.width), torch.randint(0, 10, (1024,)))
    return DataLoader(data, args.batch, shuffle=True, num_workers=4, pin_memory=True, persistent_workers=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1e-3)
    args = parser.parse_args()

    task = Task{t}(torch.device("cuda"), args.width)
    optimizer = torch.optim.AdamW(task.net.parameters(), lr=args.rate, fused=True)
    loader = loaders(args)
    step = 0
    for epoch in range(args.epochs):
        for batch in loader:
            for group in optimizer.param_groups:
                group["lr"] = warm_up{a}(step, 100, args.rate)
            loss = task.step(batch, optimizer)
            step += 1
            if step % 50 == 0:
                print(epoch, step, task.losses.average)
        print(epoch, task.evaluate(loader), task.hits.average)
    torch.save(task.net.state_dict(), "net.pt")


if __name__ == "__main__":
    main()
'''

_HELPERS, _MODELS, _TASKS = 40, 300, 300


def generate(root: Path, files: int, seed: int = 0) -> Path:
    """A project of `files` files below `root`, the same for the same seed; one of those that none imports."""
    pick = random.Random(seed)
    for folder in ("common", "models", "tasks"):
        package = root / "src" / "lab" / folder
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
    (root / "src" / "lab" / "__init__.py").write_text("")
    lab = root / "src" / "lab"
    for k in range(_HELPERS):
        imports = f"\nfrom lab.common.helpers_{k - 1} import warm_up{k - 1}\n" if k % 4 else ""
        (lab / "common" / f"helpers_{k}.py").write_text(_COMMON.format(k=k, imports=imports))
    for k in range(_MODELS):
        a, b = pick.sample(range(_HELPERS), 2)
        (lab / "models" / f"net_{k}.py").write_text(_MODEL.format(k=k, a=a, b=b))
    for k in range(_TASKS):
        text = _TASK.format(k=k, a=pick.randrange(_HELPERS), m=pick.randrange(_MODELS))
        (lab / "tasks" / f"task_{k}.py").write_text(text)
    scripts = root / "scripts"
    scripts.mkdir()
    count = files - len(list(root.rglob("*.py")))
    for k in range(count):
        text = _SCRIPT.format(k=k, a=pick.randrange(_HELPERS), t=pick.randrange(_TASKS))
        (scripts / f"train_{k}.py").write_text(text)
    return scripts / f"train_{count // 2}.py"


def unimported(root: Path) -> Path:
    """A file below `root` that reads torch and that no other names."""
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in sorted(root.rglob("*.py"))}
    named: set[str] = set()
    for text in texts.values():
        named.update(
            word for line in re.findall(r"^\s*(?:from|import)\b.*", text, re.M) for word in re.findall(r"\w+", line)
        )
    for path, text in texts.items():
        if path.stem not in named | {"__init__"} and "import torch" in text:
            return path
    raise SystemExit(f"{root}: every file here is imported by another; there is none to edit")


def seconds(root: Path, *arguments: str, linked: bool = True) -> float:
    """The processor time that a torchlint process takes in `root`."""
    code = _LINKED if linked else _ALONE
    return spent(root, "-c", code, "check", "--isolated", "--quiet", "--exit-zero", *arguments)


def spent(root: Path, *arguments: str) -> float:
    """The processor time that a Python process takes in `root`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=root, env=_ENVIRONMENT, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        raise SystemExit(f"torchlint failed: {done.stderr.strip()}")
    return took


def cold(root: Path, rounds: int, workers: int) -> Iterator[dict[str, float]]:
    """For each round the time with links and without."""
    jobs = ("-j", str(workers), "--no-cache", ".")
    for number in range(rounds):
        sides = {"linked_s": True, "alone_s": False}
        order = list(sides) if number % 2 else list(reversed(sides))
        yield {side: seconds(root, *jobs, linked=sides[side]) for side in order}


def warm(root: Path, edited: Path, rounds: int) -> Iterator[dict[str, float]]:
    """For each round the times on a filled cache: of nothing new, of an edit in the tree, of one in the file alone."""
    seconds(root, ".")
    text = edited.read_text(encoding="utf-8")
    name = str(edited.relative_to(root))
    for number in range(rounds):
        took = {"unchanged_s": seconds(root, "."), "import_libcst_s": spent(root, "-c", "import libcst")}
        for what, arguments in (("tree_s", "."), ("file_s", name)):
            edited.write_text(f"{text}\n\ndef added_{what}_{number}(loss):\n    return loss.item()\n", encoding="utf-8")
            took[what] = seconds(root, arguments)
        edited.write_text(re.sub(r"(?m)^( +)(\w.*\w\(.*\))$", r"\1\2\n\1print()", text, count=1), encoding="utf-8")
        took["inside_s"] = seconds(root, ".")
        yield took
    edited.write_text(text, encoding="utf-8")


def going_on(code: str, root: Path, edited: Path, rounds: int) -> list[float]:
    """For each round the time that an edit takes in a process that lints it again and again."""
    command = [sys.executable, "-c", code, str(edited.relative_to(root)), str(rounds)]
    done = subprocess.run(command, cwd=root, env=_ENVIRONMENT, capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


def watched(root: Path, edited: Path, rounds: int) -> list[float]:
    """For each round the clock's time from an edit until --watch has printed what it found."""
    command = [sys.executable, "-c", _LINKED, "check", "--isolated", "--watch", "--output-format", "concise", "."]
    text = edited.read_text(encoding="utf-8")
    took: list[float] = []
    with subprocess.Popen(command, cwd=root, env=_ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        before = time.perf_counter()
        for line in process.stdout:
            if not line.startswith(("Found ", "All checks passed")):
                continue
            took.append(time.perf_counter() - before)
            if len(took) > rounds:
                break
            time.sleep(1)  # until it watches again
            before = time.perf_counter()
            edited.write_text(f"{text}\n\ndef watched_{len(took)}(loss):\n    return loss.item()\n", encoding="utf-8")
        process.terminate()
    edited.write_text(text, encoding="utf-8")
    if len(took) <= rounds:
        raise SystemExit("torchlint --watch ended by itself")
    return took[1:]  # before the first, nothing was edited


def summary(measured: list[dict[str, float]]) -> dict[str, float]:
    """The median of each time."""
    return {key: round(statistics.median(taken[key] for taken in measured), 3) for key in sorted(measured[0])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="a package; by default a tree is generated")
    parser.add_argument("--files", type=int, default=1000, help="of the generated tree")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--edits-only", action="store_true", help="leave the cold runs away")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="worker processes of the cold runs")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "tree"
        if args.folder is None:
            edited = generate(root, args.files)
        else:
            shutil.copytree(args.folder, root / args.folder.name)
            edited = unimported(root)
        files = list(root.rglob("*.py"))
        from_scratch = [] if args.edits_only else list(cold(root, args.rounds, args.jobs))
        filling = seconds(root, "-j", str(args.jobs), ".")
        edits = list(warm(root, edited, args.rounds))
        served = going_on(_SERVER, root, edited, args.rounds)
        resident = going_on(_RESIDENT, root, edited, args.rounds)
        seen = watched(root, edited, args.rounds)
        ratios = [taken["linked_s"] / taken["alone_s"] for taken in from_scratch]
        after = summary(edits)
        whole = summary(from_scratch) if from_scratch else {}
        report: dict[str, object] = {
            "tree": "generated" if args.folder is None else args.folder.name,
            "files": len(files),
            "bytes": sum(path.stat().st_size for path in files),
            "cold": whole | {"filling_s": round(filling, 3)},
            "after_an_edit": after
            | {
                "resident_s": round(statistics.median(resident), 3),
                "server_s": round(statistics.median(served), 3),
                "watch_s": round(statistics.median(seen), 3),
            },
            "edited": str(edited.relative_to(root)),
            "rounds": args.rounds,
            "jobs": args.jobs,
            "versions": {name: version(name) for name in ("torchlint", "libcst")}
            | {"python": platform.python_version()},
            "machine": {"system": platform.platform(), "processor": platform.machine(), "cores": os.cpu_count()},
            "load": round(os.getloadavg()[0], 2),
        }
        if from_scratch:
            report["linked_to_alone"] = {
                "median": round(statistics.median(ratios), 3),
                "lowest": round(min(ratios), 3),
                "highest": round(max(ratios), 3),
            }
            report["edit_to_cold"] = {key: round(after[key] / whole["linked_s"], 3) for key in after}
    print(json.dumps(report))


if __name__ == "__main__":
    main()

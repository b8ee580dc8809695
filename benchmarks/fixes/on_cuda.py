"""Do the repaired examples of the pages compute on a GPU what the examples compute?

    python benchmarks/fixes/on_cuda.py --plan plan.json                      where torchlint is installed
    python benchmarks/fixes/on_cuda.py --run plan.json --out results.json    where the GPU is: torch alone

The plan holds, for every page whose pair can be run, the `bad` block and what torchlint's fixes make of it (where they
are only displayed, what is displayed; where there are none, the `good` block). Each pair is called with the page's own
inputs, of one size after the other, in float32 and bfloat16, in a process of its own. Results agree where they differ
by no more than the tolerance of the dtype, relative to the largest magnitude. Exits with 1 where a pair disagrees.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SECONDS = 240  # for one page
# Largest difference, relative to the largest magnitude of a result, that counts as equal.
TOLERANCE = {"float32": 1e-4, "bfloat16": 2e-2}
SIZES = ("small", "medium")


def planned() -> dict[str, Any]:
    """The pairs, as text."""
    sys.path.insert(0, str(ROOT))
    from torchlint.rules import pages

    experiments = []
    for page in map(pages.load, pages.codes()):
        if page.pair is not None:
            bad, good, inputs = (block.source for block in page.pair)
            after, by = repaired(bad, page.code)
            experiments.append({"code": page.code, "by": by, "before": bad, "after": after or good, "inputs": inputs})
    return {"experiments": experiments}


def repaired(source: str, code: str) -> tuple[str, str]:
    """What the fixes of a rule, and of those that are on by default, make of an example, and how they are offered."""
    from torchlint.engine.job import Job
    from torchlint.engine.selection import catalogue
    from torchlint.engine.settings import Settings
    from torchlint.fixes import apply, fix_source
    from torchlint.source.text import SourceFile

    codes = frozenset({rule.code for rule in catalogue() if rule.default} | {code})
    settings = Settings(root=Path(), rules=codes, fixable=codes, unsafe_fixes=True)
    before = SourceFile.from_bytes(source.encode(), "page.py")
    change = fix_source(before, Job(Path("page.py"), "page.py", settings))
    if change.fixed:
        weakest = min(finding.fix.applicability for finding in change.fixed if finding.fix is not None)
        return change.after.data.decode(), str(weakest)
    shown = [finding for finding in change.result.findings if finding.code == code]
    written = apply(before, shown).written
    return (written, "display") if written != source else ("", "page")


def compared(experiment: dict[str, Any], device: str, dtype: str, size: str) -> dict[str, Any]:
    """Call both sides of a pair, and compare what they return. Runs in a process of its own."""
    import torch

    results = []
    inputs = loaded(experiment["inputs"], "inputs")
    for side in ("before", "after"):
        try:
            variant = loaded(experiment[side], side)
            seed(torch)
            arguments = inputs.inputs(torch.device(device), getattr(torch, dtype), **inputs.SIZES[size])
            seed(torch)
            result = getattr(variant, inputs.ENTRY)(*arguments)
            if device == "cuda":
                torch.cuda.synchronize()
        except Exception as error:
            return {"equal": None, "reason": f"{side}: {type(error).__name__}: {str(error).splitlines()[:1]}"}
        results.append(result)
    worst = 0.0
    try:
        for one, other in leaves(torch, *results):
            worst = max(worst, difference(torch, one, other))
    except ValueError as error:
        return {"equal": False, "reason": str(error)}
    return {"equal": worst <= TOLERANCE[dtype], "difference": worst}


def loaded(source: str, name: str) -> types.ModuleType:
    """A module made of its text."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    return module


def seed(torch: Any) -> None:
    random.seed(0)
    torch.manual_seed(0)


def leaves(torch: Any, one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """The numbers and tensors of two results, side by side. Raises ValueError where they are not built alike."""
    if isinstance(one, torch.nn.Module) and isinstance(other, torch.nn.Module):
        one, other = one.state_dict(), other.state_dict()
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            raise ValueError("their keys differ")
        one, other = list(one.values()), [other[key] for key in one]
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) != len(other):
            raise ValueError(f"{len(one)} and {len(other)} items")
        for a, b in zip(one, other):  # noqa: B905 (strict is not known to Python 3.9)
            yield from leaves(torch, a, b)
    else:
        yield one, other


def difference(torch: Any, one: Any, other: Any) -> float:
    """How far two numbers or tensors lie apart, relative to the largest magnitude. Raises ValueError for others."""
    if one is None or isinstance(one, (str, bool)):
        if one != other:
            raise ValueError(f"{one!r} and {other!r}")
        return 0.0
    a, b = (torch.as_tensor(value).detach().to("cpu", torch.float64) for value in (one, other))
    if a.shape != b.shape:
        raise ValueError(f"shapes {tuple(a.shape)} and {tuple(b.shape)}")
    same = (a == b) | (a.isnan() & b.isnan())
    if bool(same.all()):
        return 0.0
    apart = (a - b).abs()[~same].max()
    finite = a.isfinite() & b.isfinite()
    if not bool(apart.isfinite()) or not bool(finite.any()):
        return math.inf
    return float(apart / torch.maximum(a.abs(), b.abs())[finite].max())


def in_process(experiment: dict[str, Any], device: str, python: str = sys.executable) -> list[dict[str, Any]]:
    """The rows of one pair, from a process of its own."""
    order = json.dumps({"experiment": experiment, "device": device})
    command = [python, __file__, "--one"]
    try:
        done = subprocess.run(command, input=order, capture_output=True, text=True, timeout=SECONDS, check=False)
        rows: list[dict[str, Any]] = json.loads(done.stdout.rpartition("\n=")[2])
    except subprocess.TimeoutExpired:
        rows = [{"equal": None, "reason": f"took more than {SECONDS} s"}]
    except ValueError:
        last = done.stderr.strip().splitlines()[-1:]
        rows = [{"equal": None, "reason": f"ended with status {done.returncode}: {last}"}]
    rows = [{"code": experiment["code"], "by": experiment["by"], **row} for row in rows]
    for row in rows:
        print(said(row), flush=True)
    return rows


def said(row: dict[str, Any]) -> str:
    """A row for people."""
    text = f"{row['code']} ({row['by']}) {row.get('dtype', '')} {row.get('size', '')}: "
    return text + (row.get("reason") or f"{'equal' if row['equal'] else 'apart'}, {row['difference']:.3g}")


def one() -> None:
    """The other end of `in_process`."""
    order = json.load(sys.stdin)
    rows = [
        {"dtype": dtype, "size": size, **compared(order["experiment"], order["device"], dtype, size)}
        for dtype in TOLERANCE
        for size in (SIZES if order["device"] == "cuda" else SIZES[:1])
    ]
    sys.stdout.write("\n=" + json.dumps(rows))
    sys.stdout.flush()
    os._exit(0)  # some examples leave workers and threads behind


def environment(device: str) -> dict[str, Any]:
    import torch

    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    return {"device": name, "torch": torch.__version__, "cuda": torch.version.cuda, "python": sys.version.split()[0]}


def run(plan: dict[str, Any], device: str, out: Path, at_once: int) -> int:
    with ThreadPoolExecutor(at_once) as pool:
        by_page = pool.map(lambda experiment: in_process(experiment, device), plan["experiments"])
        rows = [row for rows in by_page for row in rows]
    text = json.dumps({"environment": environment(device), "tolerance": TOLERANCE, "results": rows}, indent=1)
    scratch = out.with_suffix(".part")
    scratch.write_text(text + "\n", encoding="utf-8")
    scratch.replace(out)
    count = Counter(row["equal"] for row in rows)
    print(f"{count[True]} equal, {count[False]} apart, {count[None]} not run: {out}")
    return 1 if count[False] else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--plan", type=Path, help="write the pairs to this file")
    what.add_argument("--run", type=Path, help="compare the pairs of this file")
    what.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path("on_cuda.json"), help="the results")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--at-once", type=int, default=4, help="pairs compared at the same time")
    options = parser.parse_args()
    if options.one:
        one()
    if options.plan is not None:
        options.plan.write_text(json.dumps(planned(), indent=1) + "\n", encoding="utf-8")
        return 0
    plan = json.loads(options.run.read_text(encoding="utf-8"))
    return run(plan, options.device, options.out, options.at_once)


if __name__ == "__main__":
    sys.exit(main())

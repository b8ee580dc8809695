"""Measure the pairs of the rules' pages on this machine, by the machinery of --verify.

    python benchmarks/verify/run_pages.py --budget 540

writes benchmarks/rule_costs/<device>_<torch>.json, which `benchmarks/rule_costs_to_pages.py` turns into the pages'
tables. Needs torch, and of torchlint's dependencies none. With --budget it ends in time and leaves out what did not
fit; the next run, with --resume FILE, measures what is missing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from torchlint.rules import pages  # noqa: E402
from torchlint.verify import evidence, plan, supervise  # noqa: E402

OUT = ROOT / "benchmarks" / "rule_costs"
# Rules whose cost depends on what the arithmetic is done in; the others are measured in float32 alone.
BY_DTYPE = ("TL2", "TL3", "TL4", "TL6")


class Recorder(supervise.Watcher):
    """Keeps results, and prints a line for each."""

    def __init__(self, total: int) -> None:
        self.pairs: list[dict[str, Any]] = []
        self.total = total
        self.started_at = time.monotonic()
        self.done = 0

    def finished(self, experiment: dict[str, Any], result: dict[str, Any]) -> None:
        self.done += 1
        self.pairs.append({"experiment": experiment, "result": result})
        ratio = result.get("ratio")
        said = f"x{ratio['median']:.3g} [{ratio['low']:.3g}, {ratio['high']:.3g}]" if ratio else result["reason"]
        passed = time.monotonic() - self.started_at
        print(f"{passed:5.0f} s  {self.done}/{self.total}  {experiment['label']}: {said}", flush=True)


def row(experiment: dict[str, Any], result: dict[str, Any], environment: dict[str, Any]) -> dict[str, Any]:
    """What is kept of one pair."""
    said, why = evidence.verdict(experiment["rule"], result)
    kept: dict[str, Any] = {
        "code": experiment["rule"],
        "size": experiment["label"].split()[2],
        "parameters": experiment["size"],
        "dtype": experiment["dtype"],
        "verdict": said,
        "because": why,
    }
    if result["status"] != "measured":
        return kept
    sides = {side: {key: result[side].get(key) for key in evidence.FIGURES} for side in ("before", "after")}
    return {
        **kept,
        "ratio": result["ratio"],
        **sides,
        "bottleneck": {side: evidence.bottleneck(sides[side], environment) for side in sides},
        "equal": result["equal"],
        "difference": result["difference"],
        "rounds": result["rounds"],
        "took_s": result["took_s"],
    }


def ordered(codes: list[str], sizes: list[str], dtypes: list[str], limits: supervise.Limits) -> dict[str, Any]:
    """The plan: every rule at the first size and dtype before any at the second, so that a short run says most."""
    choices = plan.Choices(limits=limits)
    parts = [
        plan.from_pages([c for c in codes if dtype == dtypes[0] or c.startswith(BY_DTYPE)], [size], [dtype], choices)
        for dtype in dtypes
        for size in sizes
    ]
    experiments = {e["id"]: e for part in parts for e in part["experiments"]}
    return {**parts[0], "experiments": list(experiments.values())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, help="seconds for all")
    parser.add_argument("--sizes", default="medium,large")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--codes", help="rules, separated by commas; all by default")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--pair-seconds", type=float, default=2.0, help="for the interleaved pairs of one experiment")
    parser.add_argument("--time-limit", type=float, default=60.0, help="for one experiment, in seconds")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the result files")
    parser.add_argument("--resume", type=Path, help="an earlier file of this machine: measure only what it lacks")
    options = parser.parse_args()
    count = supervise.gpu_count() if options.device == "cuda" else 1
    if not count:
        print("no CUDA device here; --device cpu measures the CPU", file=sys.stderr)
        return 2
    devices = [f"cuda:{i}" for i in range(count)] if options.device == "cuda" else ["cpu"]
    codes = options.codes.split(",") if options.codes else list(pages.codes())
    limits = supervise.Limits(seconds=options.time_limit, pair_seconds=options.pair_seconds)
    made = ordered(codes, options.sizes.split(","), options.dtypes.split(","), limits)
    options.out.mkdir(parents=True, exist_ok=True)
    earlier: dict[str, Any] = {"pairs": []}
    if options.resume is not None:
        earlier = json.loads(options.resume.read_text(encoding="utf-8"))
    old = [pair for pair in earlier["pairs"] if "ratio" in pair]
    if old:
        have = {(pair["code"], pair["size"], pair["dtype"]) for pair in old}
        made["experiments"] = [
            e for e in made["experiments"] if (e["rule"], e["label"].split()[2], e["dtype"]) not in have
        ]
    recorder = Recorder(len(made["experiments"]))
    try:
        answer = supervise.run(made, devices, options.budget, recorder)
    except KeyboardInterrupt:
        return 130
    environment = answer["environment"]
    if old and any(environment.get(key) != earlier["environment"].get(key) for key in evidence.KIND):
        print(f"{options.resume} is of another machine; its pairs are left out", file=sys.stderr)
        old = []
    rows = [row(pair["experiment"], pair["result"], environment) for pair in recorder.pairs]
    rows = [pair for pair in rows if pair["because"] != "the time budget was used up"]
    everything = sorted([*old, *rows], key=lambda pair: (pair["code"], pair["size"] == "large", pair["dtype"]))
    name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{environment['name']}_{environment['torch'].split('+')[0]}").strip("-")
    target = options.out / f"{name}.json"
    text = json.dumps({"environment": environment, "method": evidence.METHOD, "pairs": everything}, indent=1)
    temporary = target.with_suffix(".part")
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.replace(target)
    failed = [pair for pair in rows if "ratio" not in pair]
    print(f"{len(rows) - len(failed)} pairs measured, {len(failed)} not: {target}")
    for pair in failed:
        print(f"  {pair['code']} {pair['size']} {pair['dtype']}: {pair['because']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

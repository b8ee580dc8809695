"""Run a plan several times and say how well its figures repeat.

    python benchmarks/verify/repeat.py plan.json --times 3 --out repeat.json

Printed are, for each experiment that was measured every time, the ratios of all runs, and in the end the share of
experiments whose ratios lie within 5 % of each other, and those with opposite verdicts: a repair that gains in one run
and is slower in another. Needs torch and a CUDA device.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from torchlint.verify import evidence, supervise  # noqa: E402

WITHIN = 0.05


def compare(rules: dict[str, Any], answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The ratios of each experiment that every run measured, and how many lie close together."""
    rows = []
    for identity, experiment in rules.items():
        results = [answer["results"].get(identity, {}) for answer in answers]
        if any(result.get("status") != "measured" for result in results):
            continue
        ratios = [result["ratio"]["median"] for result in results]
        verdicts = [evidence.verdict(experiment["rule"], result)[0] for result in results]
        close = max(ratios) / min(ratios) - 1 <= WITHIN
        opposite = {"confirmed", "repair is slower"} <= set(verdicts)
        times = {label: [result[label]["median_us"] for result in results] for label in ("before", "after")}
        rows.append({"experiment": experiment["label"], "ratios": ratios, "verdicts": verdicts, "within": close,
                     "opposite": opposite, "times_us": times})  # fmt: skip
    share = sum(row["within"] for row in rows) / len(rows) if rows else 0.0
    return {"environment": answers[0]["environment"], "times": len(answers), "share_within": share, "rows": rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--budget", type=float, help="seconds for each run")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--out", type=Path, help="write the ratios of all runs here (JSON)")
    options = parser.parse_args()
    plan: dict[str, Any] = json.loads(options.plan.read_text(encoding="utf-8"))
    rules = {experiment["id"]: experiment for experiment in plan["experiments"]}
    count = (supervise.gpu_count() or 1) if options.device == "cuda" else 0
    devices = [f"cuda:{index}" for index in range(count)] or ["cpu"]  # which share the plan, as in any run
    answers = []
    for turn in range(options.times):
        answers.append(supervise.run(plan, devices, options.budget))
        print(f"run {turn + 1} took {answers[-1]['environment']['seconds']} s", flush=True)
        if options.out is not None:  # after each run, lest a later one that fails takes the earlier along
            options.out.write_text(json.dumps(compare(rules, answers), indent=1) + "\n", encoding="utf-8")
        if answers[-1]["interrupted"]:
            return 130
    made = compare(rules, answers)
    for row in made["rows"]:
        mark = "OPPOSITE" if row["opposite"] else "ok  " if row["within"] else "OFF "
        print(f"{mark} {row['experiment']}: {', '.join(f'{ratio:.4g}' for ratio in row['ratios'])}", flush=True)
    opposite = sum(row["opposite"] for row in made["rows"])
    print(f"{made['share_within']:.0%} of {len(made['rows'])} experiments within {WITHIN:.0%} in {options.times} runs; "
          f"{opposite} opposite")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())

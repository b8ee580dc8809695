"""Write what the results in this folder say into README.md, between its marks.

python benchmarks/verify/summary.py            writes it
python benchmarks/verify/summary.py --check    says whether it is out of date, and exits with 1
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
README = FOLDER / "README.md"
_MARKED = re.compile(r"(<!-- figures: begin -->\n).*?(<!-- figures: end -->)", re.DOTALL)


def load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def whole_run() -> str:
    """What came of all findings in the example and the labelled programs."""
    data = load("h200.json")
    where, findings = data["environment"], data["findings"]
    lacking = [f for f in findings if f["rung"] is None]
    unrun = Counter(f"{f['code']}: {f['because']}" for f in lacking)
    above = sum(f["rung"] in ("in place", "extracted") for f in findings)
    lines = [
        f"One run on one {where['name']}, torch {where['torch']}, {where['date']}, took {where['seconds']:.0f} s. Of "
        f"{len(findings)} findings {len(findings) - len(lacking)} were measured, {above} of them above the template "
        f"rung ({above / (len(findings) - len(lacking)):.0%}).",
        f"Verdicts: {counted(Counter(f['verdict'].partition(':')[0] for f in findings))}.",
        "",
        "Not measured:",
        "",
        *(f"- {reason}{f' ({count} findings)' if count > 1 else ''}" for reason, count in unrun.items()),
    ]
    return "\n".join(lines)


def truth() -> str:
    """Both figures of each pair, by run."""
    runs = [load(path.name) for path in sorted(FOLDER.glob("h200_truth_*.json"))]
    head = "| Pair | dtype |" + "".join(f" by hand {i} | `--verify` {i} |" for i in range(1, len(runs) + 1))
    lines = [head, "|---|---|" + "---|---|" * len(runs)]
    for rows in zip(*(run["pairs"] for run in runs), strict=True):
        cells = "".join(
            f" {row['by_hand']:.3g} | {row['verify']:.3g}{'' if row['within'] else ' (off)'} |" for row in rows
        )
        lines.append(f"| {rows[0]['pair']} | {rows[0]['dtype']} |{cells}")
    shares = ", ".join(f"{run['share_within']:.0%} of {len(run['pairs'])}" for run in runs)
    free = [row for run in runs for row in run["pairs"] if row["free"]]
    said = sum(row["verdict"] == "no measurable cost" for row in free)
    return "\n".join([
        *lines, "",
        f"Within 15 % of each other, by run: {shares}. Of pairs without a cost {said} of {len(free)} were called so.",
    ])  # fmt: skip


def repeated() -> str:
    """The ratios of each experiment, in the runs of the same plan."""
    lines = []
    for path in sorted(FOLDER.glob("h200_repeat_*.json")):
        data = load(path.name)
        lines += [
            f"`{path.name}`: {data['share_within']:.0%} of {len(data['rows'])} experiments within 5 % in "
            f"{data['times']} runs on {data['environment']['devices']} H200, "
            f"{sum(row['opposite'] for row in data['rows'])} with opposite verdicts.",
            "",
            "| Experiment | Ratios | Verdicts |",
            "|---|---|---|",
            *(
                f"| {row['experiment']} | {', '.join(f'{ratio:.3g}' for ratio in row['ratios'])} "
                f"| {', '.join(dict.fromkeys(row['verdicts']))} |"
                for row in data["rows"]
            ),
            "",
        ]
    return "\n".join(lines).rstrip()


def main() -> int:
    made = "\n\n".join([
        "### The whole run", whole_run(), "### Beside figures by hand", truth(), "### The same plan again", repeated(),
    ])  # fmt: skip
    text = README.read_text(encoding="utf-8")
    wanted = _MARKED.sub(lambda marks: f"{marks[1]}\n{made}\n\n{marks[2]}", text)
    if "--check" in sys.argv[1:]:
        if wanted != text:
            print("benchmarks/verify/README.md is out of date: run benchmarks/verify/summary.py", file=sys.stderr)
        return int(wanted != text)
    README.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

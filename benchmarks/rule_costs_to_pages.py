"""Fill the *Measured* tables of the rules' pages from benchmarks/rule_costs/, between their markers.

python benchmarks/rule_costs_to_pages.py            writes the pages
python benchmarks/rule_costs_to_pages.py --check    says which are out of date, and exits with 1
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from torchlint.rules import pages  # noqa: E402

COSTS = ROOT / "benchmarks" / "rule_costs"
PAGES = ROOT / "rules_docs"
_MARKED = re.compile(r"(<!-- measured: begin -->\n).*?(<!-- measured: end -->)", re.DOTALL)
HEADER = (
    "| Machine | Input | dtype | Before | After | Ratio, 95 % interval | Peak memory | Result |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def duration(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} µs"


def amount(count: int) -> str:
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} GiB"


def line(pair: dict[str, Any], machine: str) -> str:
    parameters = ", ".join(f"{name} {value}" for name, value in pair["parameters"].items())
    before, after, ratio = pair["before"], pair["after"], pair["ratio"]
    peaks = (before["peak_bytes"], after["peak_bytes"])
    memory = (
        "–"
        if None in peaks
        else amount(peaks[0])
        if peaks[0] == peaks[1]
        else f"{amount(peaks[0])} → {amount(peaks[1])}"
    )
    said = (
        pair["verdict"] if pair["because"] == "time" or not pair["because"] else f"{pair['verdict']}: {pair['because']}"
    )
    cells = (
        machine,
        f"{pair['size']}: {parameters}",
        pair["dtype"],
        duration(before["median_us"]),
        duration(after["median_us"]),
        f"×{ratio['median']:.3g} [{ratio['low']:.3g}, {ratio['high']:.3g}]",
        memory,
        said,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def table(code: str, costs: list[dict[str, Any]]) -> str:
    """What stands between the markers of a page."""
    lines = []
    for cost in costs:
        environment = cost["environment"]
        machine = f"{environment['name']}, torch {environment['torch'].split('+')[0]}"
        lines += [line(pair, machine) for pair in cost["pairs"] if pair["code"] == code and "ratio" in pair]
    if lines:
        return HEADER + "".join(lines)
    return "Not measured yet.\n" if pages.load(code).pair else "There is no pair to measure.\n"


def main() -> int:
    costs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(COSTS.glob("*.json"))]
    stale = []
    for code in pages.codes():
        page = pages.load(code)
        filled = _MARKED.sub(lambda match, code=code: match[1] + table(code, costs) + match[2], page.text)  # type: ignore[misc]
        if filled != page.text:
            stale.append(code)
            if "--check" not in sys.argv[1:]:
                (PAGES / f"{page.code}-{page.name}.md").write_text(filled, encoding="utf-8")
    if "--check" in sys.argv[1:]:
        print(f"out of date: {', '.join(stale)}" if stale else "every page shows what was measured")
        return int(bool(stale))
    print(f"{len(stale)} pages written")
    return 0


if __name__ == "__main__":
    sys.exit(main())

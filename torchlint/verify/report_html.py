"""One page for people: what was measured of each finding, with pictures, in a single file that loads nothing.

`report.html.j2` is the page; here is what it is filled with. Geometry is worked out in the units of each picture's view
box, so that pictures follow the width of the page; colours are the page's, light or dark.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from torchlint.report.text import visible
from torchlint.verify.display import duration, environment_line, ratio_text
from torchlint.verify.evidence import BOUNDS, METHOD, VERDICTS, amount

__all__ = ["render"]

WIDTH = 720.0  # of a picture
LANES = {"host": "Host", "wait": "Waiting", "device": "Device", "copy": "Copies"}
LANE_HEIGHT = 16.0
CURVE_HEIGHT = 110.0
NEAR = 0.7  # gap between blocks of a lane, below which they are drawn as one
SIDES = ("before", "after")


def render(evidence: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """The page.

    Args:
        evidence: as `evidence.build` makes it.
        answer: the results it was made of, for timelines and memory curves.
    """
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    engine = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_shown)
    findings = evidence["findings"]
    counts = Counter(_short(entry["verdict"]) for entry in findings)
    measured = [entry for entry in findings if "ratio" in entry]
    return engine.get_template("report.html.j2").render(
        environment=_environment(evidence["environment"]),
        headline=environment_line(evidence["environment"]),
        counts=[(name, counts[name], _slug(name)) for name in VERDICTS if counts[name]],
        forest=_forest(measured),
        entries=[_entry(entry, answer["results"], index) for index, entry in enumerate(findings)],
        method=evidence.get("method", METHOD),
        torchlint=evidence["torchlint"],
    )


def _shown(value: Any) -> Any:
    """What stands in the page: texts from elsewhere without what would turn, hide or move those around them."""
    return visible(value) if type(value) is str else value


def _short(verdict: str) -> str:
    return verdict.partition(":")[0]


def _slug(verdict: str) -> str:
    return _short(verdict).replace(" ", "-")


def _environment(environment: Mapping[str, Any]) -> list[tuple[str, str]]:
    rates = environment.get("matmul_flops") or {}
    rows = {
        "Device": environment["name"],
        "torch": environment["torch"],
        "CUDA": environment.get("cuda"),
        "Driver": environment.get("driver"),
        "Python": environment.get("python"),
        "Device memory": amount(environment["memory_bytes"]) if environment.get("memory_bytes") else None,
        "Memory bandwidth": f"{environment['bandwidth'] / 1e9:,.0f} GB/s" if environment.get("bandwidth") else None,
        **{f"Matrix product, {name}": f"{rate / 1e12:,.3g} TFLOP/s" for name, rate in rates.items()},
        "Launching a small operator": duration(environment["launch_us"]) if environment.get("launch_us") else None,
        "Reading a ready number": duration(environment["wait_us"]) if environment.get("wait_us") else None,
        "Measured": environment.get("date"),
    }
    return [(name, str(value)) for name, value in rows.items() if value is not None]


# -- the overview ------------------------------------------------------------------------------------------------------


def _forest(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """All ratios with their intervals on one logarithmic scale, the greatest first."""
    if not entries:
        return None
    low = min(0.9, *(entry["ratio"]["low"] for entry in entries))
    high = max(1.2, *(entry["ratio"]["high"] for entry in entries))
    left, right, top = 190.0, 70.0, 24.0
    span = math.log(high) - math.log(low)

    def x(ratio: float) -> float:
        return round(left + (math.log(ratio) - math.log(low)) / span * (WIDTH - left - right), 1)

    rows = []
    ordered = sorted(entries, key=lambda entry: -entry["ratio"]["median"])
    for index, entry in enumerate(ordered):
        ratio = entry["ratio"]
        rows.append(
            {
                "y": top + index * 20 + 10,
                "label": _tail(f"{entry['filename']}:{entry['row']}", 22),
                "code": entry["code"],
                "low": x(ratio["low"]),
                "median": x(ratio["median"]),
                "high": x(ratio["high"]),
                "text": f"×{ratio['median']:.3g}",
                "title": f"{entry['filename']}:{entry['row']} {entry['code']} {ratio_text(ratio)}",
                "slug": _slug(entry["verdict"]),
            }
        )
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 500, 1000) if low <= tick <= high]
    return {
        "width": WIDTH,
        "height": top + len(rows) * 20 + 10,
        "rows": rows,
        "ticks": [(x(tick), f"×{tick:g}") for tick in ticks],
        "band": (x(BOUNDS[0]), x(BOUNDS[1])),
        "right": WIDTH - right,
    }


def _tail(text: str, length: int) -> str:
    return text if len(text) <= length else f"…{text[1 - length :]}"


# -- a finding ---------------------------------------------------------------------------------------------------------


def _entry(entry: Mapping[str, Any], results: Mapping[str, Any], index: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        **entry,
        "id": f"finding-{index}",
        "slug": _slug(entry["verdict"]),
        "short": _short(entry["verdict"]),
        "reason": entry["because"] if entry["because"] != "time" else "",
        "measured": "ratio" in entry,
    }
    if "ratio" not in entry:
        return shown
    result = results.get(entry["experiment"], {})
    sides = {side: {**result.get(side, {}), **entry[side]} for side in SIDES}
    return {
        **shown,
        "ratio_text": ratio_text(entry["ratio"]),
        "bars": _bars(sides),
        "figures": _figures(sides, entry),
        "timelines": _timelines(sides),
        "curves": _curves(sides),
        "questions": _questions(sides, entry),
    }


def _bars(sides: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Two bars with their quartiles, on one scale from zero."""
    longest = max(sides[side]["median_us"] + sides[side]["iqr_us"] / 2 for side in SIDES)
    left, right = 68.0, 90.0
    scale = (WIDTH - left - right) / longest
    rows = []
    for index, side in enumerate(SIDES):
        median, spread = sides[side]["median_us"], sides[side]["iqr_us"]
        rows.append(
            {
                "side": side,
                "y": index * 30,
                "length": round(max(1.0, median * scale), 1),
                "low": round(left + max(0.0, median - spread / 2) * scale, 1),
                "high": round(left + (median + spread / 2) * scale, 1),
                "text": duration(median),
            }
        )
    return {"width": WIDTH, "height": 60, "left": left, "rows": rows}


def _figures(sides: Mapping[str, Mapping[str, Any]], entry: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    formats: dict[str, tuple[str, Callable[[Any], str]]] = {
        "median_us": ("Time of a call, median", duration),
        "iqr_us": ("Interquartile range", duration),
        "first_us": ("First call", duration),
        "startup_us": ("Starting loader workers, apart", duration),
        "waits": ("Waits of the host", str),
        "wait_us": ("Time in them", duration),
        "kernels": ("Kernels", str),
        "operators": ("Operators", str),
        "busy_us": ("Device busy", duration),
        "fetch_us": ("Waiting for batches", duration),
        "peak_bytes": ("Peak memory", amount),
        "growth_bytes_per_step": ("Growth per step", amount),
        "flops": ("FLOPs", _count),
        "bytes": ("Bytes read and written", amount),
    }
    rows = []
    for key, (label, show) in formats.items():
        values = [sides[side].get(key) for side in SIDES]
        if any(value is not None for value in values):
            texts = ["–" if value is None else show(value) for value in values]
            rows.append((label, texts[0], texts[1]))
    stuck = entry["bottleneck"]
    rows.append(("Bottleneck", stuck["before"] or "–", stuck["after"] or "–"))
    return rows


def _count(number: float) -> str:
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"


def _timelines(sides: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Host and device lanes of one call of each variant, on one scale."""
    spans = {side: sides[side].get("timeline") or [] for side in SIDES}
    if not any(spans.values()):
        return None
    end = max(sides[side].get("traced_us") or 0.0 for side in SIDES) or 1.0
    left = 64.0
    scale = (WIDTH - left) / end
    pictures = []
    for side in SIDES:
        lanes = [lane for lane in LANES if any(span[0] == lane for span in spans[side])]
        blocks: list[dict[str, Any]] = []
        for lane, name, start, length in sorted(spans[side], key=lambda span: (lanes.index(span[0]), span[2])):
            x, width = round(left + start * scale, 2), round(max(0.4, length * scale), 2)
            last = blocks[-1] if blocks and blocks[-1]["lane"] == lane else None
            if last is not None and x - (last["x"] + last["width"]) < NEAR:  # nobody could tell them apart
                last["width"] = round(max(last["width"], x + width - last["x"]), 2)
                last["title"] = last["title"].removesuffix(" …") + " …"
                continue
            title = f"{name}, {duration(length)}"
            y = lanes.index(lane) * (LANE_HEIGHT + 4)
            blocks.append({"lane": lane, "x": x, "y": y, "width": width, "title": title})
        pictures.append(
            {
                "side": side,
                "height": max(1, len(lanes)) * (LANE_HEIGHT + 4),
                "lanes": [(LANES[lane], index * (LANE_HEIGHT + 4)) for index, lane in enumerate(lanes)],
                "blocks": blocks,
                "total": _traced(sides[side]),
            }
        )
    return {"width": WIDTH, "left": left, "lane_height": LANE_HEIGHT, "pictures": pictures, "end": duration(end)}


def _traced(side: Mapping[str, Any]) -> str:
    return (
        f"{duration(side.get('traced_us') or 0.0)} while traced" if side.get("timeline") else "too long a call to trace"
    )


def _curves(sides: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Memory above the start, step by step, both variants in one picture."""
    curves = {side: sides[side].get("memory_curve") or [] for side in SIDES}
    if all(len(curve) < 3 for curve in curves.values()):
        return None
    most = max((value for curve in curves.values() for value in curve), default=1) or 1
    longest = max(len(curve) for curve in curves.values())
    left, bottom = 80.0, 18.0

    def points(curve: Iterable[int]) -> str:
        across, down = (WIDTH - left) / max(1, longest - 1), CURVE_HEIGHT - bottom - 6
        return " ".join(f"{left + i * across:.1f},{(1 - max(0, v) / most) * down + 6:.1f}" for i, v in enumerate(curve))

    return {
        "width": WIDTH,
        "height": CURVE_HEIGHT,
        "left": left,
        "base": CURVE_HEIGHT - bottom,
        "most": amount(most),
        "lines": [(side, points(curves[side])) for side in SIDES if curves[side]],
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _questions(sides: Mapping[str, Mapping[str, Any]], entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The five questions of an optimisation report, answered from what was measured."""
    before, after = sides["before"], sides["after"]
    changed: dict[str, list[str]] = {"less": [], "more": []}
    for key, what, show, least in (
        ("flops", "computation", _count, 0.02),
        ("bytes", "memory traffic", amount, 0.02),
        ("wait_us", "waiting", duration, 0.2),  # taken once
        ("kernels", "launches", str, 0.02),
        ("operators", "operators", str, 0.02),
    ):
        one, other = before.get(key), after.get(key)
        if one is not None and other is not None and abs(one - other) > least * max(one, other, 1):
            changed["less" if other < one else "more"].append(f"{what} ({show(one)} → {show(other)})")
    saved = [f"{way} {', '.join(what)}" for way, what in changed.items() if what]
    if not changed["less"]:
        saved.insert(0, "nothing that was counted")
    one, other = before.get("peak_bytes"), after.get("peak_bytes")
    if one is None or other is None:
        memory = "Not measured."
    elif abs(one - other) <= 0.02 * max(one, other, 1):
        memory = f"No: {amount(one)} at the peak in both."
    else:
        memory = (
            f"{'Yes' if other > one else 'No, it needs less'}: {amount(one)} at the peak before, {amount(other)} after."
        )
    equal = {
        True: "No: results agree within the tolerance of the dtype.",
        None: "Not compared: the results are objects.",
    }
    numerics = equal.get(entry["equal"], "Yes: results differ.")
    shapes = ", ".join(f"{item['name']} {item['shown']}" for item in entry["inputs"]) or "those of the experiment"
    first = [side.get("first_us") or 0.0 for side in (before, after)]
    extra = [max(0.0, f - side["median_us"]) for f, side in zip(first, (before, after), strict=True)]
    moved = extra[1] - extra[0] > max(1000.0, 0.5 * extra[0], 0.2 * after["median_us"])  # less is the machine's unrest
    start = (
        f"{'Yes' if moved else 'No'}: the first call took {duration(first[0])} before and {duration(first[1])} after, "
        f"against {duration(before['median_us'])} and {duration(after['median_us'])} later."
    )
    return [
        ("What does it save?", _sentence("; ".join(saved))),
        ("Does it need more memory?", memory),
        ("Does it change numerics?", numerics),
        ("Does it hold only for some shapes?", f"Measured with {shapes}; other shapes were not."),
        ("Does it move the cost to compilation or start-up?", start),
    ]

"""What a terminal shows of a run: a progress bar, then a line for each finding."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import rich.progress
from rich.console import Console
from rich.table import Table
from rich.text import Text

from torchlint.report.text import visible
from torchlint.verify import supervise
from torchlint.verify.evidence import amount

__all__ = ["Progress", "duration", "environment_line", "ratio_text", "table"]

_COLORS = {
    "confirmed": "green",
    "no measurable cost": "cyan",
    "undecided": "yellow",
    "repair is slower": "magenta",
    "results differ": "red",
}
_WIDTH = 160  # where no terminal says how wide it is


class Progress(supervise.Watcher):
    """A bar on standard error that names what is being measured."""

    def __init__(self, total: int, enabled: bool) -> None:
        self._bar = rich.progress.Progress(
            rich.progress.TextColumn("Measuring"),
            rich.progress.BarColumn(),
            rich.progress.MofNCompleteColumn(),
            rich.progress.TimeElapsedColumn(),
            rich.progress.TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            transient=True,
            disable=not enabled,
        )
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Progress:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def started(self, experiment: dict[str, Any]) -> None:
        self._bar.update(self._task, description=visible(str(experiment.get("label", ""))))

    def finished(self, experiment: dict[str, Any], result: dict[str, Any]) -> None:
        self._bar.advance(self._task)


def table(evidence: Mapping[str, Any]) -> None:
    """Print the evidence, a line for each finding, and what it was measured on."""
    wide = None if sys.stdout.isatty() else _WIDTH
    console = Console(file=sys.stdout, width=wide, highlight=False)
    findings = evidence["findings"]
    if not findings:
        console.print("Nothing to measure: no findings.")
        return
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Finding", "Rung", "Before", "After", "Ratio", "Peak memory", "Bottleneck", "Verdict"):
        shown.add_column(heading, overflow="fold", no_wrap=heading in ("Before", "After", "Rung"))
    for entry in findings:
        shown.add_row(*_row(entry))
    console.print(shown)
    counts = Counter(str(entry["verdict"]).partition(":")[0] for entry in findings)
    console.print()
    console.print(Text(", ".join(f"{count} {name}" for name, count in counts.most_common())))
    console.print(Text(environment_line(evidence["environment"])))


def _row(entry: Mapping[str, Any]) -> list[Text]:
    place = visible(f"{entry['filename']}:{entry['row']} {entry['code']}")
    verdict = str(entry["verdict"])
    said = Text(visible(verdict), style=_COLORS.get(verdict, "dim"))
    if verdict == "confirmed" and entry["because"] != "time" or verdict == "results differ":
        said.append(f": {visible(entry['because'])}", style="default")
    if "ratio" not in entry:
        return [Text(place), Text("–"), Text(""), Text(""), Text(""), Text(""), Text(""), said]
    before, after = entry["before"], entry["after"]
    peaks = (before["peak_bytes"], after["peak_bytes"])
    memory = "" if None in peaks else f"{amount(peaks[0])} → {amount(peaks[1])}"
    stuck = entry["bottleneck"]
    bottleneck = (
        f"{stuck['before'] or '?'} → {stuck['after'] or '?'}" if stuck["before"] != stuck["after"] else stuck["before"]
    )
    return [
        Text(place),
        Text(entry["rung"]),
        Text(duration(before["median_us"])),
        Text(duration(after["median_us"])),
        Text(ratio_text(entry["ratio"])),
        Text(memory),
        Text(bottleneck or ""),
        said,
    ]


def ratio_text(ratio: Mapping[str, float]) -> str:
    return f"×{ratio['median']:.3g} [{ratio['low']:.3g}, {ratio['high']:.3g}]"


def duration(microseconds: float) -> str:
    """A time as a person reads it."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} µs"


def environment_line(environment: Mapping[str, Any]) -> str:
    """What was measured on, in a sentence; figures of a CPU say that they are."""
    versions = f"torch {environment['torch']}" + (f", CUDA {environment['cuda']}" if environment.get("cuda") else "")
    name = environment["name"]
    if environment["device"] == "cpu":
        return visible(f"Figures of the CPU ({name}, {environment.get('threads')} threads), not of a GPU; {versions}.")
    return visible(f"Measured on {name}; {versions}.")

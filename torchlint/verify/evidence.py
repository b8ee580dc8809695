"""From what a worker measured to what is said of a finding: verdicts, bottlenecks, and evidence as data.

`evidence.schema.json`, beside this file, is the format. One evidence file holds the findings measured on machines of
one kind: another GPU or another torch gives another file, so that no figure is read without its environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torchlint import __version__
from torchlint.engine.evidence import VERSION, is_flat
from torchlint.source.files import read_regular
from torchlint.verify import forms

__all__ = [
    "CRITERIA",
    "VERDICTS",
    "VERSION",
    "EvidenceError",
    "bottleneck",
    "build",
    "join",
    "load",
    "schema",
    "verdict",
]

VERDICTS = ("confirmed", "no measurable cost", "undecided", "repair is slower", "results differ", "not run")
BOUNDS = (0.97, 1.03)  # a ratio within them is no measurable cost
RUNGS = ("in place", "extracted", "template")  # the most faithful first
GROWTH = 256  # bytes per step that count as growth: half of what the CUDA allocator's smallest block holds
LESS_MEMORY = 0.97  # peak after over peak before, at most
MEMORY_BYTES = 1 << 20  # and by at least so much
WRONG_CLOCK = 0.1
# What confirms a finding besides time. Rules that are not named have time alone.
CRITERIA: Mapping[str, str] = {
    **dict.fromkeys(("TL203", "TL206", "TL302", "TL304", "TL305", "TL306", "TL307", "TL311", "TL603", "TL604", "TL607",
                     "TL609"), "memory"),
    **dict.fromkeys(("TL601", "TL602", "TL605", "TL610"), "growth"),
    **dict.fromkeys(("TL505", "TL512"), "reads"),
    **dict.fromkeys(("TL701", "TL703"), "clock"),
    **dict.fromkeys(("TL804", "TL805"), "compile"),  # time, that of compiling included
}  # fmt: skip
METHOD = (
    "A process for each experiment holds both variants. Rounds of before, after, after, before, drained at both "
    "ends, after warm-up; every repetition starts from the same inputs, weights, random state and module globals. "
    "Short calls are timed several together, on the same arguments where that changes no shape, else on copies. "
    "On a GPU each sample is taken on a processor on which a fixed loop takes at most 1.2 times its least, where there "
    "is one; code that starts no threads is bound to it together with backward. "
    "Starting and ending the workers of loaders is not in the times. "
    "Medians; the ratio is the median of the ratios of rounds, which weigh the less the slower that loop was beside "
    "them, its interval the 95 % bootstrap interval. What the host bounds is timed in up to four processes, apart in "
    "time, until that interval, over processes and their rounds, is narrow; each process weighs the same. "
    "Waits, kernels, memory, FLOPs and traces come from passes of their own. Results are compared with a tolerance "
    "that follows the dtype."
)
# Of a variant's figures, those that evidence keeps; the rest (timelines, memory curves) is for the report.
FIGURES = (
    "median_us iqr_us first_us startup_us waits wait_us kernels peak_bytes growth_bytes_per_step flops bytes busy_us "
    "fetch_us operators"
).split()


class EvidenceError(ValueError):
    """Results or evidence that cannot be used; the text is one line for the user."""


def verdict(code: str, result: Mapping[str, Any]) -> tuple[str, str]:
    """The verdict on a finding of the rule `code`, and what it rests on.

    Args:
        code: the rule's.
        result: what the worker sent of the experiment.
    """
    if result.get("status") != "measured":
        return "not run", str(result.get("reason") or "no result")
    criterion = CRITERIA.get(code, "time")
    own = _own_criterion(criterion, result)
    if own:
        return "confirmed", own
    if result.get("equal") is False and criterion not in ("clock", "reads"):
        return "results differ", str(result.get("difference") or "")
    low, high = result["ratio"]["low"], result["ratio"]["high"]
    startup = [(result[side].get("startup_us") or 0.0) * 1e-3 for side in ("before", "after")]
    time = "time"
    if any(startup):
        time += f", starting and ending loader workers apart: {startup[0]:.3g} ms, repaired {startup[1]:.3g} ms a call"
    if low > BOUNDS[1]:
        return "confirmed", time
    if high < BOUNDS[0]:
        return "repair is slower", time
    if low >= BOUNDS[0] and high <= BOUNDS[1]:
        return "no measurable cost", time
    return "undecided", "the interval of the ratio reaches over a bound"


def _own_criterion(criterion: str, result: Mapping[str, Any]) -> str:
    """What the rule's own criterion found, empty where it does not hold."""
    before, after = result["before"], result["after"]
    if criterion == "growth" and result.get("equal") is not False:
        grown, left = before.get("growth_bytes_per_step"), after.get("growth_bytes_per_step")
        if grown is not None and left is not None and grown - left >= GROWTH:
            return f"memory grows by {amount(grown)} per step, repaired by {amount(left)}"
    if criterion in ("memory", "growth") and result.get("equal") is not False:
        peak, less = before.get("peak_bytes"), after.get("peak_bytes")
        if peak and less is not None and less <= LESS_MEMORY * peak and peak - less >= MEMORY_BYTES:
            return f"peak memory {amount(peak)}, repaired {amount(less)}"
    if criterion == "reads":
        wrong = result.get("wrong_reads") or {}
        if wrong.get("before", 0) and not wrong.get("after", 0):
            return f"{wrong['before']} of 10 reads gave wrong data"
    if criterion == "clock":
        clock = result.get("clock") or {}
        if result.get("unready"):
            return "the code as written raises: it reads an event that was not reached"
        if clock.get("after") and clock.get("apart", True):
            said, true = clock["before"], clock["after"]
            if abs(said / true - 1) > WRONG_CLOCK:
                return f"the clock says {said:.3g} s where it takes {true:.3g} s"
    return ""


def amount(count: float) -> str:
    """A number of bytes as a person reads it."""
    sign, count = ("-", -count) if count < 0 else ("", count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{sign}{count:.0f} {unit}" if unit == "B" else f"{sign}{count:.1f} {unit}"
        count /= 1024
    raise AssertionError


def bottleneck(figures: Mapping[str, Any], environment: Mapping[str, Any]) -> str | None:
    """Which of the bottlenecks a call is in; None where too little is known.

    "input" where it waits for batches half of the time; "sync" where the host waits for the device and the device then
    idles; "memory" or "compute" where the device is busy, by which of bytes over bandwidth and FLOPs over the measured
    rate is longer; "launch" where the kernels' launches account for half of the time, and "python" for the rest.
    """
    time = figures.get("median_us")
    if not time:
        return None
    if (figures.get("fetch_us") or 0) > 0.5 * time:
        return "input"
    bytes_us = _over(figures.get("bytes"), environment.get("bandwidth"))
    rates = [rate for rate in (environment.get("matmul_flops") or {}).values() if rate]
    flops_us = _over(figures.get("flops"), min(rates, default=None))
    heavy = "compute" if flops_us > bytes_us else "memory"
    busy = figures.get("busy_us")
    if busy is None:  # no device of its own: the share of the time that the hardware's ceilings explain
        if max(flops_us, bytes_us) >= 0.3 * time:
            return heavy
        return "python"
    if busy >= 0.7 * time:
        return heavy
    if (figures.get("waits") or 0) and (figures.get("wait_us") or 0) >= 0.2 * time:
        return "sync"
    launches = (figures.get("kernels") or 0) * (environment.get("launch_us") or 0)
    return "launch" if launches >= 0.5 * time else "python"


def _over(amount: float | None, rate: float | None) -> float:
    """Microseconds that an amount takes at a rate per second; 0 where one is not known."""
    return amount / rate * 1e6 if amount and rate else 0.0


def build(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence for the findings of a plan that was run.

    Args:
        answer: {"environment", "plan", "results"}, as `supervise.run` gives it and `join` puts together.
    """
    plan = answer["plan"]
    experiments = {experiment["id"]: experiment for experiment in plan["experiments"]}
    environment = dict(answer["environment"])
    return {
        "version": VERSION,
        "torchlint": __version__,
        "environment": environment,
        "method": METHOD,
        "findings": [_entry(finding, experiments, answer["results"], environment) for finding in plan["findings"]],
    }


def _entry(
    finding: Mapping[str, Any],
    experiments: Mapping[str, Any],
    results: Mapping[str, Any],
    environment: Mapping[str, Any],
) -> dict[str, Any]:
    """What is said of one finding: from the highest rung that could be measured."""
    tried = []
    chosen: Mapping[str, Any] = {"status": "not run", "reason": finding.get("reason") or "no result"}
    experiment: Mapping[str, Any] | None = None
    for identity in finding["ladder"]:
        result = results.get(identity)
        if result is None:
            continue
        experiment, chosen = experiments[identity], result
        if result["status"] == "measured":
            break
        tried.append({"rung": experiment["rung"], "reason": str(result.get("reason"))})
    said, why = verdict(finding["code"], chosen)
    entry: dict[str, Any] = {
        **{key: finding[key] for key in ("fingerprint", "code", "name", "filename", "row", "column", "code_hash")},
        "rung": experiment["rung"] if experiment and chosen["status"] == "measured" else None,
        "verdict": said if said != "not run" else f"not run: {why}",
        "because": why,
        "tried": [*finding.get("tried", ()), *tried],
    }
    if chosen["status"] != "measured" or experiment is None:
        return entry
    sides = {side: {key: chosen[side].get(key) for key in FIGURES} for side in ("before", "after")}
    return {
        **entry,
        "experiment": experiment["id"],
        "ratio": chosen["ratio"],
        **sides,
        "bottleneck": {side: bottleneck(sides[side], environment) for side in sides},
        "equal": chosen.get("equal"),
        "inputs": chosen.get("inputs") or experiment.get("shown", []),
        "stand_ins": experiment.get("stand_ins", []),
        "wait_places": chosen["before"].get("wait_places") or {},
        "rounds": chosen["rounds"],
        "processes": len(chosen.get("processes", ())) or 1,
    }


# What makes machines one kind, so that their results can stand in one file.
KIND = ("device", "name", "torch", "cuda", "capability")


def join(answers: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """The results of several runs of one plan as one.

    Raises:
        EvidenceError: they come from machines of different kinds, or from no machine.
    """
    first = answers[0]
    results: dict[str, Any] = {}
    experiments: dict[str, Any] = {}
    findings: dict[tuple[str, str], Any] = {}
    for answer, name in zip(answers, names, strict=True):
        for key in KIND:
            if answer["environment"].get(key) != first["environment"].get(key):
                raise EvidenceError(
                    f"{name}: measured on another kind of machine than {names[0]} ({key} is "
                    f"{answer['environment'].get(key)}, not {first['environment'].get(key)}): merge each kind apart"
                )
        for identity, result in answer["results"].items():
            if results.get(identity, {}).get("status") != "measured":
                results[identity] = result
        experiments.update((experiment["id"], experiment) for experiment in answer["plan"]["experiments"])
        for finding in answer["plan"]["findings"]:
            place = finding["filename"], finding["fingerprint"]
            known = findings.get(place)
            findings[place] = finding if known is None else _together(known, finding, experiments)
    plan = {**first["plan"], "experiments": list(experiments.values()), "findings": list(findings.values())}
    seconds = sum(answer["environment"].get("seconds", 0.0) for answer in answers)
    environment = {**first["environment"], "seconds": round(seconds, 1)}
    return {"version": VERSION, "environment": environment, "plan": plan, "results": results}


def _together(one: Mapping[str, Any], other: Mapping[str, Any], experiments: Mapping[str, Any]) -> dict[str, Any]:
    """A finding of two plans: the later, with the experiments of both, the higher rungs first."""
    ladder = dict.fromkeys([*other["ladder"], *one["ladder"]])
    return {**other, "ladder": sorted(ladder, key=lambda identity: RUNGS.index(experiments[identity]["rung"]))}


def load(path: Path, form: Any) -> dict[str, Any]:
    """Read a plan or results, of which `forms` says what they look like.

    Raises:
        EvidenceError: it cannot be read, or is something else.
    """
    try:
        data = json.loads(read_regular(path))
    except OSError as error:
        raise EvidenceError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"{path}: is no JSON: {error}") from error
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise EvidenceError(f"{path}: does not hold what `torchlint verify` of this version writes")
    misfit = forms.misfit(data, form) or forms.unknown(data.get("plan", data))
    if misfit is None and not is_flat(data):
        misfit = "it is nested too deeply"
    if misfit is not None:
        raise EvidenceError(f"{path}: does not hold what `torchlint verify` writes: {misfit}")
    return data


def schema() -> dict[str, Any]:
    """The JSON schema of evidence."""
    data: dict[str, Any] = json.loads((Path(__file__).parent / "evidence.schema.json").read_text(encoding="utf-8"))
    return data


def confirmed(evidence: Mapping[str, Any], least: float = 0.0) -> Iterable[Mapping[str, Any]]:
    """The entries a gate stops at: confirmed, with a gain in time of at least `least` where one is asked for."""
    for entry in evidence["findings"]:
        if entry["verdict"] == "confirmed" and (not least or entry["ratio"]["low"] >= least):
            yield entry

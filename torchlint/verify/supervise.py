"""Running a plan: starts the workers, watches their time and memory, takes their answers, outlives their deaths.

Each experiment has a process of its own in a process group of its own, an empty working folder, an environment of a few
named variables, a limit of time and one of memory; both are held from outside, by SIGKILL of the group. The processes
are forked from one that has loaded torch and done nothing else. On a GPU several set up their device together, and then
measure one after the other: nothing runs beside a measurement. Standard library alone, Python
3.9 or later: `bundle` makes one file of this, the policy and the worker.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, fields
from typing import Any

from torchlint.verify import forms
from torchlint.verify.bundling import bundle
from torchlint.verify.figures import interval, is_narrow
from torchlint.verify.processes import START_SECONDS, Nursery, Worker, cores
from torchlint.verify.standins import printable

TOGETHER = 6  # workers that set up their device at once, before any of them measures, on a GPU
FIND_SECONDS = 30.0  # for finding inputs, from the start of a worker to its answer
BESIDE = 3.0  # seconds of an experiment apart from its pairs, until that is known
MOST_PROCESSES = 20  # in which an experiment is timed, whatever the plan says
MIN_CORES = 4  # of a device's workers, to give one of them to backward alone
AGAIN_FIRST_US = 2e6  # of the first call, above which there is no further process: it would begin with one as well
ENOUGH_ROUNDS = 7  # below which an interval is narrow by chance
BUSY = 0.8  # of a call's time, for which the device must be busy to be what bounds it
AGAIN = 3  # times as long as in the first process pairs are measured in a further one
REFINING = 0.25  # of the time of all first processes, for the further ones where there is no budget
MIN_REFINING_S = 60.0  # for them at least
KEPT_BACK = 0.75  # of the budget, for the highest rungs; the rest is for lower ones and further processes
COMPILING = 3  # times the limit of time, for code that is compiled: a compiler runs for many seconds
OUT_OF_TIME = "the time budget was used up"
INTERRUPTED = "interrupted"
CODE = ("before", "after", "inputs", "arguments")  # of an experiment, what results leave out


@dataclass(frozen=True)
class Limits:
    """What one experiment may take.

    Attributes:
        seconds: from its start to its result; then it is killed. Code that is compiled has three times as long.
        memory_bytes: of the host, by its whole process group.
        pair_seconds: that interleaved pairs are measured at most, within `seconds`.
        processes: in which what the host bounds is timed at most; those after the first, which have less to do beside,
            take AGAIN times `pair_seconds`.
    """

    seconds: float = 60.0
    memory_bytes: int = 16 << 30
    pair_seconds: float = 1.0
    processes: int = 4

    @classmethod
    def of(cls, given: dict[str, Any]) -> Limits:
        """Those of a plan, which may come from a torchlint that knows of more."""
        return cls(**{field.name: given[field.name] for field in fields(cls) if field.name in given})


class Watcher:
    """Is told how a run goes. The methods do nothing; a progress display overrides them."""

    def started(self, experiment: dict[str, Any]) -> None:
        """An experiment is being measured."""

    def finished(self, experiment: dict[str, Any], result: dict[str, Any]) -> None:
        """An experiment has its result."""


def _shares(count: int) -> list[list[int]]:
    """The processors for the workers of each of `count` devices; empty lists where they are too few to be parted."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    size = len(usable) // count
    return [usable[index * size : (index + 1) * size] if size >= MIN_CORES else [] for index in range(count)]


def gpu_count() -> int | None:
    """How many CUDA devices torch sees here, asked in a process of its own; None without torch."""
    code = "import torch; print(torch.cuda.device_count() if torch.cuda.is_available() else 0)"
    # A file called torch.py in the current folder must not be what is asked.
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else None


def run(
    plan: dict[str, Any],
    devices: list[str],
    budget: float | None = None,
    watcher: Watcher | None = None,
    allow: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Measure the experiments of a plan on devices that share them.

    Experiments that no finding names are all run. For a finding its ladder is climbed down: a lower experiment is run
    only where those above could not be measured.

    Args:
        plan: as `plan.make` gives it.
        devices: "cpu", or "cuda:0" and so on; one experiment at a time on each.
        budget: seconds for all; as it runs out pairs are measured for a shorter time, and in the end what is left is
            not run and what still runs is killed. Without one each is run, and what is timed once more, in further
            processes, takes a quarter of the time until then in all, or a minute.
        watcher: told of each start and result, from several threads.
        allow: modules that whoever runs the plan lets measured code use; None for all that the plan names.

    Returns:
        {"version", "environment": what was measured on, "plan": the plan without its code, "results": by the
        experiment's id {"status": "measured", ...} or {"status": "not run", "reason": ...}, "interrupted": whether a
        signal ended the run before its end, with what was measured until then}.
    """
    with tempfile.TemporaryDirectory(prefix="torchlint-") as folder:
        script = os.path.join(folder, "worker.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(bundle())
        bench = _Run(script, devices, Limits.of(plan["limits"]), budget, watcher or Watcher(), allow)
        with _until_signalled(bench.stop):  # which ends where nothing is left to be ended
            try:
                environment = bench.machine()
                experiments = {experiment["id"]: experiment for experiment in plan["experiments"]}
                ladders = [finding["ladder"] for finding in plan["findings"]]
                named = {identity for ladder in ladders for identity in ladder}
                free = [[identity] for identity in experiments if identity not in named]
                while True:
                    # Nothing is measured while inputs are looked for: that keeps the processor busy.
                    bench.find([*free, *ladders], experiments)
                    wave = dict.fromkeys(filter(None, (bench.next(ladder) for ladder in [*free, *ladders])))
                    if not wave:
                        break
                    bench.measure([experiments[identity] for identity in wave])
                if budget is None:
                    bench.budget = bench.passed() + max(MIN_REFINING_S, REFINING * bench.passed())
                for _ in range(min(bench.limits.processes, MOST_PROCESSES) - 1):
                    bench.measure_again(experiments)
            finally:
                bench.end()
    environment["seconds"] = round(bench.passed(), 1)
    slim = [{k: v for k, v in experiment.items() if k not in CODE} for experiment in plan["experiments"]]
    return {
        "version": plan["version"],
        "environment": environment,
        "plan": {**plan, "experiments": slim},
        "results": bench.results,
        "interrupted": bench.stopped == INTERRUPTED,
    }


@contextlib.contextmanager
def _until_signalled(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on the first Ctrl-C, or the first signal to end; the next does what it always did."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where there are no handlers
        return

    def signalled(*_: Any) -> None:
        stop()
        restore()

    before = {number: signal.signal(number, signalled) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    try:
        yield
    finally:
        restore()


class _Run:
    """The workers of a run, and what they answered."""

    def __init__(
        self,
        script: str,
        devices: list[str],
        limits: Limits,
        budget: float | None,
        watcher: Watcher,
        allow: Sequence[str] | None,
    ) -> None:
        self.devices = devices
        self.allow = allow
        self.limits = limits
        self.budget = budget
        self.watcher = watcher
        self.started = time.monotonic()
        shares = _shares(len(devices))
        self.nurseries = {device: Nursery(script, device, cores) for device, cores in zip(devices, shares)}  # noqa: B905
        self.results: dict[str, dict[str, Any]] = {}
        self.trials: dict[str, dict[str, Any]] = {}  # the inputs that were found, by experiment
        self.accepted: dict[str, dict[str, Any]] = {}  # the last of them, by the code as written
        self.rejected: dict[str, dict[str, Any]] = {}  # why code as written took none, whatever is flagged in it
        self.settled: dict[str, dict[str, Any]] = {}  # how to time experiments in further processes
        self.rounds: dict[str, list[Any]] = {}  # what was compared in each process that measured them
        self.taken: list[tuple[float, float]] = []  # when experiments began, and for how long their pairs were to run
        self.stopped = ""  # why nothing more is begun

    def end(self) -> None:
        for nursery in self.nurseries.values():
            nursery.end()

    def stop(self) -> None:
        """Begin nothing more, and give up what is being measured."""
        self.stopped = INTERRUPTED
        for nursery in self.nurseries.values():
            nursery.stopped = INTERRUPTED

    def machine(self) -> dict[str, Any]:
        """What is measured on, with its ceilings; where that fails, nothing is."""
        nursery = self.nurseries[self.devices[0]]
        probe = Worker(nursery, nursery.kind)
        try:
            about = probe.ask({"machine": True}, START_SECONDS, self.limits.memory_bytes)
        finally:
            probe.end()
        if about.pop("status") != "measured":
            self.stopped = self.stopped or f"the machine could not be measured: {about.get('reason')}"
            kind = self.devices[0].partition(":")[0]
            return {"device": kind, "name": "unknown", "torch": "unknown", "python": sys.version.split()[0]}
        return {**about, "devices": len(self.devices), "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}

    def next(self, ladder: list[str]) -> str | None:
        """The highest experiment of a ladder that may yet be measured; None where one was, or none is left."""
        if any(self.results.get(identity, {}).get("status") == "measured" for identity in ladder):
            return None
        return next((identity for identity in ladder if identity not in self.results), None)

    def lacks_inputs(self, experiment: dict[str, Any]) -> bool:
        return experiment.get("inputs") is None and experiment["id"] not in self.trials

    def find(self, ladders: list[list[str]], experiments: dict[str, dict[str, Any]]) -> None:
        """Look for the inputs of the highest experiment of each ladder that has some, on all cores.

        Where none are found, that is the experiment's result, and the next of its ladder is looked at. Experiments on
        the same code wait for each other: what one learns of it holds for all.
        """
        running: dict[Future[dict[str, Any]], dict[str, Any]] = {}
        with ThreadPoolExecutor(cores()) as pool:
            while True:
                busy = {_code_as_written(experiment): experiment["id"] for experiment in running.values()}
                for ladder in ladders:
                    while (identity := self.next(ladder)) is not None and self.lacks_inputs(experiments[identity]):
                        experiment = experiments[identity]
                        code = _code_as_written(experiment)
                        if code in busy:
                            break
                        if code not in self.rejected:
                            busy[code] = identity
                            running[pool.submit(self._found, experiment, self.accepted.get(code))] = experiment
                            break
                        self.settle(experiment, self.rejected[code])
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    experiment, answer = running.pop(future), future.result()
                    if answer["status"] == "measured":
                        self.trials[experiment["id"]] = self.accepted[_code_as_written(experiment)] = answer["trial"]
                        continue
                    if str(answer.get("where")).startswith("before:"):
                        self.rejected[_code_as_written(experiment)] = answer
                    self.settle(experiment, answer)

    def settle(self, experiment: dict[str, Any], answer: dict[str, Any]) -> None:
        """Take an answer for the experiment's result."""
        identity = experiment["id"]
        if answer["status"] == "measured":
            self.rounds[identity] = [answer.pop("ratios")]
            self.settled[identity] = answer.pop("settled", {})
        self.results[identity] = answer
        self.watcher.finished(experiment, answer)

    def join(self, identity: str, other: dict[str, Any]) -> None:
        """Add to a result what a further process measured: its rounds, and medians of the processes' times."""
        result = self.results[identity]
        processes = result.setdefault("processes", [_alone(result)])
        processes.append(_alone(other))
        self.rounds[identity].append(other["ratios"])
        result["ratio"] = interval(self.rounds[identity])
        result["rounds"] += other["rounds"]
        for side in ("before", "after"):
            result[side]["median_us"] = statistics.median(process[side] for process in processes)

    def _found(self, experiment: dict[str, Any], trial: dict[str, Any] | None) -> dict[str, Any]:
        if (why := self.hindrance(experiment)) is not None:
            return {"status": "not run", "reason": why}
        worker = Worker(self.nurseries[self.devices[0]], "cpu")
        try:
            request = {"experiment": {**experiment, "trial": trial}, "seconds": 0.0, "find": True}
            return worker.ask(request, min(FIND_SECONDS, self.limits.seconds), self.limits.memory_bytes)
        finally:
            worker.end()

    def hindrance(self, experiment: dict[str, Any]) -> str | None:
        """Why an experiment is not begun; None where nothing stands in its way."""
        asked = experiment.get("allow", ()) if self.allow is not None else ()
        more = next((module for module in asked if module not in (self.allow or ())), None)
        if more is not None:
            return f"refused: the plan lets its code use {more}, which was not allowed here"
        return self.stopped or (OUT_OF_TIME if self.remaining() <= 0 else None)

    def remaining(self) -> float:
        """Seconds of the budget that are left."""
        return math.inf if self.budget is None else self.budget - self.passed()

    def passed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    def measure(self, experiments: list[dict[str, Any]]) -> None:
        """Measure some experiments, shared by the devices; returns when all have a result."""
        todo = deque(experiments)
        lanes = [threading.Thread(target=self._lane, args=(device, todo), daemon=True) for device in self.devices]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()

    def measure_again(self, experiments: dict[str, dict[str, Any]]) -> None:
        """Time once more, in processes of their own, what the host bounds and is not known narrowly yet.

        How fast the host is differs between processes and from one minute to the next by more than the rounds of one
        tell; what the device takes does not. Short calls come first, of which most can be had in the time left.
        """
        again = [identity for identity, result in self.results.items() if _wants_another(result)]
        self.taken = []  # they take less time than the first processes, which looked at more
        self.measure([experiments[i] for i in sorted(again, key=lambda i: self.results[i]["before"]["median_us"])])

    def _lane(self, device: str, todo: deque[dict[str, Any]]) -> None:
        spare: deque[Worker] = deque()
        try:
            while True:
                try:
                    experiment = todo.popleft()
                except IndexError:
                    return
                known = self.results.get(experiment["id"])
                if known is None:
                    self.watcher.started(experiment)
                answer = self._one(experiment, device, len(todo), spare)
                if known is None:
                    self.settle(experiment, answer)
                elif answer["status"] == "measured":
                    self.join(experiment["id"], answer)
        finally:
            for worker in spare:
                worker.end()

    def _one(self, experiment: dict[str, Any], device: str, left: int, spare: deque[Worker]) -> dict[str, Any]:
        if (why := self.hindrance(experiment)) is not None:
            return {"status": "not run", "reason": why}
        settled = self.settled.get(experiment["id"])
        share = self.remaining() * len(self.devices) / (left + 1) * (KEPT_BACK if settled is None else 1.0)
        wanted = self.limits.pair_seconds * (1 if settled is None else AGAIN)
        seconds = max(0.2, min(wanted, share - self.beside()))
        if not spare:
            together = min(TOGETHER, left + 1) if device.startswith("cuda") else 1
            nursery = self.nurseries[device]
            spare.extend(Worker(nursery, nursery.kind) for _ in range(together))
            for worker in spare:
                worker.await_ready(self.limits.memory_bytes)
        worker = spare.popleft()
        begun = time.monotonic()
        self.taken.append((begun, seconds))
        try:
            compiles = experiment.get("compiled") or "torch.compile" in str(experiment.get("before"))
            limit = self.limits.seconds * (COMPILING if compiles else 1)
            left_s = self.remaining()
            known = {**experiment, "trial": self.trials.get(experiment["id"])}
            request = {"experiment": known, "seconds": seconds, "settled": settled}
            answer = worker.ask(request, min(limit, left_s), self.limits.memory_bytes)
            if answer["status"] != "measured" and left_s < limit and self.remaining() <= 0:
                answer = {"status": "not run", "reason": OUT_OF_TIME}
        finally:
            worker.end()
        return {**answer, "took_s": round(time.monotonic() - begun, 2)}

    def beside(self) -> float:
        """Seconds of an experiment apart from its pairs: starting, warming up, other passes; the mean so far."""
        if not self.taken:
            return BESIDE
        passed = (time.monotonic() - self.taken[0][0]) * len(self.devices)
        return max(0.0, (passed - sum(seconds for _, seconds in self.taken)) / len(self.taken))


def _wants_another(result: dict[str, Any]) -> bool:
    """Whether to time an experiment in a further process: the host bounds it, and its interval is wide, or is of few
    rounds."""
    if result["status"] != "measured" or (is_narrow(result["ratio"]) and result["rounds"] >= ENOUGH_ROUNDS):
        return False
    sides = (result["before"], result["after"])
    if any((side.get("first_us") or 0.0) > AGAIN_FIRST_US for side in sides):
        return False
    return any((side.get("busy_us") or 0.0) < BUSY * side["median_us"] for side in sides)


def _alone(result: dict[str, Any]) -> dict[str, Any]:
    """What one process says of an experiment."""
    return {"ratio": result["ratio"], **{side: result[side]["median_us"] for side in ("before", "after")}}


def _code_as_written(experiment: dict[str, Any]) -> str:
    """What decides which inputs the code as written accepts."""
    names = ("before", "entry", "arguments", "globals", "sizes", "widths", "dtype", "allow")
    return json.dumps([experiment.get(name) for name in names])


class _Lines(Watcher):
    """A line for each result."""

    def finished(self, experiment: dict[str, Any], result: dict[str, Any]) -> None:
        ratio = result.get("ratio")
        said = f"x{ratio['median']:.3g} [{ratio['low']:.3g}, {ratio['high']:.3g}]" if ratio else result.get("reason")
        label = printable(str(experiment.get("label", experiment["id"])))
        with contextlib.suppress(OSError):  # whoever read the lines may be gone; the results go to a file
            print(f"{label}: {printable(str(said))}", flush=True)


def main() -> int:
    """The command line of the one file."""
    parser = argparse.ArgumentParser(prog="worker.py", description="Measure the experiments of a torchlint plan.")
    parser.add_argument("plan", help="the plan that `torchlint verify --plan` wrote")
    parser.add_argument("--out", default="results.json", help="where the results go (default: results.json)")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--allow", action="append", default=[], metavar="MODULE", help="let code use this module")
    parser.add_argument("--budget", type=float, help="seconds for all experiments")
    parser.add_argument("--share", default="1/1", metavar="I/N", help="run only the I-th of N shares of the plan")
    options = parser.parse_args()
    try:
        with open(options.plan, encoding="utf-8") as file:
            plan = json.load(file)
        misfit = forms.misfit(plan, forms.PLAN) or forms.unknown(plan)
        plan = plan if misfit else share(plan, options.share)
    except (OSError, ValueError, RecursionError) as error:
        misfit = type(error).__name__
    if misfit:
        print(f"{options.plan}: not a plan ({misfit})", file=sys.stderr)
        return 2
    count = gpu_count() if options.device == "cuda" else 0
    if options.device == "cuda" and not count:
        print("no CUDA device here: measuring needs one (or --device cpu)", file=sys.stderr)
        return 2
    devices = [f"cuda:{index}" for index in range(count or 0)] or ["cpu"]
    answer = run(plan, devices, options.budget, _Lines(), options.allow)
    temporary = f"{options.out}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os.replace(temporary, options.out)
    return 130 if answer["interrupted"] else 0


def share(plan: dict[str, Any], which: str) -> dict[str, Any]:
    """The I-th of N shares of a plan, for "I/N"; findings stay whole, with all of their experiments.

    Raises:
        ValueError: `which` says no share.
    """
    index, count = (int(part) for part in which.split("/"))
    if not 1 <= index <= count:
        raise ValueError(f"there is no share {which}")
    findings = plan["findings"][index - 1 :: count]
    all_named = {identity for finding in plan["findings"] for identity in finding["ladder"]}
    named = {identity for finding in findings for identity in finding["ladder"]}
    free = [e["id"] for e in plan["experiments"] if e["id"] not in all_named][index - 1 :: count]
    kept = named.union(free)
    return {**plan, "findings": findings, "experiments": [e for e in plan["experiments"] if e["id"] in kept]}

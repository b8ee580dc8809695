"""Measures the two variants of one experiment.

Of a variant it takes: time, in interleaved pairs (A B B A), each repetition from the same inputs, weights, random state
and module globals, on processors that nobody else slows down (`cores.py`); then, in passes of their own, host waits,
kernels, memory, FLOPs and bytes, and a trace. Torch and the standard library alone, Python 3.9 or later: this travels
with the worker.
"""

from __future__ import annotations

import contextlib
import gc
import math
import multiprocessing
import re
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from torchlint.verify.agreement import same
from torchlint.verify.cores import Cores, count_threads
from torchlint.verify.failures import Failed, TooSlow, limited, reason, where
from torchlint.verify.figures import Round, Sample, calm_seconds, compared, interval, is_narrow, spread
from torchlint.verify.flags import Flags
from torchlint.verify.guard import MEASURED
from torchlint.verify.helpers import Recording, helpers
from torchlint.verify.hosting import on_host, one_thread, without_cuda
from torchlint.verify.passes import clocks, observe, wrong_reads
from torchlint.verify.search import MAX_STEMS, Outcome, search
from torchlint.verify.standins import NeedsStem, shown, tensors
from torchlint.verify.variants import Inputs, Variant
from torchlint.verify.watches import EarlyReadings, MethodsWatch

MAX_COPIES = 32  # fresh inputs prepared for one timed stretch of short calls
COPY_BYTES = 1 << 29  # and their size at most
STRETCH = 1e-3  # seconds that a timed stretch of short calls should last
LONGER = 1.5e-2  # and where they share their arguments, so that many cost nothing to prepare
MAX_SHARED = 1000  # calls of such a stretch at most
LONG_STRETCH = 0.1  # and at most, where calls are timed together because one follows the other in life
MAX_ROUNDS = 200
TRIAL_SECONDS = 6.0  # of the processor, for finding inputs that the code accepts
SALTS = 6  # sets of random inputs that a trial must stand
CALL_SECONDS = 1.0  # that one call may take; else it is measured at smaller sizes
LONG_SECONDS = 0.4  # with its inputs, above which smaller sizes are preferred, if accepted: rounds are of four calls


class Bench:
    """Measures the two variants of one experiment."""

    def __init__(self, torch: Any, experiment: dict[str, Any], device: Any, seconds: float, cores: Cores) -> None:
        self.torch = torch
        self.device = device
        self.cores = cores
        self.cuda = device.type == "cuda"
        self.seconds = seconds
        self.experiment = experiment
        self.compiles = experiment.get("criterion") == "compile"  # compiling is what is measured
        self.keep = "compile" in experiment.get("grants", ()) and not self.compiles
        self.recording = Recording()
        self.flags = Flags(torch)
        self.variants = self.both(device)
        self.inputs = Inputs(experiment, torch, device)
        self.sync = torch.cuda.synchronize if self.cuda else (lambda: None)
        self.clock = time.perf_counter
        self.early = EarlyReadings(torch) if experiment.get("criterion") == "clock" else None
        self.phases: dict[str, float] = {}
        self.shared = False  # whether the calls of a stretch share their arguments
        self.alone = False  # whether the code is known to start no threads and no processes
        self.threads = count_threads()
        loaders = torch.utils.data.dataloader
        ends = ("__init__", "_shutdown_workers")
        self.starts = MethodsWatch(loaders._MultiProcessingDataLoaderIter, ends, self.clock)
        self.fetches = MethodsWatch(loaders._BaseDataLoaderIter, ("__next__",), self.clock)
        self.startups: dict[str, list[float]] = {"before": [], "after": []}  # seconds of each call

    def both(self, device: Any) -> tuple[Variant, Variant]:
        names = helpers(self.torch, device, self.recording)
        entry, allow = self.experiment["entry"], self.experiment.get("allow", ())
        made = [Variant(label, self.experiment[label], entry, self.keep, names, allow) for label in ("before", "after")]
        return made[0], made[1]

    def phase(self, name: str, started: float) -> None:
        """Keep how long a part of the experiment took, in seconds."""
        self.phases[name] = round(self.phases.get(name, 0.0) + self.clock() - started, 2)

    def prepare(self, variant: Variant, copies: int = 1) -> tuple[Callable[..., Any], list[tuple[Any, ...]]]:
        """The variant's entry in a fresh module, and fresh arguments for `copies` calls, or the same for all."""
        self.flags.restore(placed=self.keep)
        self.check_left()
        if self.compiles:
            self.torch._dynamo.reset()
        module = variant.load(self.inputs.stand_ins)
        arguments = [self.inputs.fresh(module) for _ in range(1 if self.shared else copies)]
        self.recording.rewind()
        self.inputs.seed()
        return variant.function(module), arguments * copies if self.shared else arguments

    def check_left(self) -> None:
        """See that no process that an earlier call started goes on beside the next.

        Raises:
            Failed: one does, though nothing of the earlier call is left; a module that is kept may keep its loader.
        """
        if not self.keep and multiprocessing.active_children():
            gc.collect()
            if multiprocessing.active_children():
                raise Failed("it leaves processes running, which slow down what runs after it")

    def call(self, variant: Variant) -> tuple[Any, tuple[Any, ...]]:
        """One call; its result and what it left of its arguments."""
        entry, (arguments,) = self.prepare(variant)
        result = entry(*arguments)
        self.sync()
        return result, arguments

    def sample(self, variant: Variant, copies: int) -> Sample:
        """The time of one call: `copies` calls one after the other, drained at both ends.

        Where they share their arguments, one goes before them, untimed: in life those are not seen for the first time.
        Starting and ending the workers of loaders is kept apart: it comes once for a pass over data that is far longer
        in life.
        """
        entry, calls = self.prepare(variant, copies)
        pulse = self.cores.settle(self.alone)
        if self.shared:
            entry(*calls[0])
        self.sync()
        with self.starts:
            started = self.clock()
            for arguments in calls:
                entry(*arguments)
            self.sync()
            taken = self.clock() - started
        self.startups[variant.label].append(self.starts.seconds / copies)
        return Sample((taken - self.starts.seconds) / copies, max(pulse, self.cores.pulse()))

    def is_alone(self) -> bool:
        """Whether the code, which has run, started no threads and no processes: neither workers nor a compiler."""
        started = count_threads() > self.threads or any(any(times) for times in self.startups.values())
        return not (started or self.keep or self.compiles)

    def may_share(self) -> bool:
        """Whether calls one after the other may be given the same arguments: none changes the shape of anything."""
        if self.compiles or self.keep or self.experiment.get("criterion") in ("growth", "reads"):
            return False
        for variant in self.variants:
            if variant.replays:
                return False
            entry, (arguments,) = self.prepare(variant)
            seen = []
            for _ in range(3):
                try:
                    result = entry(*arguments)
                except Exception:
                    return False
                seen.append([(x.shape, x.dtype) for x in tensors(self.torch, [result, arguments])])
            if any(shapes != seen[0] for shapes in seen):
                return False
        return True

    def run(self) -> dict[str, Any]:
        begun = self.clock()
        if self.inputs.source is None:
            trial = self.experiment.get("trial")
            self.fit(self.find() if trial is None else trial)
        self.phase("fit", begun)
        first = {}
        results = {}
        for variant in self.variants:
            started = self.clock()
            results[variant.label] = self.call(variant)
            first[variant.label] = self.clock() - started
        equal, difference = self.compare(results)
        if equal is False and self.experiment.get("probe"):
            raise Failed(f"what it was to be measured against computes something else: {difference}")
        outcome: dict[str, Any] = {"equal": equal, "difference": difference, "inputs": self.shown_inputs()}
        results.clear()
        self.phase("first", begun)
        begun = self.clock()
        copies = self.choose_copies()
        self.alone = self.is_alone()
        outcome.update(self.pairs(copies))
        self.phase("pairs", begun)
        outcome.update(
            calls_per_sample=copies["before"],
            shared=self.shared,
            settled={"sizes": self.inputs.sizes, "copies": copies, "shared": self.shared, "alone": self.alone},
        )
        for label in ("before", "after"):
            outcome[label]["first_us"] = first[label] * 1e6
        if self.experiment.get("criterion") == "reads":
            outcome["wrong_reads"] = wrong_reads(self)
        if self.experiment.get("criterion") == "clock":
            outcome["clock"] = clocks(self)
            outcome["unready"] = self.early.count if self.early is not None else 0
        observe(self, outcome)
        outcome["phases_s"] = self.phases
        return outcome

    def again(self, settled: dict[str, Any]) -> dict[str, Any]:
        """The times and their ratio once more, with all that another process has settled.

        Raises:
            Failed: the code does not accept here what it accepted there.
        """
        if self.inputs.source is None:
            self.inputs.sizes = settled["sizes"]
            outcome = self.attempt(self.experiment["trial"])
            if outcome.error is not None:
                raise Failed(self.told(outcome.error))
        self.shared, self.alone = settled["shared"], settled["alone"]
        for variant in self.variants:
            self.call(variant)
        return self.pairs(settled["copies"])

    def pairs(self, copies: dict[str, int]) -> dict[str, Any]:
        """Times of both codes, and their ratio."""
        self.record(copies["after"])
        gc.collect()
        gc.freeze()
        gc.disable()
        rounds = self.measure(copies)
        self.cores.release()
        gc.enable()
        series = [calm_seconds([sample for round_ in rounds for sample in round_[index]]) for index in (0, 1)]
        ratios = [compared(round_) for round_ in rounds]
        return {
            "rounds": len(rounds),
            "ratios": ratios,
            "ratio": interval([ratios]),
            **{
                label: {**spread(times), "startup_us": statistics.median(self.startups[label]) * 1e6 or None}
                for label, times in zip(("before", "after"), series)  # noqa: B905 (Python 3.9)
            },
        }

    def find(self) -> dict[str, Any]:
        """What the plan leaves open, decided on the host at small sizes: a trial that the code accepts.

        Raises:
            Failed: it accepted none; the text says what came of the best.
        """
        self.inputs.sizes, self.inputs.device = self.experiment["sizes"][-1], self.torch.device("cpu")
        device_variants, self.variants = self.variants, self.both(self.inputs.device)
        begun, used = self.clock(), time.process_time()
        start = self.experiment.get("trial") or {"dtype": self.experiment.get("dtype") or "float32"}

        def time_left() -> bool:
            """Of the processor, so that a busy machine finds the same; by the clock no more than twice as much."""
            return time.process_time() - used < TRIAL_SECONDS and self.clock() - begun < 2 * TRIAL_SECONDS

        def attempt(trial: dict[str, Any]) -> Outcome:
            try:
                with limited(2 * TRIAL_SECONDS):
                    outcome = self.attempt(trial)
                    for self.inputs.salt in range(1, SALTS) if outcome.error is None else ():
                        again = self.attempt(trial)  # what is accepted must not hang on the numbers that were drawn
                        outcome = outcome if again.error is None else again
                    return outcome
            except TooSlow:
                return Outcome(Failed("time limit: one call takes too long, even at small sizes"))
            finally:
                self.inputs.salt = 0

        with on_host(self.torch), one_thread(self.torch), without_cuda(self.torch):
            measured, self.flags = self.flags, Flags(self.torch)
            trial, outcome = search(attempt, start, time_left)
            self.flags = measured
        self.inputs.device, self.variants = self.device, device_variants
        if outcome.error is not None:
            raise Failed(self.told(outcome.error)) from outcome.error
        return trial

    def fit(self, trial: dict[str, Any]) -> None:
        """Choose the sizes, on the device: the largest at which a call takes no longer than there is room for.

        Raises:
            Failed: the code accepted none; the text says what came of the smallest.
        """
        sizes = self.experiment["sizes"]
        outcome = Outcome(Failed("there are no sizes"))
        accepted: dict[str, int] | None = None
        for index, chosen in enumerate(sizes):
            self.inputs.sizes = chosen
            try:
                with limited(CALL_SECONDS if index + 1 < len(sizes) else 8 * CALL_SECONDS):
                    outcome = self.attempt(trial)
            except TooSlow:
                outcome = Outcome(Failed("time limit: one call takes too long, even at small sizes"))
            if outcome.error is None:
                accepted = chosen
                if index + 1 == len(sizes) or not self.is_long():
                    return
            elif accepted is not None:
                break
            gc.collect()
        if accepted is None:
            assert outcome.error is not None
            raise Failed(self.told(outcome.error))
        self.inputs.sizes = accepted
        self.attempt(trial)

    def is_long(self) -> bool:
        """Whether a call of the code as written, which has run before, leaves room for few rounds, inputs and all."""
        started = self.clock()
        with self.eager():  # else compiling would count
            self.call(self.variants[0])
        return self.clock() - started > LONG_SECONDS

    def told(self, error: BaseException) -> str:
        """For people: what was raised, and in which line of the file, or of its repaired form."""
        label, _, row = where(error).partition(":")
        place = f" in line {row}{' of the repaired code' if label == 'after' else ''}" if row else ""
        return f"{reason(error)}{place}"

    def attempt(self, trial: dict[str, Any]) -> Outcome:
        """Run both variants with a trial: how far they came, and whether the first reached the flagged line."""
        self.inputs.trial, self.inputs.stems = trial, {}
        for _ in range(MAX_STEMS):
            self.inputs.asked = {}
            seen: set[int] = set()
            try:
                with self.eager(), self.watched(seen):
                    self.call(self.variants[0])
                first, last = self.experiment.get("rows") or (0, 0)
                if last and not seen.intersection(range(first, last + 1)):
                    error = Failed("the flagged line was not reached")
                    return Outcome(error, len(seen), frozenset(), self.inputs.asked, ended=True)
                with self.eager():
                    self.record(1)
                    self.call(self.variants[1])
                return Outcome(None, len(seen), frozenset(), self.inputs.asked)
            except NeedsStem as new:
                self.inputs.stems.setdefault(new.choice, []).append(new.stem)
            except PermissionError:
                raise
            except Exception as error:
                self.inputs.learn_widths(error)
                return Outcome(error, len(seen), self.names_near(error), self.inputs.asked)
        return Outcome(Failed("a stand-in for a network is called with ever new kinds of input"), 0, frozenset(), {})

    def names_near(self, error: BaseException) -> frozenset[str]:
        """The names that stand in the lines of the measured code that led to an error."""
        lines = self.experiment["before"].split("\n")
        rows = [f.lineno or 1 for f in traceback.extract_tb(error.__traceback__) if f.filename in MEASURED]
        return frozenset(re.findall(r"[A-Za-z_]\w*", " ".join(lines[row - 1] for row in rows if row <= len(lines))))

    @contextlib.contextmanager
    def eager(self) -> Iterator[None]:
        """While inputs are looked for, compiled code runs as it is written."""
        stance = getattr(self.torch.compiler, "set_stance", None)
        compiled = "compile" in self.experiment.get("grants", ())
        self.inputs.eager = True
        try:
            with stance("force_eager") if compiled and stance is not None else contextlib.nullcontext():
                yield
        finally:
            self.inputs.eager = False

    def record(self, copies: int) -> None:
        """Record what the repaired code replays, in the order in which the calls of a sample read it."""
        variant = self.variants[1]
        if not variant.replays:
            return
        entry, calls = self.prepare(variant, copies)
        self.recording.start()
        for arguments in calls:
            entry(*arguments)
        self.sync()
        self.recording.rewind()

    @contextlib.contextmanager
    def watched(self, seen: set[int]) -> Iterator[None]:
        """Collect the lines of the code as written that are run."""

        def trace(frame: Any, event: str, argument: Any) -> Any:
            if frame.f_code.co_filename != "<before>":
                return None
            if event == "line":
                seen.add(frame.f_lineno)
            return trace

        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(None)

    def shown_inputs(self) -> list[dict[str, str]] | None:
        """The arguments and where each comes from; None where the plan says it already."""
        if self.inputs.source is not None:
            return None
        made = self.inputs.fresh(self.variants[0].load(self.inputs.stand_ins))
        return [
            {"name": d["name"], "shown": shown(self.torch, value), "origin": d.get("origin", "")}
            for d, value in zip(self.experiment["arguments"], made)  # noqa: B905 (Python 3.9)
        ]

    def compare(self, results: dict[str, Any]) -> tuple[bool | None, str]:
        """Whether both variants computed the same: results and, above the template rung, what they left behind."""
        (one, left), (other, right) = results["before"], results["after"]
        equal = same(self.torch, one, other)
        if equal[0] is False or self.experiment["rung"] == "template":
            return equal
        before, after = tensors(self.torch, left), tensors(self.torch, right)
        state = same(self.torch, before, after)
        if state[0] is False and len(before) == len(after):
            return False, f"what is left in the arguments: {state[1]}"
        return equal

    def choose_copies(self) -> dict[str, int]:
        """How many calls of each variant make a timed stretch: enough for the clock, few enough for the memory."""
        taken = {variant.label: self.sample(variant, 1).seconds for variant in self.variants}
        for variant in self.variants if min(taken.values()) < 0.05 else ():
            taken[variant.label] = min(taken[variant.label], self.sample(variant, 1).seconds)
        longest, shortest = max(taken.values()), min(taken.values())
        together = min(int(self.experiment.get("calls", 1)), max(1, int(LONG_STRETCH / longest)))
        wanted = max(math.ceil(STRETCH / shortest), together)
        if self.keep:
            return dict.fromkeys(taken, min(wanted, 4))
        length = min(LONGER, self.seconds / 100)
        self.shared = shortest < length and self.may_share()
        if self.shared:
            copies = dict.fromkeys(taken, 1)
            for _ in range(2):  # a call among many takes less time than one alone
                copies = {k: max(together, min(MAX_SHARED, math.ceil(length / once))) for k, once in taken.items()}
                taken = {v.label: self.sample(v, copies[v.label]).seconds for v in self.variants}
            return copies
        if wanted == 1:
            return dict.fromkeys(taken, 1)
        size = self.inputs.size(self.inputs.fresh(self.variants[0].load(self.inputs.stand_ins)))
        return dict.fromkeys(taken, max(1, min(MAX_COPIES, wanted, COPY_BYTES // size)))

    def measure(self, copies: dict[str, int]) -> list[Round]:
        """Rounds of A B B A, after warm-up, until their ratio is narrow or time is up."""
        a, b = self.variants
        end = self.clock() + self.seconds
        warm_until = self.clock() + self.seconds / 4
        history: dict[str, list[float]] = {"before": [], "after": []}
        for turn in range(20):
            for variant in (a, b):
                history[variant.label].append(self.sample(variant, copies[variant.label]).seconds)
            steady = all(max(last) <= 1.1 * min(last) for last in (series[-3:] for series in history.values()))
            if (turn >= 2 and steady) or self.clock() > warm_until:
                break
        rounds: list[Round] = []
        check = 5
        for count in range(1, MAX_ROUNDS + 1):
            first, second, third, fourth = (self.sample(v, copies[v.label]) for v in (a, b, b, a))
            rounds.append(((first, fourth), (second, third)))
            if self.clock() > end and count >= (2 if self.compiles else 3):
                break
            if count >= check:
                check = math.ceil(count * 1.4)
                if is_narrow(interval([[compared(round_) for round_ in rounds]])):
                    break
            gc.collect(0)
        return rounds

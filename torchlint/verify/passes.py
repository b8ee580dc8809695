"""Passes of their own over the two variants of an experiment, for what they do besides taking time.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchlint.verify.agreement import same
from torchlint.verify.failures import describe
from torchlint.verify.figures import Sample, calm_seconds, slope, thin
from torchlint.verify.standins import tensors
from torchlint.verify.traces import read_trace
from torchlint.verify.variants import Variant
from torchlint.verify.watches import ClockWatch, HostMeter, WaitWatch, steps, traffic_meter

if TYPE_CHECKING:
    from torchlint.verify.bench import Bench

LONG_CALL = 0.25  # seconds of a call above which passes that slow it down many times are left out
MAX_MARKS = 400  # of a memory curve


def observe(bench: Bench, outcome: dict[str, Any]) -> None:
    """Add what a call of each variant does, besides how long it takes. What cannot be taken of it is None.

    The profiler comes last: any use of it, even for the host alone, has it listen to the device, and that slows
    each launch for as long as the process lives.
    """
    for take in (memory, waits, work, trace):
        for variant in bench.variants:
            seen, started = outcome[variant.label], bench.clock()
            try:
                seen.update(take(bench, variant, seen["median_us"] * 1e-6))
            except Exception as error:
                seen.setdefault("missing", []).append(f"{take.__name__}: {describe(error)}")
            bench.phase(take.__name__, started)


def memory(bench: Bench, variant: Variant, seconds: float) -> dict[str, Any]:
    """Peak bytes above what was there before the call, and growth per step after the first steps."""
    torch = bench.torch
    entry, (arguments,) = bench.prepare(variant)
    gc.collect()
    bench.sync()
    if bench.cuda:
        torch.cuda.reset_peak_memory_stats()
        base = torch.cuda.memory_allocated()
        current: Callable[[], int] = torch.cuda.memory_allocated
        meter: Any = contextlib.nullcontext()
    else:
        meter = HostMeter(torch)
        base, current = 0, lambda: meter.live
    marks: list[int] = []
    with meter, steps(torch, lambda: marks.append(current() - base)):
        result = entry(*arguments)
        bench.sync()
        peak = torch.cuda.max_memory_allocated() - base if bench.cuda else meter.peak
        kept = current() - base
    del result
    return {
        "peak_bytes": max(0, peak),
        "kept_bytes": kept,
        "growth_bytes_per_step": slope(marks),
        "memory_curve": thin(marks, MAX_MARKS),
    }


def waits(bench: Bench, variant: Variant, seconds: float) -> dict[str, Any]:
    """How often and how long the host waited for the device, with the lines that did."""
    if not bench.cuda:
        return {"waits": None, "wait_us": None}
    entry, (arguments,) = bench.prepare(variant)
    bench.sync()
    watch = WaitWatch(bench.torch, bench.clock, timed=not bench.keep)
    with watch:
        entry(*arguments)
    bench.sync()
    if bench.keep:
        return {"waits": watch.count, "wait_us": None}
    return {"waits": watch.count, "wait_us": watch.seconds * 1e6, "wait_places": watch.places()}


def work(bench: Bench, variant: Variant, seconds: float) -> dict[str, Any]:
    """FLOPs, bytes that the operators read and wrote, operators, and time spent waiting for batches."""
    if bench.keep or seconds > LONG_CALL:
        return {}  # a mode would make the compiled code run uncompiled
    from torch.utils.flop_counter import FlopCounterMode

    entry, (arguments,) = bench.prepare(variant)
    counter = FlopCounterMode(display=False)
    meter = traffic_meter(bench.torch)
    with bench.fetches, counter, meter:
        entry(*arguments)
    bench.sync()
    return {
        "flops": counter.get_total_flops(),
        "bytes": meter.bytes,
        "operators": meter.count,
        "fetch_us": bench.fetches.seconds * 1e6,
    }


def trace(bench: Bench, variant: Variant, seconds: float) -> dict[str, Any]:
    """Kernels, time the device was busy, and the two timelines of one call."""
    from torch.profiler import ProfilerActivity, profile

    if seconds > LONG_CALL:
        return {}
    entry, (arguments,) = bench.prepare(variant)
    bench.sync()
    taken = profile(activities=[ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if bench.cuda else []))
    guard = bench.experiment["guard"]
    with guard.open():  # it loads libraries
        taken.start()
    try:
        with bench.torch.profiler.record_function("torchlint-call"):
            entry(*arguments)
            bench.sync()
    finally:
        with guard.open():
            taken.stop()
    with guard.open():
        path = os.path.join(os.getcwd(), "trace.json")
        taken.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        os.remove(path)
    return read_trace(events, bench.cuda)


def wrong_reads(bench: Bench) -> dict[str, int]:
    """How many of ten calls of each variant gave another result than the repaired code does when drained.

    Before each, the same is called with other inputs, so that memory read too early holds other data.
    """
    truth, _ = bench.call(bench.variants[1])
    wrong = {}
    for variant in bench.variants:
        wrong[variant.label] = 0
        for _ in range(10):
            entry, (arguments,) = bench.prepare(variant)
            with bench.torch.no_grad():
                for tensor in tensors(bench.torch, arguments):
                    if tensor.is_floating_point():
                        tensor.neg_()
            entry(*arguments)
            bench.sync()
            wrong[variant.label] += same(bench.torch, truth, bench.call(variant)[0])[0] is False
    return wrong


def clocks(bench: Bench) -> dict[str, Any]:
    """Seconds that the flagged reading of a clock says have passed, in the code as written and as repaired.

    Of several readings, as in a loop, the median, and that of nine calls. Empty where nothing of the kind is read;
    "apart" says whether no call of the one said what a call of the other did.
    """
    reported: dict[str, list[Sample]] = {"before": [], "after": []}
    flagged: list[int] = []
    for variant in bench.variants:
        for _ in range(9):
            watch = ClockWatch(bench.torch)
            with watch:
                entry, (arguments,) = bench.prepare(variant)
                if bench.shared:
                    entry(*arguments)
                    bench.sync()
                watch.spans.clear()
                pulse = bench.cores.settle(bench.alone)
                entry(*arguments)
                bench.sync()
                pulse = max(pulse, bench.cores.pulse())
            if variant is bench.variants[0]:
                flagged = watch.nearest((bench.experiment.get("rows") or (0, 0))[1])
            # The repair adds a wait: the readings are as many, in rows of their own.
            with contextlib.suppress(IndexError):
                read = statistics.median(watch.spans[i][1] for i in flagged)
                reported[variant.label].append(Sample(read, pulse))
    bench.cores.release()
    before, after = (calm_seconds(samples) for samples in reported.values())
    if not before or not after:
        return {}
    return {
        "before": statistics.median(before),
        "after": statistics.median(after),
        "apart": max(before) < min(after) or max(after) < min(before),
    }

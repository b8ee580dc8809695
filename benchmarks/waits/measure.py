"""Measure which expressions make the host wait for a CUDA device.

A kernel of known length is put on the stream, and the host's clock is read around the expression: an expression that
returns while the kernel still runs does not wait. Beside it stands how many warnings
`torch.cuda.set_sync_debug_mode("warn")` gives for the same expression.

    python -m benchmarks.waits.measure --output benchmarks/waits/h200_torch211.json

needs a CUDA device, torch and the standard library; a few expressions also use NumPy. `--device cpu` runs every
expression without a device and without a verdict: it shows that they run.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from types import CodeType
from typing import Any

import torch

from benchmarks.waits.rows import Row, all_rows

SLEEP_MS = 20.0  # the kernel in front of the expression; longer where the expression itself takes long
WARM_UPS = 3  # loads kernels, creates handles, fills the allocator's cache: none of it is a wait of the steady state
REPEATS = 3  # a wait is twenty milliseconds or none: each reading decides
METHOD = (
    f"Per repetition: run setup, torch.cuda.synchronize(), put a torch.cuda._sleep kernel of about {SLEEP_MS:.0f} ms "
    "(at least four times idle_us) on the current stream, read time.perf_counter around expr. wait_ms: median of "
    f"{REPEATS} such readings, less idle_us; blocks: wait_ms is more than half of the kernel's own time, taken with "
    "events. idle_us: the same with no kernel in front. debug_mode_warnings: warnings of one run under "
    f"torch.cuda.set_sync_debug_mode('warn'). {WARM_UPS} runs before each row are thrown away. A row whose repetitions "
    "disagree has steady = false; one that cannot run has error instead of numbers."
)


class Device:
    """What measuring needs from a device: draining it, and keeping it busy for a known time."""

    def __init__(self, name: str) -> None:
        self.cuda = name == "cuda"
        self._cycles_per_ms = self._calibrate() if self.cuda else 0.0

    def drain(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()

    def sleep(self, milliseconds: float) -> None:
        torch.cuda._sleep(int(milliseconds * self._cycles_per_ms))

    def _calibrate(self) -> float:
        cycles = 20_000_000
        readings = []
        for _ in range(5):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            torch.cuda._sleep(cycles)
            end.record()
            end.synchronize()
            readings.append(cycles / begin.elapsed_time(end))
        return statistics.median(readings)


def fresh(setup: CodeType, device: Device) -> dict[str, Any]:
    """A namespace in which `setup` has run, with nothing left to do on the device."""
    torch.manual_seed(0)
    namespace: dict[str, Any] = {}
    exec(setup, namespace)
    device.drain()
    return namespace


def seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def idle_seconds(setup: CodeType, expr: CodeType, device: Device) -> float:
    namespace = fresh(setup, device)
    elapsed = seconds(lambda: exec(expr, namespace))
    device.drain()
    return elapsed


def busy_ms(setup: CodeType, expr: CodeType, device: Device, sleep_ms: float) -> tuple[float, float]:
    """The host's time around the expression behind a busy device, and how long the device was kept busy."""
    namespace = fresh(setup, device)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    device.sleep(sleep_ms)
    end.record()
    elapsed = seconds(lambda: exec(expr, namespace))
    device.drain()
    return elapsed * 1e3, begin.elapsed_time(end)


def debug_mode_warnings(setup: CodeType, expr: CodeType, device: Device) -> int:
    namespace = fresh(setup, device)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            exec(expr, namespace)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing CUDA operation" in str(one.message) for one in caught)


def measure(row: Row, device: Device) -> dict[str, Any]:
    """The result of one row, without its texts."""
    setup = compile(_for_device(row.setup, device), "<setup>", "exec")
    expr = compile(_for_device(row.expr, device), "<expr>", "exec")
    for _ in range(WARM_UPS):
        idle_seconds(setup, expr, device)
    idle = statistics.median(idle_seconds(setup, expr, device) for _ in range(REPEATS))
    result: dict[str, Any] = {"blocks": None, "wait_ms": None, "idle_us": round(idle * 1e6, 1)}
    if not device.cuda:
        return result
    sleep_ms = max(SLEEP_MS, 4e3 * idle)
    busy = [busy_ms(setup, expr, device, sleep_ms) for _ in range(REPEATS)]
    wait_ms = max(0.0, statistics.median(elapsed for elapsed, _ in busy) - idle * 1e3)
    verdicts = [elapsed - idle * 1e3 > asleep / 2 for elapsed, asleep in busy]
    result["blocks"] = statistics.median_low(verdicts)
    result["wait_ms"] = round(wait_ms, 3)
    result["debug_mode_warnings"] = debug_mode_warnings(setup, expr, device)
    if len(set(verdicts)) > 1:
        result["steady"] = False
    return result


def _for_device(code: str, device: Device) -> str:
    if device.cuda:
        return code
    if any(word in code for word in ("torch.cuda", "pin_memory", "capturable=True")):
        raise RuntimeError("needs CUDA")
    return code.replace('"cuda"', '"cpu"').replace(".cuda(non_blocking=True)", ".cpu()").replace(".cuda()", ".cpu()")


def work(rows: list[Row], device_name: str) -> None:
    """Measure the rows, one line of JSON each; stop where the device can no longer be used."""
    warnings.simplefilter("ignore")
    device = Device(device_name)
    gc.disable()  # a collection inside a reading would look like a cost of the expression
    gc.freeze()  # and those between rows need not look at torch itself
    for row in rows:
        try:
            result = measure(row, device)
        except Exception as error:
            message = (str(error).splitlines() or [""])[0][:200]
            result = {"error": f"{type(error).__name__}: {message}"}
        print(json.dumps(result), flush=True)
        gc.collect()
        device.drain()


def measure_all(rows: list[Row], device_name: str) -> list[dict[str, Any]]:
    """The rows with their results. An expression that takes its process down costs only its own row."""
    results: list[dict[str, Any]] = []
    while len(results) < len(rows):
        arguments = [sys.executable, "-m", "benchmarks.waits.measure", "--device", device_name]
        arguments += ["--worker-from", str(len(results))]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=os.environ) as worker:
            assert worker.stdout is not None
            begun = len(results)
            for line in worker.stdout:
                results.append(json.loads(line))
        if worker.returncode and len(results) == begun:
            results.append({"error": f"the process ended with status {worker.returncode}"})
    return [{"expr": row.expr, "setup": row.setup, **result} for row, result in zip(rows, results, strict=True)]


def environment(device_name: str) -> dict[str, str]:
    gpu, driver = "none", "none"
    if device_name == "cuda":
        gpu = torch.cuda.get_device_name()
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    today = date.today().isoformat()
    return {"gpu": gpu, "driver": driver, "torch": torch.__version__, "date": today, "method": METHOD}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--output", type=Path, help="the file to write; standard output if left out")
    parser.add_argument("--worker-from", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    rows = all_rows()
    if options.worker_from is not None:
        work(rows[options.worker_from :], options.device)
        return
    results = measure_all(rows, options.device)
    report = {**environment(options.device), "rows": results}
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    if options.output is None:
        sys.stdout.write(text)
        return
    unfinished = options.output.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(options.output)
    summarise(results, rows)


def summarise(results: list[dict[str, Any]], rows: list[Row]) -> None:
    """Print what a person should look at: failures, unsteady rows, and where the debug mode says otherwise."""
    for row, result in zip(rows, results, strict=True):
        place = f"{row.group}: {row.expr}"
        if "error" in result:
            if not row.raises:
                print(f"failed      {place}: {result['error']}")
        elif row.raises:
            print(f"not refused {place}")
        elif not result.get("steady", True):
            print(f"unsteady    {place}: {result['wait_ms']} ms")
        elif result["blocks"] is not None and result["blocks"] != bool(result["debug_mode_warnings"]):
            print(f"debug mode  {place}: {result['wait_ms']} ms, {result['debug_mode_warnings']} warnings")
    print(len(rows), "rows,", sum(bool(result.get("blocks")) for result in results), "wait")


if __name__ == "__main__":
    main()

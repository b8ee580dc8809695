"""How evenly a machine's processors run, and what that does to times of host-bound code.

    python benchmarks/verify/processors.py --out processors.json

A fixed loop of Python is timed on one processor after the other, for eight seconds. Then four pairs of small codes that
the host bounds are timed (A B B A, 6 ms at a stretch) on processors chosen at random, with backward on the last one and
the loop before and after each: 24 seconds. Written are, for each processor, how fast it is at best and how often it is
slower than CALM times that; how long it stays so; how the speeds of two processors hang together; and for each pair how
much the times of one code vary, over all samples and over those before and after which the loop was fast. Needs Linux,
torch and a CUDA device.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from torchlint.verify.cores import CALM, Cores, threads

STRETCH = 0.006  # seconds
pulse = Cores().pulse  # the fixed loop of a run


def sweeps(cores: list[int], seconds: float) -> list[list[float]]:
    """The moment, and the loop's microseconds on each processor in turn, until time is up."""
    rows = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        row = [time.perf_counter()]
        for core in cores:
            os.sched_setaffinity(0, {core})
            row.append(pulse() * 1e6)
        rows.append(row)
    os.sched_setaffinity(0, set(cores))
    return rows


def pairs() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Codes that the host bounds."""
    import torch
    from torch import nn

    x = torch.randn(64, 64, device="cuda")
    many = [torch.randn(64, device="cuda") for _ in range(40)]
    model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(6))).cuda()
    batch = torch.randn(32, 64, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def launches() -> Any:
        return (x * 2 + 1).relu().sum()

    def fewer_launches() -> Any:
        return (x * 2).relu().sum()

    def loop() -> None:
        for tensor in many:
            tensor.mul_(1.0001)

    def foreach() -> None:
        torch._foreach_mul_(many, 1.0001)

    def reads() -> float:
        return sum((x * 2).sum().item() for _ in range(4))

    def one_read() -> float:
        total = torch.zeros((), device="cuda")
        for _ in range(4):
            total += (x * 2).sum()
        return total.item()

    def train(read: bool) -> None:
        for _ in range(4):
            optimizer.zero_grad()
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            if read:
                loss.item()  # torchlint: ignore[TL101] the cost of this is what is measured

    return {
        "launches": (launches, fewer_launches),
        "loop": (loop, foreach),
        "reads": (reads, one_read),
        "training with backward": (lambda: train(True), lambda: train(False)),
    }


def samples(cores: list[int], seconds: float) -> list[list[Any]]:
    """Rounds of A B B A: the pair, the processor, the loop's microseconds around samples, the samples' microseconds."""
    import torch

    def timed(code: Callable[[], Any], times: int) -> float:
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(times):
            code()
        torch.cuda.synchronize()
        return (time.perf_counter() - started) / times

    made = pairs()
    for codes in made.values():
        for code in codes:
            timed(code, 20)
    for thread in threads()[0]:
        os.sched_setaffinity(thread, {cores[-1]})
    calls = {name: max(1, int(STRETCH / timed(codes[0], 10))) for name, codes in made.items()}
    rounds = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        core = random.choice(cores[:-1])
        os.sched_setaffinity(0, {core})
        for name, (a, b) in made.items():
            timed(a, 2)
            pulses, times = [pulse() * 1e6], []
            for code in (a, b, b, a):
                times.append(timed(code, calls[name]) * 1e6)
                pulses.append(pulse() * 1e6)
            rounds.append([name, core, pulses, times])
    return rounds


def varies(times: list[float]) -> dict[str, float]:
    """How far the middle half of the times spreads, relative to their median."""
    low, middle, high = statistics.quantiles(times, n=4)
    return {"samples": len(times), "median_us": round(middle, 2), "spread": round((high - low) / middle, 3)}


def summary(cores: list[int], rows: list[list[float]], rounds: list[list[Any]]) -> dict[str, Any]:
    """What is written, of the sweeps and the rounds."""
    series = [[row[1 + index] for row in rows] for index in range(len(cores))]
    best = min(map(min, series))
    slow = [[value > CALM * best for value in one] for one in series]
    lasted = []
    for one in slow:
        changes = [rows[i][0] for i in range(1, len(rows)) if one[i] != one[i - 1]]
        lasted += [later - earlier for earlier, later in itertools.pairwise(changes)]
    together = [statistics.correlation(series[0], other) for other in series[1:]]
    about = {}
    for name in dict.fromkeys(one[0] for one in rounds):
        own = [one for one in rounds if one[0] == name]
        fast = CALM * min(min(one[2]) for one in own)
        every = [one[3][i] for one in own for i in (0, 3)]
        calm = [one[3][i] for one in own for i in (0, 3) if max(one[2][i], one[2][i + 1]) <= fast]
        about[name] = {"all": varies(every), "calm": varies(calm)}
    return {
        "sweeps": len(rows),
        "fastest_us": round(best, 2),
        "median_us": [round(statistics.median(one), 2) for one in series],
        "share_slow": [round(statistics.mean(one), 3) for one in slow],
        "share_of_sweeps_with_a_calm_one": round(
            statistics.mean(not all(one[i] for one in slow) for i in range(len(rows))), 3
        ),
        "milliseconds_in_a_state": {
            "median": round(statistics.median(lasted) * 1e3, 1),
            "90 %": round(statistics.quantiles(lasted, n=10)[-1] * 1e3, 1),
        },
        "correlation_with_first": [round(value, 2) for value in together],
        "pairs": about,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="where the summary goes (JSON)")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    rows = sweeps(cores, 8.0)
    rounds = samples(cores, 24.0)
    import torch

    machine = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "python": sys.version.split()[0],
               "processors": len(cores), "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}  # fmt: skip
    made = {"machine": machine, **summary(cores, rows, rounds)}
    options.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

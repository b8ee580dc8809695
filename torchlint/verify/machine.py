# torchlint: file-ignore[TL503, TL7] it measures: reading results, waiting, timing and tidying are its work
"""What is measured on, and its ceilings.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from typing import Any

from torchlint.verify.standins import printable


def machine(torch: Any, device: Any) -> dict[str, Any]:
    """What was measured on: hardware, versions, and the ceilings that say which bottleneck a call is in.

    Bandwidth counts bytes read and written by a large copy; matmul rates are those of a large square product of random
    numbers; `launch_us` is the host's time for one small operator, `wait_us` that of reading one ready number.
    """
    cuda = device.type == "cuda"
    sync = torch.cuda.synchronize if cuda else (lambda: None)
    about: dict[str, Any] = {
        "device": device.type,
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda,
        "python": sys.version.split()[0],
        "threads": torch.get_num_threads(),
        "name": torch.cuda.get_device_name(device) if cuda else cpu_name(),
        "memory_bytes": torch.cuda.get_device_properties(device).total_memory if cuda else None,
        "driver": driver_version() if cuda else None,
        "capability": ".".join(map(str, torch.cuda.get_device_capability(device))) if cuda else None,
    }

    def best(work: Callable[[], Any], repeat: int = 5) -> float:
        work()
        sync()
        taken = []
        for _ in range(repeat):
            started = time.perf_counter()
            work()
            sync()
            taken.append(time.perf_counter() - started)
        return min(taken)

    block = torch.ones((1 << 30 if cuda else 1 << 26) // 4, device=device)
    target = torch.empty_like(block)
    about["bandwidth"] = 2 * block.numel() * 4 / best(lambda: target.copy_(block))
    width = 8192 if cuda else 512
    rates = {}
    for name in ("float32", "bfloat16", "float16") if cuda else ("float32",):
        a = torch.randn(width, width, device=device, dtype=getattr(torch, name))
        rates[name] = 2 * width**3 / best(lambda a=a: a @ a)  # type: ignore[misc]
        del a
    about["matmul_flops"] = rates
    small = torch.zeros(1, device=device)

    def launches() -> None:
        for _ in range(1000):
            small.add_(1.0)

    launches()
    sync()
    started = time.perf_counter()
    launches()
    about["launch_us"] = (time.perf_counter() - started) * 1e3
    sync()
    about["wait_us"] = best(small.item, 20) * 1e6
    if cuda:
        host = torch.empty(1 << 28, dtype=torch.uint8)
        about["pageable_copy"] = host.numel() / best(lambda: block.view(torch.uint8)[: host.numel()].copy_(host), 3)
        pinned = torch.empty(1 << 28, dtype=torch.uint8, pin_memory=True)
        about["pinned_copy"] = pinned.numel() / best(lambda: block.view(torch.uint8)[: pinned.numel()].copy_(pinned), 3)
    return about


def cpu_name() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return printable(line.split(":", 1)[1].strip(), 100)
    return "CPU"


def driver_version() -> str | None:
    with contextlib.suppress(OSError), open("/proc/driver/nvidia/version", encoding="utf-8", errors="replace") as file:
        words = file.readline().split()
        return next((word for word in words if word.count(".") >= 1 and word[0].isdigit()), None)
    return None

"""What torch's profiler wrote, read: kernels, time the device was busy, the two timelines.

The standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import math
from typing import Any

from torchlint.verify.standins import printable

MAX_EVENTS = 400  # of a trace, per lane
_WAITING = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy")


def read_trace(events: list[dict[str, Any]], cuda: bool) -> dict[str, Any]:
    """Kernels, busy time and timelines from a Chrome trace.

    A timeline is a list of [lane, name, start, duration] in microseconds from the call's start. Lanes: "host" (what
    torch does there), "wait" (the host waits for the device), "device" (kernels) and "copy".
    """
    timed = [e for e in events if e.get("ph") == "X" and "dur" in e]
    frame = next((e for e in timed if e.get("name") == "torchlint-call" and e.get("cat") == "user_annotation"), None)
    if frame is None:
        return {}
    origin = float(frame["ts"])
    lanes: dict[str, list[list[Any]]] = {"host": [], "wait": [], "device": [], "copy": []}
    for event in timed:
        category, name = event.get("cat", ""), str(event.get("name", ""))
        start, length = float(event["ts"]) - origin, float(event["dur"])
        if category == "kernel":
            lane = "device"
        elif category in ("gpu_memcpy", "gpu_memset"):
            lane = "copy"
        elif category == "cuda_runtime" and name in _WAITING:
            lane = "wait"
        elif category == "cpu_op":
            lane = "host"
        else:
            continue
        if start >= 0:
            lanes[lane].append([start, length, printable(name, 60)])
    lanes["host"] = outermost(lanes["host"])
    if lanes["wait"]:
        lanes["wait"].sort()
        end = float(frame["dur"])
        while (
            lanes["wait"]
            and lanes["wait"][-1][0] + lanes["wait"][-1][1] >= end - 5
            and lanes["wait"][-1][2] == "cudaDeviceSynchronize"
        ):
            lanes["wait"].pop()  # the harness' own, at the end
    timeline = [
        [lane, name, round(start, 1), round(length, 1)]
        for lane, spans in lanes.items()
        for start, length, name in merged(sorted(spans), MAX_EVENTS)
    ]
    seen: dict[str, Any] = {"timeline": timeline, "traced_us": float(frame["dur"])}
    if cuda:
        seen["kernels"] = len(lanes["device"])
        seen["copies"] = len(lanes["copy"])
        seen["busy_us"] = covered(lanes["device"] + lanes["copy"])
    else:
        seen["kernels"] = None
    return seen


def outermost(spans: list[list[Any]]) -> list[list[Any]]:
    """The spans that lie in no other."""
    out: list[list[Any]] = []
    end = -1.0
    for span in sorted(spans, key=lambda s: (s[0], -s[1])):
        if span[0] >= end:
            out.append(span)
            end = span[0] + span[1]
    return out


def covered(spans: list[list[Any]]) -> float:
    """Length of the union of spans."""
    total, end = 0.0, -math.inf
    for start, length, _ in sorted(spans):
        if start + length > end:
            total += start + length - max(start, end)
            end = start + length
    return total


def merged(spans: list[list[Any]], limit: int) -> list[list[Any]]:
    """At most `limit` spans: neighbours grow together, those with the smallest gaps first."""
    if len(spans) <= limit:
        return spans
    gaps = sorted(spans[i + 1][0] - (spans[i][0] + spans[i][1]) for i in range(len(spans) - 1))
    threshold = gaps[len(spans) - limit - 1]
    out = [list(spans[0])]
    for start, length, name in spans[1:]:
        last = out[-1]
        if start - (last[0] + last[1]) <= threshold:
            last[1] = max(last[1], start + length - last[0])
            last[2] = last[2] if last[2].endswith(" …") else f"{last[2]} …"
        else:
            out.append([start, length, name])
    return out[:limit]

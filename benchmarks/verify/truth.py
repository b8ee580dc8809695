"""Compare what --verify measures with measurements written by hand.

    python benchmarks/verify/truth.py --out truth.json

Each pair of codes is measured twice at equal sizes: by the machinery of --verify, in its own processes, and here by the
plain means of anyone who doubts it, CUDA events and `time.perf_counter` around loops, with no code of torchlint.
Printed are both ratios of each pair and the share of pairs in which they lie within 15 % of each other, and whether
--verify says "no measurable cost" of the pairs that have none. For retention the bytes that stay per step are compared,
for the unsynchronised clock by how much it lies. Needs torch and a CUDA device; `--tiny` tries out the script itself,
on the CPU as well, at sizes that mean nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WITHIN = 0.15
SECONDS = 3.0  # of measuring a pair by hand


@dataclass(frozen=True)
class Pair:
    """Two codes that compute the same.

    Attributes:
        name: of the pair.
        inputs: source of `inputs(device, dtype)`, which makes the arguments.
        before, after: sources of `run(...)`.
        dtype: that `inputs` gets.
        what: "time", "growth" (bytes kept per step) or "clock" (reported over true seconds).
        free: whether the first costs no more than the second.
    """

    name: str
    inputs: str
    before: str
    after: str
    dtype: str = "float32"
    what: str = "time"
    free: bool = False


RULES = {"growth": "TL601", "clock": "TL701"}  # whose criterion a pair is judged by, where that is not time
HEAD = "import math\nimport time\n\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\n\n"


def pair(
    name: str, inputs: str, before: str, after: str, dtype: str = "float32", what: str = "time", free: bool = False
) -> Pair:
    """A pair from the bodies of its functions; the first line of a code names the parameters."""

    def function(body: str, of: str) -> str:
        parameters, _, rest = body.strip("\n").partition("\n")
        lines = "".join(f"    {line}\n" if line.strip() else "\n" for line in rest.split("\n"))
        return f"{HEAD}def {of}({parameters}):\n{lines}"

    made = "".join(f"    {line}\n" for line in inputs.strip("\n").split("\n"))
    return Pair(
        name, f"{HEAD}def inputs(device, dtype):\n    torch.manual_seed(0)\n{made}",
        function(before, "run"), function(after, "run"), dtype, what, free,
    )  # fmt: skip


def attention(length: int, dtype: str) -> Pair:
    return pair(
        f"causal attention, {length}",
        f"return tuple(torch.randn(4, 16, {length}, 64, device=device, dtype=dtype) for _ in range(3))",
        "q, k, v\n"
        "mask = torch.ones(q.size(-2), q.size(-2), dtype=torch.bool, device=q.device).tril()\n"
        "scores = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).masked_fill(~mask, -math.inf)\n"
        "return scores.softmax(dim=-1) @ v",
        "q, k, v\nreturn F.scaled_dot_product_attention(q, k, v, is_causal=True)",
        dtype,
    )


ROWS = "return (torch.randn({shape}, device=device, dtype=dtype),)"
MODEL = (
    "model = nn.Sequential(*(nn.Linear({width}, {width}) for _ in range({depth}))).to(device, dtype)\n"
    "for p in model.parameters():\n"
    "    p.grad = torch.randn_like(p)\n"
)
STEPS = (
    "model = nn.Sequential(*(nn.Linear({width}, {width}) for _ in range({depth}))).to(device, dtype)\n"
    "batches = [torch.randn({batch}, {width}, device=device, dtype=dtype) for _ in range({steps})]\n"
)
TRAIN = (
    "for x in batches:\n    loss = model(x).square().mean()\n    optimizer.zero_grad()\n    loss.backward()\n"
    "    optimizer.step()\n"
)

PAIRS = (
    *(
        pair(
            "softmax", ROWS.format(shape="8192, 4096"),
            "x\ne = torch.exp(x - x.amax(-1, keepdim=True))\nreturn e / e.sum(-1, keepdim=True)",
            "x\nreturn torch.softmax(x, -1)", dtype,
        )
        for dtype in ("float32", "bfloat16")
    ),
    *(attention(length, dtype) for length in (512, 2048, 4096) for dtype in ("float32", "bfloat16")),
    *(
        pair(
            "rms norm", ROWS.format(shape="16384, 2048"),
            "x\nreturn x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)",
            "x\nreturn F.rms_norm(x, x.shape[-1:], eps=1e-6)", dtype,
        )
        for dtype in ("float32", "bfloat16")
    ),
    pair(
        "layer norm", ROWS.format(shape="16384, 2048"),
        "x\nmean = x.mean(-1, keepdim=True)\nvar = x.var(-1, keepdim=True, unbiased=False)\n"
        "return (x - mean) / torch.sqrt(var + 1e-5)",
        "x\nreturn F.layer_norm(x, x.shape[-1:])",
    ),
    pair(
        "gelu by tanh", ROWS.format(shape="8192, 4096"),
        "x\nreturn 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))",
        "x\nreturn F.gelu(x, approximate='tanh')",
    ),
    pair("silu", ROWS.format(shape="8192, 4096"), "x\nreturn x * torch.sigmoid(x)", "x\nreturn F.silu(x)"),
    *(
        pair(
            f"AdamW {name} against single-tensor",
            MODEL.format(width=256, depth=100) + "return (model,)",
            "model\noptimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)\n"
            "for _ in range(10):\n    optimizer.step()\nreturn model[0].weight",
            f"model\noptimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, {name}=True)\n"
            "for _ in range(10):\n    optimizer.step()\nreturn model[0].weight",
        )
        for name in ("foreach", "fused")
    ),
    pair(
        "EMA loop",
        MODEL.format(width=256, depth=100) + "import copy\nreturn model, copy.deepcopy(model)",
        "model, average\nwith torch.no_grad():\n"
        "    for p, a in zip(model.parameters(), average.parameters()):\n        a.mul_(0.99).add_(p, alpha=0.01)\n"
        "return average[0].weight",
        "model, average\nwith torch.no_grad():\n    torch._foreach_lerp_(list(average.parameters()), "
        "list(model.parameters()), 0.01)\nreturn average[0].weight",
    ),
    pair(
        "row loop", ROWS.format(shape="256, 1024"),
        "x\nreturn torch.stack([row / row.norm() for row in x])",
        "x\nreturn x / x.norm(dim=1, keepdim=True)",
    ),
    pair(
        "growing cat", "return ([torch.randn(64, 1024, device=device, dtype=dtype) for _ in range(256)],)",
        "xs\nout = xs[0]\nfor x in xs[1:]:\n    out = torch.cat([out, x])\nreturn out",
        "xs\nreturn torch.cat(xs)",
    ),
    pair(
        "pageable against pinned copy",
        "a = torch.randn(1 << 24)\nreturn a, a.pin_memory(), device",
        "a, b, device\nreturn a.to(device)",
        "a, b, device\nreturn b.to(device, non_blocking=True)",
    ),
    pair(
        "mask against where", ROWS.format(shape="4096, 4096"),
        "x\ny = x.clone()\ny[y > 0] = y[y > 0] * 0.5\nreturn y",
        "x\ny = x.clone()\nreturn torch.where(y > 0, y * 0.5, y)",
    ),
    pair(
        "scalar read on every step, small model",
        STEPS.format(width=64, depth=4, batch=64, steps=50)
        + "return model, torch.optim.SGD(model.parameters(), lr=0.01), batches",
        "model, optimizer, batches\ntotal = 0.0\n" + TRAIN + "    total += loss.item()\nreturn total",
        "model, optimizer, batches\ntotal = torch.zeros((), device=batches[0].device)\n"
        + TRAIN + "    total += loss.detach()\nreturn total.item()",
    ),
    pair(
        "scalar read on every step, large model",
        STEPS.format(width=4096, depth=8, batch=2048, steps=10)
        + "return model, torch.optim.SGD(model.parameters(), lr=0.01), batches",
        "model, optimizer, batches\ntotal = 0.0\n" + TRAIN + "    total += loss.item()\nreturn total",
        "model, optimizer, batches\ntotal = torch.zeros((), device=batches[0].device)\n"
        + TRAIN + "    total += loss.detach()\nreturn total.item()",
        free=True,
    ),
    pair(
        "no_grad against inference_mode, large model",
        STEPS.format(width=4096, depth=8, batch=2048, steps=10) + "return model, batches",
        "model, batches\nwith torch.no_grad():\n    for x in batches:\n        y = model(x)\nreturn y",
        "model, batches\nwith torch.inference_mode():\n    for x in batches:\n        y = model(x)\nreturn y",
        free=True,
    ),
    pair(
        "retained graph, without backward",
        STEPS.format(width=1024, depth=4, batch=1024, steps=20) + "return model, batches",
        "model, batches\ntotal = 0.0\nfor x in batches:\n    total = total + model(x).square().mean()\nreturn total",
        "model, batches\ntotal = 0.0\nfor x in batches:\n    "
        "total = total + model(x).square().mean().detach()\nreturn total",
        what="growth",
    ),
    pair(
        "unsynchronised clock",
        STEPS.format(width=4096, depth=8, batch=2048, steps=10) + "return model, batches",
        "model, batches\nstart = time.perf_counter()\nfor x in batches:\n    y = model(x)\n"
        "return time.perf_counter() - start",
        "model, batches\nstart = time.perf_counter()\nfor x in batches:\n    y = model(x)\n"
        "torch.cuda.synchronize()\nreturn time.perf_counter() - start",
        what="clock",
    ),
)  # fmt: skip


def tiny(one: Pair) -> Pair:
    """The pair at sizes that take no time."""
    inputs = re.sub(r"\b\d{3,}\b", "32", one.inputs.replace("1 << 24", "1 << 10"))
    return replace(one, inputs=inputs)


# -- by hand -----------------------------------------------------------------------------------------------------------


def by_hand(one: Pair, device_name: str) -> dict[str, Any]:
    """The pair's figure, from loops and clocks alone: {"figure"} and, where that is a ratio of times, both of these."""
    import torch

    device, dtype = torch.device(device_name), getattr(torch, one.dtype)
    cuda = torch.cuda if device.type == "cuda" else Host
    places: list[dict[str, Any]] = [{}, {}, {}]
    for source, place in zip((one.inputs, one.before, one.after), places, strict=True):
        exec(compile(source, one.name, "exec"), place)

    def arguments() -> tuple[Any, ...]:
        made: tuple[Any, ...] = places[0]["inputs"](device, dtype)
        torch.manual_seed(0)
        return made

    functions: list[Callable[..., Any]] = [places[1]["run"], places[2]["run"]]
    if one.what == "growth":
        return {"figure": _kept_per_step(cuda, functions[0], arguments())}
    if one.what == "clock":
        return {"figure": _lie(cuda, functions[0], arguments())}
    given = [arguments(), arguments()]
    for function, args in zip(functions, given, strict=True):
        for _ in range(3):
            function(*args)
        cuda.synchronize()
    often = []
    for function, args in zip(functions, given, strict=True):
        started = time.perf_counter()
        for _ in range(3):
            function(*args)
        cuda.synchronize()
        often.append(max(1, min(500, int(1.5e-2 / (time.perf_counter() - started)))))
    taken: list[list[tuple[float, float]]] = [[], []]
    end = time.perf_counter() + SECONDS
    while len(taken[0]) < 5 or time.perf_counter() < end:
        for index, function in enumerate(functions):
            first, last = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            cuda.synchronize()
            host = _host_speed()
            started = time.perf_counter()
            first.record()
            for _ in range(often[index]):
                function(*given[index])
            last.record()
            cuda.synchronize()
            wall = time.perf_counter() - started
            # The device's own clock, unless the host was slower than the device and the events missed some of it.
            spent = max(first.elapsed_time(last) / 1e3, wall if wall > 1e-3 else 0.0)
            taken[index].append((spent / often[index] * 1e6, max(host, _host_speed())))
    before, after = map(_typical, taken)
    return {"figure": before / after, "before_us": before, "after_us": after}


def _survived(one: Pair, device: str) -> dict[str, Any] | None:
    """The figure, None where the pair cannot be run here; why is said on standard error."""
    try:
        return by_hand(one, device)
    except RuntimeError as error:
        print(f"{one.name}: {error}", file=sys.stderr)
        return None


def _kept_per_step(cuda: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """Bytes that stay for each step: what twice as many steps hold more."""
    model, batches = args
    held = []
    for count in (len(batches) // 2, len(batches)):
        cuda.synchronize()
        before = cuda.memory_allocated()
        result = function(model, batches[:count])
        cuda.synchronize()
        held.append(cuda.memory_allocated() - before)
        del result
    return (held[1] - held[0]) / (len(batches) - len(batches) // 2)


def _lie(cuda: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """What the clock says over what it takes."""
    told, true = [], []
    for _ in range(200):
        first, last = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        cuda.synchronize()
        host = _host_speed()
        first.record()
        said = function(*args)
        last.record()
        cuda.synchronize()
        host = max(host, _host_speed())
        told.append((said, host))
        true.append((first.elapsed_time(last) / 1e3, host))
    return _typical(told[2:]) / _typical(true[2:])


def _host_speed() -> float:
    """Seconds of a loop that is the same each time: other guests of the machine may halve what a processor does."""
    started = time.perf_counter()
    for _ in range(5000):
        pass
    return time.perf_counter() - started


def _typical(taken: list[tuple[float, float]]) -> float:
    """The median of what was taken while the host was at its best."""
    best = min(host for _, host in taken)
    return statistics.median(value for value, host in taken if host < 1.25 * best)


class Host:
    """What is used of `torch.cuda`, to try out this script where there is none."""

    class Event:
        def __init__(self, **_: Any) -> None:
            self.at = 0.0

        def record(self) -> None:
            self.at = time.perf_counter()

        def elapsed_time(self, end: Host.Event) -> float:
            return 1e3 * (end.at - self.at)

    @staticmethod
    def synchronize() -> None:
        pass

    @staticmethod
    def memory_allocated() -> int:
        return 0


# -- by --verify -------------------------------------------------------------------------------------------------------


def as_plan(pairs: list[Pair], pair_seconds: float) -> dict[str, Any]:
    """The pairs as a plan for the worker."""
    criteria = {"time": "time", "growth": "growth", "clock": "clock"}
    experiments = []
    for one in pairs:
        experiment = {
            "rung": "template", "rule": "", "label": f"{one.name} {one.dtype}",
            "before": one.before, "after": one.after,
            "inputs": one.inputs, "entry": "run", "size": {}, "dtype": one.dtype, "criterion": criteria[one.what],
            "shown": [], "stand_ins": [], "allow": [], "attributes": [],
        }  # fmt: skip
        text = json.dumps(asdict(one), sort_keys=True)
        experiments.append({**experiment, "id": hashlib.sha256(text.encode()).hexdigest()[:16]})
    limits = {"seconds": 90.0, "memory_bytes": 64 << 30, "pair_seconds": pair_seconds}
    return {"version": 1, "torchlint": "", "limits": limits, "experiments": experiments, "findings": []}


def figure(one: Pair, result: dict[str, Any]) -> float | None:
    """What --verify says of the pair, in the same terms as `by_hand`."""
    if result.get("status") != "measured":
        return None
    if one.what == "growth":
        return result["before"].get("growth_bytes_per_step")  # type: ignore[no-any-return]
    if one.what == "clock":
        clock = result.get("clock") or {}
        return clock["before"] / clock["after"] if clock.get("after") else None
    return float(result["ratio"]["median"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write both figures of each pair here (JSON)")
    parser.add_argument("--pair-seconds", type=float, default=1.5, help="for the interleaved pairs of --verify")
    parser.add_argument("--by-hand", action="store_true", help="only measure by hand, and print the figures (JSON)")
    parser.add_argument("--only", default="", help="pairs whose name holds this text")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--tiny", action="store_true", help="sizes that mean nothing, to try out this script")
    options = parser.parse_args()
    pairs = [one for one in PAIRS if options.only in one.name]
    if options.tiny:
        pairs = [tiny(one) for one in pairs]
    if options.by_hand:
        for one in pairs:
            print(json.dumps(_survived(one, options.device)), flush=True)
        return 0
    sys.path.insert(0, str(ROOT))
    from torchlint.verify import evidence, supervise

    if options.device == "cuda" and not supervise.gpu_count():
        print("no CUDA device here", file=sys.stderr)
        return 2
    plan = as_plan(pairs, options.pair_seconds)
    answer = supervise.run(plan, ["cuda:0" if options.device == "cuda" else "cpu"])
    command = [sys.executable, __file__, "--by-hand", "--only", options.only, "--device", options.device]
    hand = subprocess.Popen([*command, *["--tiny"] * options.tiny], stdout=subprocess.PIPE, text=True)
    assert hand.stdout is not None
    rows = []
    for one, experiment, line in zip(pairs, plan["experiments"], hand.stdout, strict=True):
        hand_made = json.loads(line) or {"figure": None}
        truth = hand_made["figure"]
        result = answer["results"][experiment["id"]]
        measured = figure(one, result)
        within = bool(truth) and measured is not None and abs(measured / truth - 1) <= WITHIN
        verdict, why = evidence.verdict(RULES.get(one.what, ""), result)
        row = {"pair": one.name, "dtype": one.dtype, "what": one.what, "by_hand": truth, "verify": measured,
               "interval": result.get("ratio"), "equal": result.get("equal"), "within": within,
               "verdict": verdict, "free": one.free,
               "times_us": {"by_hand": [hand_made.get(f"{label}_us") for label in ("before", "after")],
                            "verify": [result.get(label, {}).get("median_us") for label in ("before", "after")]},
               }  # fmt: skip
        rows.append(row)
        said = "-" if measured is None else f"{measured:.4g}"
        known = "-" if truth is None else f"{truth:.4g}"
        print(
            f"{'ok  ' if within else 'OFF '} {one.name} {one.dtype}: by hand {known}, --verify {said} ({verdict}"
            f"{f': {why}' if measured is None else ''}){', has no cost' if one.free else ''}",
            flush=True,
        )
    share = sum(row["within"] for row in rows) / len(rows)
    print(f"{share:.0%} of {len(rows)} pairs within {WITHIN:.0%}")
    if options.out is not None:
        text = json.dumps({"environment": answer["environment"], "share_within": share, "pairs": rows}, indent=1)
        options.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

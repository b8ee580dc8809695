"""The process that measures one experiment: torch and the standard library alone, Python 3.9 or later.

`supervise.py` starts it once, to load torch, and it forks a process for each experiment, which holds both variants,
since pairs are interleaved. That process reads one line of JSON on standard input, the experiment and a nonce that the
measured code never sees, and answers on an inherited descriptor with lines of JSON that carry the nonce. What the
measured code prints goes nowhere. Its values are looked at by exact type alone, so that none of its methods run here.
What is measured of the variants, and how, is in `bench.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import json
import math
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import time
from typing import Any

from torchlint.verify import policy
from torchlint.verify.bench import Bench
from torchlint.verify.confinement import confine
from torchlint.verify.cores import Cores, threads
from torchlint.verify.failures import Failed, reason, where
from torchlint.verify.guard import Guard
from torchlint.verify.hosting import HostEvent, on_host, without_cuda
from torchlint.verify.landmarks import changed, landmarks
from torchlint.verify.machine import machine
from torchlint.verify.standins import Batches, Plain, Record, printable
from torchlint.verify.taming import tame

REAP = 0.02  # seconds between looks for workers that ended
LAST_SECONDS = 2.0  # for what workers left to end, before this process does
SUBREAPER = 36  # of prctl


class Channel:
    """The private way back to the parent."""

    def __init__(self, descriptor: int, nonce: str) -> None:
        self._file = os.fdopen(descriptor, "w", encoding="utf-8", closefd=True)
        self._nonce = nonce

    def send(self, event: str, **values: Any) -> None:
        line = json.dumps({"nonce": self._nonce, "event": event, **plain(values)}, allow_nan=False)
        self._file.write(line + "\n")
        self._file.flush()


def plain(value: Any, depth: int = 12) -> Any:
    """`value` made of exact builtin types that JSON knows; what is anything else becomes None."""
    kind = type(value)
    if kind is bool or value is None:
        return value
    if kind is int:
        return value if abs(value) < 1 << 62 else None
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is str:
        return printable(value, 4000)
    if depth and kind in (list, tuple):
        return [plain(item, depth - 1) for item in value]
    if depth and kind is dict:
        return {printable(key): plain(item, depth - 1) for key, item in value.items() if type(key) is str}
    return None


def serve() -> None:
    """Wait for orders on a socket and fork a worker for each, so that torch is loaded once.

    An order comes with two descriptors, the worker's standard input and its way back, and says where it works: a
    folder, an environment, a kind of device. What is answered: the worker's process id, and later how it ended. This
    process never touches a device and never runs what is measured; it ends when the socket closes, as it does when who
    gives the orders dies, and its workers with it. What a worker started and left, it inherits and ends.
    """
    control = socket.socket(fileno=int(sys.argv[2]))
    inherit()
    load()
    gc.freeze()
    running: set[int] = set()
    try:
        while True:
            if select.select([control], [], [], REAP)[0]:
                message, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 2)
                if not message:
                    break
                order = json.loads(message)
                process = os.fork()
                if not process:
                    control.close()
                    work(order, *descriptors)
                running.add(process)
                for descriptor in descriptors:
                    os.close(descriptor)
                control.sendall(json.dumps({"started": process}).encode() + b"\n")
            for process in tuple(running):
                ended, status = os.waitpid(process, os.WNOHANG)
                if ended:
                    running.discard(process)
                    control.sendall(json.dumps({"ended": process, "status": status}).encode() + b"\n")
            end(children() - running)
    except ConnectionError:
        pass  # who gives the orders is gone
    finally:
        until = time.monotonic() + LAST_SECONDS
        while (left := children() | running) and time.monotonic() < until:
            end(left)
            running.clear()  # those that have not been waited for are children
            time.sleep(REAP)


def end(processes: set[int]) -> None:
    """Kill children of this process, each with its group where it leads one, and wait for those that are gone."""
    for process in processes:
        for kill in (os.killpg, os.kill):  # one that has only just been forked has no group yet
            with contextlib.suppress(OSError):
                kill(process, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(process, os.WNOHANG)


def inherit() -> None:
    """Become the parent of all that is started below this process, once its own parent is gone (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """The processes whose parent this one is, as far as the system tells."""
    found: set[int] = set()
    for thread in os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else ():
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
            found.update(map(int, file.read().split()))
    return found


def load() -> Any:
    """Load what every experiment needs; nothing here may start a thread or touch a device."""
    import torch
    import torch._dynamo
    import torch.profiler
    import torch.utils.data
    import torch.utils.flop_counter

    # A tensor's hash is its `id()`, of which the guard's hook is told: that doubled the time of a walk over parameters.
    vars(torch._tensor)["id"] = object.__hash__
    with contextlib.suppress(ImportError):
        import numpy  # noqa: F401
    return torch


def work(order: dict[str, Any], source: int, descriptor: int) -> None:
    """Be a worker: announce readiness, read the request, measure, answer. Does not return."""
    try:
        os.setsid()
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        tempfile.tempdir = order["folder"]
        os.dup2(source, 0)
        os.close(source)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        cores = order.get("cores") or ()
        if cores:
            try:
                os.sched_setaffinity(0, cores[:-1])  # the last is left to backward until its thread is known
            except OSError:  # some containers forbid it
                cores = ()
        torch = load()
        if cores:
            # As many as torch takes where it knows the processors for hyperthreads, which virtual machines do not tell.
            # More wait for the slowest, and in a loop for one that has no processor.
            torch.set_num_threads(min(torch.get_num_threads(), len(cores) // 2))
        device = torch.device(order["device"])
        warm_up(torch, device)
        own = Cores(cores, *threads()) if cores else Cores()
        os.write(descriptor, b"\n")  # ready
        with open(0, "rb", closefd=False) as requests:
            request = json.loads(requests.readline())
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        channel = Channel(descriptor, request["nonce"])
        try:
            if request.get("machine"):
                channel.send("machine", machine=machine(torch, device))
            else:
                channel.send("result", result=experiment(torch, request, device, own))
        except BaseException as error:
            channel.send("failed", reason=reason(error), where=where(error))
    finally:
        os._exit(0)  # threads, hooks and objects of the measured code get no last word


def warm_up(torch: Any, device: Any) -> None:
    """Make torch load what it loads late, so that neither the first call nor the guard meets it."""
    layer = torch.nn.Linear(8, 8, device=device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.randn(8, 8, device=device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.ones(1 << 18).sum()  # starts the threads that share an operation of the host
    query = torch.ones(1, 1, 8, 8, device=device)
    # At its first attention torch decides which kernels it prefers, which is kept as one of its flags.
    torch.nn.functional.scaled_dot_product_attention(query, query, query)
    if device.type == "cuda":
        torch.cuda.manual_seed_all(0)
        torch.cuda.synchronize()


def load_compiler(torch: Any) -> None:
    """Load torch's compiler, for seconds which would count as the measured code's own.

    It learns what the processor can do as well: for some it starts an interpreter, which an experiment may not.
    """
    torch.compile(warm_up)
    with contextlib.suppress(Exception):  # no C++ compiler here, or a torch whose compiler asks elsewhere
        from torch._inductor.cpu_vec_isa import valid_vec_isa_list

        valid_vec_isa_list()


def experiment(torch: Any, request: dict[str, Any], device: Any, cores: Cores) -> dict[str, Any]:
    spec = request["experiment"]
    for label in ("before", "after", "inputs"):
        refusals = policy.check(
            spec.get(label) or "", spec.get("allow", ()), spec.get("attributes", ()), spec.get("globals", ())
        )
        if refusals:
            raise Failed(f"refused: {label}, {refusals[0]}")
        if label != "inputs" and not policy.enters(spec[label], spec["entry"]):
            raise Failed(f"there is no function {printable(spec['entry'], 60)}")
    granted = policy.grants(spec["before"]) | policy.grants(spec["after"]) | policy.grants(spec.get("inputs") or "")
    if spec.get("compiled"):
        granted |= {"compile"}
    spec["grants"] = sorted(granted)
    if "compile" in granted:
        load_compiler(torch)
    guard = spec["guard"] = Guard(granted, os.getcwd())
    tame(torch)
    confine(os.getcwd(), programs="compile" in granted)
    watched = functools.partial(landmarks, torch, "compile" in granted, HostEvent, Batches, Plain, Record)
    clean = None if request.get("find") else watched()  # on what is found no figure rests
    guard.install()
    texts = [spec.get(label) or "" for label in ("before", "after", "inputs")]
    named = any("cuda" in text or "pin_memory" in text for text in texts)
    try:
        with contextlib.ExitStack() as around:
            if device.type == "cpu" and named:
                around.enter_context(on_host(torch))
                around.enter_context(without_cuda(torch))
            bench = Bench(torch, spec, device, request["seconds"], cores)
            if request.get("find"):
                outcome = {"trial": bench.find()}
            elif request.get("settled"):
                outcome = bench.again(request["settled"])
            else:
                outcome = bench.run()
    finally:
        guard.armed = False
        if guard.blocked:
            raise Failed(f"refused while running: {', '.join(sorted(set(guard.blocked)))}")
    other = None if clean is None else changed(clean, watched(), torch)
    if other is not None:
        raise Failed(f"it changed {other}")
    return outcome

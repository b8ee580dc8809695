"""The processes of a run, from outside: one that loads torch and forks the workers, and the workers, with their limits.

The standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from torchlint.verify import forms

PASSED = (
    "PATH LD_LIBRARY_PATH CUDA_HOME CUDA_PATH OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_CORETYPE OPENBLAS_L2_SIZE "
    "PYTORCH_CUDA_ALLOC_CONF"
).split()
TICK = 0.05  # seconds between looks at memory
END_SECONDS = 10.0  # until the process that loads torch has ended by itself
START_SECONDS = 120.0  # until a worker has loaded torch
MAX_PROCESSES = 256  # of an experiment: the workers of its loaders
MAX_ANSWER = 32 << 20  # bytes
SPARE_MEMORY = 1 << 30  # of the machine, below which an experiment is ended


class Nursery:
    """The process that has loaded torch and forks the workers of one device."""

    def __init__(self, script: str, device: str, cores: list[int]) -> None:
        self.kind, _, index = device.partition(":")
        self.folder = os.path.dirname(script)  # of the run, with those of its workers below
        self._cores = cores
        self.visible = _visible(int(index or 0)) if self.kind == "cuda" else ""
        self._control, other = socket.socketpair()
        self._turn = threading.Lock()  # one thread at a time talks to it
        self._rest = b""
        self._started: list[int] = []
        self._ended: dict[int, int] = {}
        self.stopped = ""  # why its workers are given up
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", script, "--serve", str(other.fileno())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                cwd=self.folder, env=self.environment(self.folder),
                pass_fds=(other.fileno(),), start_new_session=True,
            )  # fmt: skip
        finally:
            other.close()

    def environment(self, folder: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in PASSED if name in os.environ}
        return {
            **kept,
            "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "CUDA_VISIBLE_DEVICES": self.visible,
            # torch's compiler works in the experiment's process and keeps what it makes in the experiment's folder
            "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor"),
            "TRITON_CACHE_DIR": os.path.join(folder, "triton"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_VEC_ISA_OK": "1",
        }  # fmt: skip

    def order(self, folder: str, source: int, back: int, device: str) -> int:
        """Fork a worker that reads `source` and answers on `back`; its process id. OSError where there is none."""
        order: dict[str, Any] = {"folder": folder, "environment": self.environment(folder), "device": device}
        if device == "cuda":
            order["cores"] = self._cores
        else:  # code that names CUDA must not set up a device only to be tried on the host
            order["environment"]["CUDA_VISIBLE_DEVICES"] = ""
        with self._turn:
            socket.send_fds(self._control, [json.dumps(order).encode()], [source, back])
            deadline = time.monotonic() + START_SECONDS
            while not self._started:
                if not self._read(deadline):
                    raise OSError("the process that loads torch has ended")
            return self._started.pop()

    def status(self, process: int, seconds: float) -> int | None:
        """How a worker ended, as `os.waitpid` says it; None where that is not known in time."""
        deadline = time.monotonic() + seconds
        with self._turn:
            while process not in self._ended:
                if not self._read(deadline):
                    return None
            return self._ended[process]

    def _read(self, deadline: float) -> bool:
        """Take what the process says, waiting for it until the deadline; False where nothing more comes."""
        left = max(0.0, deadline - time.monotonic())
        if not select.select([self._control], [], [], left)[0]:
            return False
        block = self._control.recv(1 << 16)
        *lines, self._rest = (self._rest + block).split(b"\n")
        for message in map(json.loads, lines):
            if "started" in message:
                self._started.append(message["started"])
            else:
                self._ended[message["ended"]] = message["status"]
        return bool(block)

    def end(self) -> None:
        """Close the way to it, on which it kills its workers and ends."""
        self._control.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Worker:
    """One process that measures one experiment, or finds its inputs."""

    def __init__(self, nursery: Nursery, device: str) -> None:
        self.nursery = nursery
        self.folder = tempfile.mkdtemp(prefix="", dir=nursery.folder)  # which goes with the run's, whatever ends that
        self._buffer = b""
        self._ready: bytes | str | None = None
        self._asked = False
        self.receive, back = os.pipe()
        source, self._requests = os.pipe()
        self.process: int | None = None
        try:
            self.process = nursery.order(self.folder, source, back, device)
        except OSError:
            pass  # `ask` finds the channel closed
        finally:
            os.close(back)
            os.close(source)

    def await_ready(self, memory: int) -> bytes | str | None:
        """Wait until the worker has set up its device; b"" when it has."""
        if not self._asked:
            self._asked = True
            self._ready = self._wait(lambda line: line == b"", time.monotonic() + START_SECONDS, memory)
        return self._ready

    def ask(self, request: dict[str, Any], seconds: float, memory: int) -> dict[str, Any]:
        """Send the request and wait for the answer, which is a result or says why there is none."""
        nonce = secrets.token_hex(16)
        if self.await_ready(memory) != b"":
            return self._lost("could not start", self._ready)
        try:
            with open(self._requests, "wb", closefd=False) as file:
                file.write(json.dumps({**request, "nonce": nonce}).encode() + b"\n")
        except OSError:
            return self._lost("could not start", None)

        def is_answer(line: bytes) -> bool:
            message = _message(line, nonce)
            return message is not None and message["event"] in ("result", "failed", "machine")

        answer = self._wait(is_answer, time.monotonic() + seconds, memory)
        if not isinstance(answer, bytes):
            return self._lost("exited without a result", answer)
        message = _message(answer, nonce)
        assert message is not None
        if message["event"] == "failed":
            return {"status": "not run", "reason": str(message.get("reason")), "where": str(message.get("where") or "")}
        said = message.get("result", message.get("machine"))
        made = {"status": "measured", **said} if isinstance(said, dict) else {}
        form: Any = {} if "machine" in request or request.get("find") else forms.ANSWER
        misfit = forms.misfit(made, form) if made else "it must be an object"
        return made if misfit is None else {"status": "not run", "reason": f"its answer is none: {misfit}"}

    def _wait(self, wanted: Callable[[bytes], bool], deadline: float, memory: int) -> bytes | str | None:
        """The first line that is wanted; a reason when a limit was passed; None when the process ended without it."""
        taken = 0
        while True:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                if wanted(line):
                    return line
            if self.nursery.stopped:
                return self.nursery.stopped
            if time.monotonic() > deadline:
                return "time limit"
            held, processes = group_size(self.process or 0)
            if held > memory or available_memory() < SPARE_MEMORY:
                return "memory limit"
            if processes > MAX_PROCESSES:
                return "process limit"
            if select.select([self.receive], [], [], TICK)[0]:
                block = os.read(self.receive, 1 << 16)
                taken += len(block)
                if not block:
                    return None
                if taken > MAX_ANSWER:
                    return "its answer is too long"
                self._buffer += block

    def _lost(self, otherwise: str, why: bytes | str | None) -> dict[str, Any]:
        """The answer for a worker that gave none."""
        if isinstance(why, str):
            return {"status": "not run", "reason": why}
        status = self.nursery.status(self.process, seconds=5.0) if self.process is not None else None
        if status is not None and os.WIFSIGNALED(status):
            return {"status": "not run", "reason": f"crashed (signal {os.WTERMSIG(status)})"}
        return {"status": "not run", "reason": otherwise}

    def end(self) -> None:
        """Kill the process group, whatever it is doing, and remove its folder."""
        if self.process is not None:
            with contextlib.suppress(OSError):
                os.killpg(self.process, signal.SIGKILL)
        os.close(self._requests)
        os.close(self.receive)
        shutil.rmtree(self.folder, ignore_errors=True)


def _message(line: bytes, nonce: str) -> dict[str, Any] | None:
    """A line of the channel, if it is a message with the nonce."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) and message.get("nonce") == nonce and "event" in message else None


def _visible(index: int) -> str:
    """The device of that number among those this process may see."""
    visible = [part for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if part]
    return visible[index] if index < len(visible) else str(index)


def group_size(group: int) -> tuple[int, int]:
    """Bytes of host memory that the processes of a group hold for themselves, apart from mapped files; how many."""
    total = count = 0
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{entry}/stat", "rb") as file:
                if int(file.read().rsplit(b")", 1)[1].split()[2]) != group:
                    continue
            count += 1
            with open(f"/proc/{entry}/status", "rb") as file:
                for line in file:
                    if line.startswith((b"RssAnon:", b"RssShmem:")):
                        total += int(line.split()[1]) << 10
    return total, count


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_memory() -> int:
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", "rb") as file:
        for line in file:
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) << 10
    return SPARE_MEMORY

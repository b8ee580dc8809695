"""The process that does the language server's work, so that neither a long parse nor its death holds up the editor.

Requests and answers are pickles with their length in front, between this process and the one that started it alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import pickle
import select
import signal
import struct
import sys
import threading
import traceback
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

if TYPE_CHECKING:
    from torchlint.findings import Finding

__all__ = ["Linted", "Texts", "Worker", "WorkerDiedError", "main"]

Texts = dict["int | None", str]  # by the number of the cell, None for what is no notebook


@dataclass(frozen=True, slots=True)
class Linted:
    """What is found in a document, and what went wrong that is no finding, one line each."""

    findings: tuple[Finding, ...] = ()
    errors: tuple[str, ...] = ()
    unread: tuple[int | None, ...] = ()  # cells that cannot be read, None for what is no notebook


Task = Literal["fix", "lint", "silence"]  # the functions of torchlint.lsp.tasks, which only the worker imports

_LENGTH = struct.Struct("!Q")
_START = "import sys; sys.path[:] = {path!r}; from torchlint.lsp.worker import main; main()"


class WorkerDiedError(Exception):
    """The worker ended in the middle of a task; the message says how."""


class Worker:
    """A process that does one task after the other. It is started when there is one, and again when it died."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._busy = False
        self._waiting: list[asyncio.Future[None]] = []

    async def call(self, task: Task, *arguments: Any) -> Any:
        """The result of a task; raises RuntimeError where that fails, WorkerDiedError where the process does."""
        async with self.turn():
            return await self.call_now(task, *arguments)

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """The time in which `call_now` may be called. Who asked last is next: that is where the user types."""
        if self._busy:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                else:
                    self._next()
                raise
        self._busy = True
        try:
            yield
        finally:
            self._next()

    def _next(self) -> None:
        self._busy = bool(self._waiting)
        if self._waiting:
            turn = self._waiting.pop()
            if turn.cancelled():
                self._next()
            else:
                turn.set_result(None)

    async def call_now(self, task: Task, *arguments: Any) -> Any:
        """As `call`, for who has the turn. Cancelled, it ends the process: nobody waits for the answer."""
        process = await self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            body = pickle.dumps((task, arguments))
            process.stdin.write(_LENGTH.pack(len(body)) + body)
            await process.stdin.drain()
            (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
            result, error = pickle.loads(await process.stdout.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError) as lost:
            status = await process.wait()
            raise WorkerDiedError(f"signal {-status}" if status < 0 else f"exit status {status}") from lost
        except asyncio.CancelledError:
            self.kill()
            raise
        if error is not None:
            raise error
        return result

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                _START.format(path=sys.path),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        return self._process

    async def start(self) -> None:
        """Start the process before there is a task for it."""
        async with self.turn():
            await self._running()

    async def stop(self) -> None:
        """End the process and wait until it has."""
        process = self._process
        self.kill()
        if process is not None:
            await process.wait()

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def main() -> None:
    """Do what the language server asks for until it closes its end."""
    from torchlint.lsp import tasks

    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what anything prints is no answer
    threading.Thread(target=_end_with, args=(requests.fileno(),), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this process
    tasks.prepare()
    gc.freeze()
    gc.disable()
    with contextlib.suppress(BrokenPipeError):
        while (request := _read(requests)) is not None:
            name, arguments = pickle.loads(request)
            try:
                answer: tuple[Any, Exception | None] = getattr(tasks, name)(*arguments), None
            except Exception as error:
                traceback.print_exc()
                answer = None, RuntimeError(f"{type(error).__name__}: {error}")
            body = pickle.dumps(answer)
            answers.write(_LENGTH.pack(len(body)) + body)
            answers.flush()
            gc.collect()  # while nobody waits


def _end_with(requests: int) -> None:
    """End the process when the other end of `requests` is closed, whatever it is doing, where the system can tell."""
    if hasattr(select, "poll"):
        other_end = select.poll()
        other_end.register(requests, 0)  # a hang-up is told unasked
        other_end.poll()
        os._exit(0)


def _read(stream: BinaryIO) -> bytes | None:
    header = stream.read(_LENGTH.size)
    return stream.read(_LENGTH.unpack(header)[0]) if len(header) == _LENGTH.size else None

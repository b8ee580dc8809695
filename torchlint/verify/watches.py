# torchlint: file-ignore[TL7] it measures: reading results, waiting, timing and tidying are its work
"""Watching a call: what it makes the host wait for, what clocks say, what it allocates and moves, its steps.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torchlint.verify.guard import MEASURED

ORDER = ("forward", "backward", "step")  # what a training step does, in its order


class EarlyReadings:
    """Counts readings of events that were not reached, which raise, and lets the code go on as if it had waited."""

    def __init__(self, torch: Any) -> None:
        self.count = 0
        original = torch.cuda.Event.elapsed_time

        def elapsed_time(start: Any, end: Any) -> float:
            if not (start.query() and end.query()):
                self.count += 1
                end.synchronize()
            return float(original(start, end))

        torch.cuda.Event.elapsed_time = elapsed_time


class ClockWatch:
    """Notes what measured code is told of passing time: seconds since its last reading of a clock, or between events.

    Attributes:
        spans: the row of each reading, and the seconds.
    """

    CLOCKS = ("time", "perf_counter", "monotonic", "process_time")

    def __init__(self, torch: Any) -> None:
        self.spans: list[tuple[int, float]] = []
        self._last: dict[str, float] = {}
        self._event = torch.cuda.Event
        self._before = [(time, name, getattr(time, name)) for clock in self.CLOCKS for name in (clock, f"{clock}_ns")]
        self._before.append((self._event, "elapsed_time", self._event.elapsed_time))

    def nearest(self, row: int) -> list[int]:
        """Which readings belong to a row: those in it or above it, as near as any; else the last."""
        rows = [at for at, _ in self.spans if at <= row]
        return [i for i, (at, _) in enumerate(self.spans) if rows and at == max(rows)] or [-1]

    def _reading(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        unit = 1e-3 if name == "elapsed_time" else 1e-9 if name.endswith("_ns") else 1.0

        def read(*given: Any) -> Any:
            said = original(*given)
            frame = sys._getframe(1)
            if frame.f_code.co_filename in MEASURED:
                now = said * unit
                if name == "elapsed_time":
                    self.spans.append((frame.f_lineno, now))
                elif name in self._last:
                    self.spans.append((frame.f_lineno, now - self._last[name]))
                self._last[name] = now
            return said

        return read

    def __enter__(self) -> None:
        for place, name, original in self._before:
            setattr(place, name, self._reading(name, original))

    def __exit__(self, *error: Any) -> None:
        for place, name, original in self._before:
            setattr(place, name, original)


class HostMeter:
    """Bytes of host tensors alive, from the allocator's own events in an operator mode."""

    def __init__(self, torch: Any) -> None:
        import weakref

        from torch.utils._python_dispatch import TorchDispatchMode

        self.live = self.peak = 0
        outer = self
        known: dict[int, Any] = {}

        def released(key: int, size: int) -> None:
            outer.live -= size
            known.pop(key, None)

        class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
            def __torch_dispatch__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
                made = function(*args, **(kwargs or {}))
                for tensor in made if type(made) in (tuple, list) else (made,):
                    if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu":
                        continue
                    storage = tensor.untyped_storage()
                    key = storage._cdata
                    inputs = {
                        x.untyped_storage()._cdata
                        for x in args
                        if isinstance(x, torch.Tensor) and x.layout == torch.strided
                    }
                    if key in known or key in inputs:
                        continue
                    size = storage.nbytes()
                    known[key] = weakref.finalize(storage, released, key, size)
                    outer.live += size
                    outer.peak = max(outer.peak, outer.live)
                return made

        self._mode: Any = Mode()  # type: ignore[no-untyped-call]

    def __enter__(self) -> None:
        self._mode.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._mode.__exit__(*error)


def traffic_meter(torch: Any) -> Any:
    """A mode that adds up what operators read and write, apart from views and what only looks at tensors."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
        bytes = count = 0

        def __torch_dispatch__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = function(*args, **(kwargs or {}))
            returned = made if type(made) in (tuple, list) else (made,)
            out = [x for x in returned if isinstance(x, torch.Tensor) and x.layout == torch.strided]
            given = [x for x in _flat(args) if isinstance(x, torch.Tensor) and x.layout == torch.strided]
            places = {x.untyped_storage()._cdata for x in given}
            writes = any(a.alias_info is not None and a.alias_info.is_write for a in function._schema.arguments)
            view = bool(out) and not writes and all(x.untyped_storage()._cdata in places for x in out)
            if not view and (out or writes):
                Mode.count += 1
                Mode.bytes += sum(x.numel() * x.element_size() for x in (*given, *out))
            return made

    Mode.bytes = Mode.count = 0
    return Mode()  # type: ignore[no-untyped-call]


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if type(value) in (tuple, list):
            yield from _flat(value)
        else:
            yield value


class WaitWatch:
    """Counts and times host waits: what torch's debug mode reports, and what it misses.

    It misses `synchronize` itself, and copies between the device and pageable memory under `non_blocking=True`, which
    hold the host for the staging copy.

    Args:
        timed: time each wait and find its place, by a mode around every call. Under it compiled code would be compiled
            anew; there what the debug mode reports is counted, and no more.
    """

    def __init__(self, torch: Any, clock: Callable[[], float], *, timed: bool = True) -> None:
        from torch.overrides import TorchFunctionMode

        self.torch = torch
        self._timed = timed
        self.count = 0
        self.seconds = 0.0
        self._places: dict[str, int] = {}
        self._clock = clock
        self._undo: list[Callable[[], None]] = []
        self._caught: list[Any] = []
        watch = self

        class Mode(TorchFunctionMode):
            def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
                kwargs = kwargs or {}
                staged = watch._is_staged(function, args, kwargs)
                seen, started = len(watch._caught), clock()
                made = function(*args, **kwargs)
                waits = len(watch._caught) - seen
                if waits or (staged and watch._crossed(args, made)):
                    watch._add(max(1, waits), clock() - started)
                return made

        self._mode: Any = Mode()

    def _is_staged(self, function: Any, args: Any, kwargs: Any) -> bool:
        """Whether the call copies under non_blocking, which the debug mode then says nothing of."""
        name = getattr(function, "__name__", "")
        return name in ("to", "cuda", "cpu", "copy_") and (
            bool(kwargs.get("non_blocking")) or any(x is True for x in args[1:])
        )

    def _crossed(self, args: Any, made: Any) -> bool:
        """Whether the copy went between the device and pageable memory."""
        pair = [x for x in (*args[:2], made) if isinstance(x, self.torch.Tensor)]
        kinds = {x.device.type for x in pair}
        return len(kinds) > 1 and any(x.device.type == "cpu" and not x.is_pinned() for x in pair)

    def _add(self, count: int, seconds: float) -> None:
        self.count += count
        self.seconds += seconds
        frame = sys._getframe(2)
        while frame is not None and not frame.f_code.co_filename.startswith("<"):
            frame = frame.f_back  # type: ignore[assignment]
        if frame is not None and len(self._places) < 50:
            place = f"{frame.f_code.co_filename.strip('<>')}:{frame.f_lineno}"
            self._places[place] = self._places.get(place, 0) + count

    def places(self) -> dict[str, int]:
        return dict(sorted(self._places.items(), key=lambda item: -item[1])[:20])

    def _hook(self, owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            started = self._clock()
            try:
                return original(*args, **kwargs)
            finally:
                self._add(1, self._clock() - started)

        setattr(owner, name, timed)
        self._undo.append(lambda: setattr(owner, name, original))

    def __enter__(self) -> None:
        torch = self.torch
        self._warnings = warnings.catch_warnings(record=True)
        caught = self._warnings.__enter__()
        assert caught is not None
        warnings.simplefilter("always")
        self._caught = caught
        torch.set_warn_always(True)
        torch.cuda.set_sync_debug_mode("warn")
        for owner, name in (
            (torch.cuda, "synchronize"),
            (torch.cuda.Event, "synchronize"),
            (torch.cuda.Stream, "synchronize"),
        ):
            self._hook(owner, name)
        if self._timed:
            self._mode.__enter__()

    def __exit__(self, *error: Any) -> None:
        if self._timed:
            self._mode.__exit__(*error)
        else:
            self.count += sum("synchroniz" in str(caught.message) for caught in self._caught)
        self.torch.cuda.set_sync_debug_mode("default")
        self.torch.set_warn_always(False)
        for undo in reversed(self._undo):
            undo()
        self._warnings.__exit__(*error)


class MethodsWatch:
    """Times what methods of a class take, since it was entered."""

    def __init__(self, owner: Any, names: Sequence[str], clock: Callable[[], float]) -> None:
        self.seconds = 0.0
        self._owner = owner
        self._clock = clock
        self._originals = {name: getattr(owner, name) for name in names}

    def __enter__(self) -> None:
        self.seconds = 0.0
        for name, original in self._originals.items():
            setattr(self._owner, name, self._timed(original))

    def _timed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = self._clock()
            try:
                return original(*args, **kwargs)
            finally:
                self.seconds += self._clock() - started

        return timed

    def __exit__(self, *error: Any) -> None:
        for name, original in self._originals.items():
            setattr(self._owner, name, original)


@contextlib.contextmanager
def steps(torch: Any, mark: Callable[[], None]) -> Iterator[None]:
    """Call `mark` once per step: at each optimizer step, else at each backward, else at each outermost module call."""
    depth, current, handles = [0], [ORDER[0]], []

    def entered(*_: Any) -> None:
        depth[0] += 1

    def left(*_: Any) -> None:
        depth[0] -= 1
        if not depth[0]:
            chosen("forward")

    def chosen(kind: str) -> None:
        """A later event of the step, once seen, takes over from an earlier one."""
        if ORDER.index(kind) >= ORDER.index(current[0]):
            current[0] = kind
            mark()

    from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

    handles += [register_module_forward_pre_hook(entered), register_module_forward_hook(left)]
    original = torch.autograd.backward

    def backward(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        chosen("backward")
        return made

    torch.autograd.backward = backward
    with contextlib.suppress(ImportError):  # torch before 2.1 has no such hook
        from torch.optim.optimizer import register_optimizer_step_post_hook

        handles.append(register_optimizer_step_post_hook(lambda *_: chosen("step")))
    try:
        yield
    finally:
        torch.autograd.backward = original
        for handle in handles:
            handle.remove()

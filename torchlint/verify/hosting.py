"""Running on the host what is written for CUDA.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def without_cuda(torch: Any) -> Iterator[None]:
    """Waiting for a device, choosing one and giving its memory back do nothing; events take the host's time."""
    instead: dict[str, Any] = dict.fromkeys(("synchronize", "set_device", "empty_cache"), lambda *_, **__: None)
    if not torch.cuda.is_available():
        instead["Event"] = HostEvent
    before = {name: getattr(torch.cuda, name) for name in instead}
    for name, value in instead.items():
        setattr(torch.cuda, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(torch.cuda, name, value)


class HostEvent:
    """`torch.cuda.Event` where there is no CUDA: what was called before it is done already."""

    def __init__(self, **_: Any) -> None:
        self._at = 0.0

    def record(self, *_: Any) -> None:
        self._at = time.perf_counter()

    def elapsed_time(self, end: Any) -> float:
        return float(end._at - self._at) * 1e3

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def wait(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def one_thread(torch: Any) -> Iterator[None]:
    """Small tensors on the host are faster without others to wait for."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def on_host(torch: Any) -> Any:
    """A mode in which code that names CUDA runs on the CPU."""
    from torch.overrides import TorchFunctionMode

    def moved(value: Any) -> Any:
        if type(value) is str and value.partition(":")[0] == "cuda":
            return "cpu"
        if type(value) is torch.device and value.type == "cuda":
            return torch.device("cpu")
        return value

    class OnHost(TorchFunctionMode):
        def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(function, "__name__", "")
            if name == "cuda" and args and isinstance(args[0], torch.Tensor):
                return args[0]
            if name in ("pin_memory", "is_pinned") and not torch.cuda.is_available():
                return args[0] if name == "pin_memory" else False
            kwargs = {key: moved(value) for key, value in (kwargs or {}).items()}
            if not torch.cuda.is_available():
                kwargs.pop("pin_memory", None)
            return function(*(moved(value) for value in args), **kwargs)

    return OnHost()

"""What repaired forms call: functions that the worker puts into the repaired code, under names that begin with
`torchlint_`.

Some repairs need a decision of a person. What they could gain can be measured all the same, against code that does not
pay what the finding names; these functions stand in it. Each is described in the evidence by the repair that uses it
(`repairs.py`). Standard library and torch alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Recording", "helpers"]


class Recording:
    """What the repaired code would read, taken once in a run that reads it, and handed out afterwards.

    Every repetition starts from the same state, so that the same values would be read again. A tensor that the code
    writes to is handed out as a copy.
    """

    def __init__(self) -> None:
        self.recording = False
        self._kept: list[tuple[Any, int]] = []
        self._at = 0

    def start(self) -> None:
        """Record from here on."""
        self.recording, self._kept, self._at = True, [], 0

    def rewind(self) -> None:
        """Hand out from the first value again."""
        self.recording, self._at = False, 0

    def replayed(self, read: Callable[[], Any]) -> Any:
        if self.recording:
            value = read()
            self._kept.append((value, getattr(value, "_version", 0)))
            return value
        if self._at >= len(self._kept):
            raise RuntimeError("more is read than when it was recorded")
        value, version = self._kept[self._at]
        self._at += 1
        if type(value) is list:
            return list(value)
        return value.clone() if getattr(value, "_version", 0) != version else value


def helpers(torch: Any, device: Any, recording: Recording) -> dict[str, Any]:
    """The functions by the names that repaired code calls them by."""

    def batched(function: Callable[..., Any], *over: Any) -> Any:
        """`function` of all positions below numbers, or of all rows of tensors, at once; one dimension for each."""
        rows = [torch.arange(one, device=device) if type(one) is int else one for one in over]
        for depth in range(len(rows)):
            takes = tuple(0 if index == len(rows) - 1 - depth else None for index in range(len(rows)))
            function = torch.vmap(function, in_dims=takes, randomness="different")
        return function(*rows)

    buffers: dict[int, Any] = {}

    def grown(old: Any, new: Any, dim: int) -> Any:
        """`torch.cat([old, new], dim)`, inside a buffer with room to grow; without gradients alone."""
        if old.requires_grad or new.requires_grad:
            raise RuntimeError("a tensor with gradients cannot grow in place")
        length, more = old.shape[dim], new.shape[dim]
        buffer = buffers.get(old.data_ptr())
        kind = torch.result_type(old, new)
        if buffer is None or buffer.dtype != kind or buffer.shape[dim] < length + more or buffer.dim() != old.dim():
            sizes = list(old.shape)
            sizes[dim] = max(2 * length, length + 32 * more)
            buffer = torch.empty(sizes, dtype=kind, device=old.device)
            buffer.narrow(dim, 0, length).copy_(old)
            buffers.clear()
            buffers[buffer.data_ptr()] = buffer
        buffer.narrow(dim, length, more).copy_(new)
        return buffer.narrow(dim, 0, length + more)

    def together(values: Any) -> Any:
        return torch.stack([torch.as_tensor(value, device=device) for value in values])

    def index(value: Any) -> Any:
        return torch.as_tensor(value, device=device)

    def pinned(value: Any) -> Any:
        return value.pin_memory() if device.type == "cuda" and value.device.type == "cpu" else value

    def unbiased(layer: Any) -> Any:
        if isinstance(layer, torch.nn.Module):
            layer.register_parameter("bias", None)
        return layer

    return {
        "torchlint_replayed": recording.replayed,
        "torchlint_batched": batched,
        "torchlint_grown": grown,
        "torchlint_together": together,
        "torchlint_index": index,
        "torchlint_pinned": pinned,
        "torchlint_unbiased": unbiased,
    }

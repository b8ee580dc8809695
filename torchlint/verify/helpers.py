"""What repaired forms call: functions that the worker puts into the repaired code, under names that begin with
`torchlint_`.

Some repairs need a decision of a person. What they could gain can be measured all the same, against code that does not
pay what the finding names; these functions stand in it. Each is described in the evidence by the repair that uses it
(`repairs`). Standard library and torch alone, Python 3.9 or later: this travels with the worker.
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

    def replayed(self, read: Callable[..., Any], *given: Any) -> Any:
        """What `read` gives of what it is given, which is computed in every run."""
        if self.recording:
            value = read(*given)
            self._kept.append((value, version(value)))
            return value
        if self._at >= len(self._kept):
            raise RuntimeError("more is read than when it was recorded")
        value, before = self._kept[self._at]
        self._at += 1
        if type(value) is list:
            return list(value)
        return value.clone() if version(value) != before else value


def version(value: Any) -> int:
    """How often a tensor was written to; tensors of inference mode do not tell."""
    try:
        return int(getattr(value, "_version", 0))
    except RuntimeError:
        return 0


def listed_class(torch: Any) -> Any:
    """Lists of tensors that take one operation for all, by `torch._foreach_*`; what has no such form is refused."""

    def bare(value: Any) -> Any:
        return value.items if type(value) is Listed else value

    def each(name: str, items: list[Any], *given: Any, **named: Any) -> Any:
        operation = getattr(torch, f"_foreach_{name}", None)
        if operation is None:
            raise RuntimeError(f"there is no torch._foreach_{name}")
        made = operation(items, *map(bare, given), **{key: bare(value) for key, value in named.items()})
        return Listed(items if made is None else list(made))

    class Listed:
        def __init__(self, items: list[Any]) -> None:
            self.items = items

        def __getattr__(self, name: str) -> Any:
            if name in ("data", "grad"):
                return Listed([getattr(item, name) for item in self.items])
            if name in ("detach", "clone"):
                return lambda: Listed([getattr(item, name)() for item in self.items])
            if name in ("to", "item", "cpu"):  # they are on one device already, and what is read is read together
                return lambda *_, **__: self
            return lambda *given, **named: each(name, self.items, *given, **named)

        def __setattr__(self, name: str, value: Any) -> None:
            if name == "data":
                torch._foreach_copy_([item.data for item in self.items], bare(value))
            else:
                object.__setattr__(self, name, value)

        @classmethod
        def __torch_function__(cls, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
            asked = [value for value in (named or {}).values() if value is not None and value is not False]
            return each(function.__name__, given[0].items, *given[1:], *asked)

        def __pow__(self, other: Any) -> Any:
            return each("pow", self.items, other)

        def __add__(self, other: Any) -> Any:
            return each("add", self.items, other)

        def __mul__(self, other: Any) -> Any:
            return each("mul", self.items, other)

        def __sub__(self, other: Any) -> Any:
            return each("sub", self.items, other)

        def __truediv__(self, other: Any) -> Any:
            return each("div", self.items, other)

        def __iadd__(self, other: Any) -> Any:
            return each("add_", self.items, other)

        def __isub__(self, other: Any) -> Any:
            return each("sub_", self.items, other)

        def __imul__(self, other: Any) -> Any:
            return each("mul_", self.items, other)

        def __itruediv__(self, other: Any) -> Any:
            return each("div_", self.items, other)

        def __rsub__(self, other: Any) -> Any:
            return each("neg", self.items) + other

        __radd__, __rmul__ = __add__, __mul__

    return Listed


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

    def summed(value: Any) -> Any:
        """What rounds add up one by one, added up at once."""
        return torch.stack(value.items).sum() if type(value) is listed_as else value

    def positions(value: Any) -> Any:
        """Where a mask holds; what is no mask is itself."""
        masks = isinstance(value, torch.Tensor) and value.dtype == torch.bool
        if masks and value.dim() != 1:
            raise RuntimeError("a mask of several dimensions beside other indices")
        return value.nonzero(as_tuple=True)[0] if masks else value

    def number(value: Any) -> Any:
        """The number that a tensor of one element holds; what is anything else is itself."""
        return value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value

    def index(value: Any) -> Any:
        return torch.as_tensor(value, device=device)

    def pinned(value: Any) -> Any:
        return value.pin_memory() if device.type == "cuda" and value.device.type == "cpu" else value

    def unbiased(layer: Any) -> Any:
        if isinstance(layer, torch.nn.Module):
            layer.register_parameter("bias", None)
        return layer

    def there(where: Any, make: Callable[[], Any]) -> Any:
        """What is made while a device is torch's default."""
        with torch.device(where):
            return make()

    def detached(value: Any) -> Any:
        """The tensors in plain containers without their graphs."""
        if isinstance(value, torch.Tensor):
            return value.detach()
        if type(value) is dict:
            return {key: detached(item) for key, item in value.items()}
        return type(value)(map(detached, value)) if type(value) in (list, tuple) else value

    listed_as = listed_class(torch)

    def listed(rounds: Any) -> Any:
        """One round instead of all, over lists of what the rounds are over."""
        rounds = list(rounds)
        if rounds and type(rounds[0]) is tuple:
            return [tuple(map(listed_as, map(list, zip(*rounds))))]  # noqa: B905 (Python 3.9)
        return [listed_as(rounds)] if rounds else []

    return {
        "torchlint_listed": listed,
        "torchlint_summed": summed,
        "torchlint_positions": positions,
        "torchlint_number": number,
        "torchlint_replayed": recording.replayed,
        "torchlint_batched": batched,
        "torchlint_grown": grown,
        "torchlint_together": together,
        "torchlint_index": index,
        "torchlint_pinned": pinned,
        "torchlint_unbiased": unbiased,
        "torchlint_there": there,
        "torchlint_detached": detached,
    }

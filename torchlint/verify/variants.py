"""The two codes of an experiment, and what they are called with.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import copy
import inspect
import random
import re
import sys
import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from torchlint.verify.failures import MAX_MESSAGE, Failed
from torchlint.verify.namespace import python
from torchlint.verify.standins import MODULE, Builder, tensors


class Variant:
    """One of the two codes. `load` runs its module anew, so that nothing of an earlier repetition is left in it."""

    def __init__(
        self,
        label: str,
        source: str,
        entry: str,
        keep: bool,
        names: dict[str, Any] | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        self.label = label
        self.entry = entry
        self.keep = keep
        self.replays = "torchlint_replayed" in source
        if names and not keep:  # of functions the code could keep something for its next call; the compiler wants them
            names = {name: helper.__call__ for name, helper in names.items()}
        self._names = {**(names or {}), "__builtins__": python(allow)}
        self._code = compile(source, f"<{label}>", "exec")
        self._kept: types.ModuleType | None = None

    def load(self, stand_ins: Callable[[types.ModuleType], dict[str, Any]] | None = None) -> types.ModuleType:
        """The module; `stand_ins` makes what it finds under the names of things that are not here."""
        if self._kept is not None:
            return self._kept
        module = types.ModuleType(MODULE)
        sys.modules[module.__name__] = module
        module.__dict__.update(self._names)
        if stand_ins is not None:
            module.__dict__.update(stand_ins(module))
        exec(self._code, module.__dict__)
        if self.keep:
            self._kept = module
        return module

    def function(self, module: types.ModuleType) -> Callable[..., Any]:
        found: Any = module
        for part in self.entry.split("."):
            found = getattr(found, part, None)
        if not callable(found):
            raise Failed(f"there is no function {self.entry}")
        called = _called_by_name(found)
        if not inspect.isgeneratorfunction(found):
            return called

        def consumed(*arguments: Any) -> list[Any]:
            """A generator runs as its caller loops over it; what it gave last stands for all."""
            return list(deque(called(*arguments), maxlen=1))

        return consumed


def _called_by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, given its keyword parameters without a default after the others."""
    inner: Any = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    if code is None or not code.co_kwonlyargcount:
        return function
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    names = [name for name in names if name not in (inner.__kwdefaults__ or {})]

    def called(*arguments: Any) -> Any:
        others = len(arguments) - len(names)
        return function(*arguments[:others], **dict(zip(names, arguments[others:])))  # noqa: B905 (Python 3.9)

    return called if names else function


class Inputs:
    """Fresh arguments for a call: made by the experiment's own `inputs`, or built from what the plan says of each."""

    def __init__(self, experiment: dict[str, Any], torch: Any, device: Any) -> None:
        self.torch = torch
        self.device = device
        self.experiment = experiment
        self.copied = True
        self.trial: dict[str, Any] = {}
        self.widths: list[Any] = list(experiment.get("widths") or ["D"])  # what a last dimension may be
        self.stems: dict[str, Any] = {}  # what stand-ins for networks were found to be called with
        self.asked: dict[str, list[Any]] = {}
        self.eager = False
        self.salt = 0  # another one makes other random numbers
        self.sizes: dict[str, int] = (experiment.get("sizes") or [{}])[0]
        self.source: types.ModuleType | None = None
        if experiment.get("inputs"):
            allow = experiment.get("allow", ())
            self.source = Variant("inputs", experiment["inputs"], "inputs", keep=True, allow=allow).load()
        self.master: Any = None

    def seed(self) -> None:
        random.seed(self.salt)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(self.salt)
        self.torch.manual_seed(self.salt)

    def builder(self, module: types.ModuleType) -> Builder:
        made = Builder(self.torch, self.device, module, self.sizes, {**self.trial, **self.stems})
        made.asked = self.asked
        made.widths, made.eager = self.widths, self.eager
        return made

    def make(self) -> tuple[Any, ...]:
        self.seed()
        assert self.source is not None
        dtype = getattr(self.torch, self.experiment.get("dtype") or "float32", None)
        if not isinstance(dtype, self.torch.dtype):
            raise Failed("the plan names no dtype")
        made = self.source.__dict__["inputs"](self.device, dtype, **self.experiment.get("size", {}))
        return made if type(made) is tuple else (made,)

    def stand_ins(self, module: types.ModuleType) -> dict[str, Any]:
        """What the module finds under names of things that are not here."""
        if self.source is not None:
            return {}
        self.seed()
        builder = self.builder(module)
        return {name: builder.below(name, made) for name, made in self.experiment.get("globals", {}).items()}

    def fresh(self, module: types.ModuleType) -> tuple[Any, ...]:
        """Arguments equal to those of every other call, sharing no memory with them.

        They are copied from a first set; where they cannot be (generators, tensors inside a graph), made anew.
        """
        if self.source is None:
            self.seed()
            return self.builder(module).arguments(self.experiment["arguments"])
        if self.copied:
            try:
                if self.master is None:
                    self.master = self.make()
                return tuple(self.copy(self.master))
            except Exception:
                self.copied = False
        return self.make()

    def copy(self, value: Any) -> Any:
        memo: dict[int, Any] = {}
        for tensor in tensors(self.torch, value):
            if tensor.device.type == "cpu" and self.device.type == "cuda" and tensor.is_pinned():
                memo[id(tensor)] = tensor.detach().clone().pin_memory().requires_grad_(tensor.requires_grad)
        made = copy.deepcopy(value, memo)
        for one, other in zip(tensors(self.torch, value), tensors(self.torch, made)):  # noqa: B905 (Python 3.9)
            if one.is_leaf and one.grad is not None and other.grad is None:
                other.grad = one.grad.clone()  # a copy of a parameter has none
        return made

    def learn_widths(self, error: Exception) -> None:
        """torch names the sizes that did not fit: one of them may be what was wanted.

        Above all one that no input has: a layer has it. Those are tried right after the default, which stays first.
        """
        if isinstance(error, (RuntimeError, IndexError)):
            numbers = [int(n) for n in re.findall(r"(?<![A-Za-wyz_.])\d{1,4}", str(error)[:MAX_MESSAGE])]
            foreign = {number for number in numbers if number > 1 and number not in self.sizes.values()}
            default, *others = self.widths
            self.widths[:] = [default, *sorted(foreign), *(width for width in others if width not in foreign)]
            for number in numbers:
                for wanted in (number, number + 1):
                    if number > 1 and wanted not in self.widths and len(self.widths) < 14:
                        self.widths.append(wanted)
            for key in self.asked:
                if key == "*width":
                    self.asked[key] = list(self.widths)
                elif key.endswith(".width"):
                    self.asked[key] = [None, *self.widths]

    def size(self, arguments: Any) -> int:
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors(self.torch, arguments)) or 1

# torchlint: file-ignore[TL1, TL503, TL7] it measures: reading results, waiting, timing and tidying are its work
"""The process that measures one experiment: torch and the standard library alone, Python 3.9 or later.

`supervise.py` starts it once, to load torch, and it forks a process for each experiment, which holds both variants,
since pairs are interleaved. That process reads one line of JSON on standard input, the experiment and a nonce that the
measured code never sees, and answers on an inherited descriptor with lines of JSON that carry the nonce. What the
measured code prints goes nowhere. Its values are looked at by exact type alone, so that none of its methods run here.

Of a variant it takes: time, in interleaved pairs (A B B A), each repetition from the same inputs, weights, random state
and module globals, on processors that nobody else slows down (`cores.py`); then, in passes of their own, host waits,
kernels, memory, FLOPs and bytes, and a trace.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import functools
import gc
import inspect
import json
import math
import multiprocessing
import os
import random
import re
import resource
import select
import signal
import socket
import statistics
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from torchlint.verify import policy
from torchlint.verify.cores import CALM, Cores, count_threads, threads
from torchlint.verify.guard import MEASURED, Guard, changed, confine, landmarks, python, tame
from torchlint.verify.helpers import Recording, helpers
from torchlint.verify.search import MAX_STEMS, Outcome, search
from torchlint.verify.standins import MODULE, Batches, Builder, NeedsStem, Plain, Record, printable, shown, tensors

REAP = 0.02  # seconds between looks for workers that ended
LAST_SECONDS = 2.0  # for what workers left to end, before this process does
SUBREAPER = 36  # of prctl
MAX_COPIES = 32  # fresh inputs prepared for one timed stretch of short calls
COPY_BYTES = 1 << 29  # and their size at most
STRETCH = 1e-3  # seconds that a timed stretch of short calls should last
LONGER = 1.5e-2  # and where they share their arguments, so that many cost nothing to prepare
MAX_SHARED = 1000  # calls of such a stretch at most
LONG_STRETCH = 0.1  # and at most, where calls are timed together because one follows the other in life
NARROW = 0.04  # width of the interval, relative to the ratio, at which measuring may end
CLEAR = (0.97, 1.03)  # an interval must lie on one side of these, or be half as wide
RESAMPLES = 400
MAX_ROUNDS = 200
CALM_SAMPLES = 3  # that must be left without the others
LONG_CALL = 0.25  # seconds of a call above which passes that slow it down many times are left out
COMPARED = 1 << 24  # elements of results that are compared at once
TRIAL_SECONDS = 6.0  # of the processor, for finding inputs that the code accepts
SALTS = 6  # sets of random inputs that a trial must stand
MAX_MESSAGE = 300  # characters of an error that are looked at
CALL_SECONDS = 1.0  # that one call may take; else it is measured at smaller sizes
LONG_SECONDS = 0.4  # with its inputs, above which smaller sizes are preferred, if accepted: rounds are of four calls
MAX_EVENTS = 400  # of a trace, per lane
MAX_MARKS = 400  # of a memory curve
# Largest difference of results, relative to the largest magnitude, that counts as equal.
TOLERANCE = {"float64": 1e-6, "float32": 1e-3, "float16": 2e-2, "bfloat16": 3e-2, "complex64": 1e-3, "complex128": 1e-6}


class Failed(Exception):
    """The experiment cannot be measured; the text is what the user reads after "not run: "."""


# -- the channel -------------------------------------------------------------------------------------------------------


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


def describe(error: BaseException) -> str:
    """What was raised, said without running more of its code than `str`, and surviving that."""
    name = printable(type(error).__name__, 60)
    try:
        text = str(error) if type(error).__module__ in ("builtins", "torch", "torch.cuda") else ""
    except BaseException:
        text = ""
    first = text.strip().splitlines()[0] if type(text) is str and text.strip() else ""
    return printable(f"{name}: {first}" if first else name)


def reason(error: BaseException) -> str:
    """Why the experiment was not run, from what was raised."""
    if isinstance(error, Failed):
        return printable(str(error))
    text = describe(error)
    if isinstance(error, MemoryError) or "out of memory" in text or "allocate memory" in text or "OutOfMemory" in text:
        return f"memory limit ({text})"
    return f"raised {text}"


# -- variants and their inputs -----------------------------------------------------------------------------------------


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
        if not inspect.isgeneratorfunction(found):
            return found  # type: ignore[no-any-return]

        def consumed(*arguments: Any) -> list[Any]:
            """A generator runs as its caller loops over it; what it gave last stands for all."""
            return list(deque(found(*arguments), maxlen=1))

        return consumed


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
            foreign = [number for number in numbers if number not in self.sizes.values()]
            for number in (*foreign, *numbers):
                for wanted in (number, number + 1):
                    if number > 1 and wanted not in self.widths and len(self.widths) < 14:
                        self.widths.insert(1 if wanted in foreign else len(self.widths), wanted)
            for key in self.asked:
                if key == "*width":
                    self.asked[key] = list(self.widths)
                elif key.endswith(".width"):
                    self.asked[key] = [None, *self.widths]

    def size(self, arguments: Any) -> int:
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors(self.torch, arguments)) or 1


# -- results -----------------------------------------------------------------------------------------------------------


def same(torch: Any, one: Any, other: Any, depth: int = 20) -> tuple[bool | None, str]:
    """Whether two results agree, and where not; None where they hold objects that cannot be compared.

    Tensors and floats agree to a tolerance that follows the dtype, relative to the largest magnitude.
    """
    if not depth:
        return None, "nested too deeply to compare"
    kind = type(one)
    if issubclass(kind, torch.Tensor) and issubclass(type(other), torch.Tensor):
        return _same_tensors(torch, one.detach(), other.detach())
    numbers = (int, float, bool)
    if kind in numbers and type(other) in numbers:
        if one == other or (one != one and other != other):
            return True, ""
        if max(abs(one), abs(other)) > 1e300:
            return False, "numbers differ"
        close = abs(one - other) <= TOLERANCE["float32"] * max(abs(one), abs(other))
        return close, "" if close else printable(f"{one!r} and {other!r}")
    if (issubclass(kind, torch.Tensor) or kind in numbers) and (
        issubclass(type(other), torch.Tensor) or type(other) in numbers
    ):
        pair = [x.detach() if issubclass(type(x), torch.Tensor) else torch.tensor(x) for x in (one, other)]
        if all(x.numel() == 1 for x in pair):
            return same(torch, float(pair[0]), float(pair[1]), depth - 1)
        return False, "a number and a tensor"
    if kind is not type(other):
        if kind in (list, tuple) and type(other) in (list, tuple):
            return same(torch, list(one), list(other), depth)
        known = (list, tuple, dict, str, type(None), *numbers)
        if kind in known and type(other) in known:
            return False, f"{kind.__name__} and {type(other).__name__}"
        return None, f"values of {printable(kind.__name__, 60)} are not compared"
    if one is None:
        return True, ""
    if kind is str:
        return one == other, "" if one == other else "texts differ"
    if kind in (list, tuple):
        if len(one) != len(other):
            return False, f"{len(one)} and {len(other)} items"
        return _all(same(torch, a, b, depth - 1) for a, b in zip(one, other))  # noqa: B905 (Python 3.9)
    if kind is dict:
        keys = [key for key in one if type(key) in (str, int)]
        if len(keys) != len(one) or len(one) != len(other):
            return (None, "keys are not compared") if len(keys) != len(one) else (False, "keys differ")
        if any(key not in other for key in keys):
            return False, "keys differ"
        return _all(same(torch, one[key], other[key], depth - 1) for key in keys)
    if "numpy" in sys.modules and kind is sys.modules["numpy"].ndarray and one.dtype.kind in "fiubc":
        return same(torch, torch.from_numpy(one.copy()), torch.from_numpy(other.copy()), depth - 1)
    return None, f"values of {printable(kind.__name__, 60)} are not compared"


def _all(results: Iterator[tuple[bool | None, str]]) -> tuple[bool | None, str]:
    unknown: tuple[bool | None, str] | None = None
    for equal, why in results:
        if equal is False:
            return equal, why
        if equal is None:
            unknown = (equal, why)
    return unknown or (True, "")


def _same_tensors(torch: Any, one: Any, other: Any) -> tuple[bool | None, str]:
    if one.shape != other.shape:
        return False, f"shapes {tuple(one.shape)} and {tuple(other.shape)}"
    if one.layout != torch.strided or other.layout != torch.strided:
        return None, "sparse tensors are not compared"
    if one.numel() == 0:
        return True, ""
    names = [str(x.dtype).replace("torch.", "") for x in (one, other)]
    tolerance = max(TOLERANCE.get(name, 0.0) for name in names)
    kind = torch.complex128 if one.dtype.is_complex or other.dtype.is_complex else torch.float64
    difference = scale = 0.0
    one, other = one.reshape(-1), other.reshape(-1)
    for first in range(0, one.numel(), COMPARED):  # large results do not fit in memory twice over
        a = one[first : first + COMPARED].to(kind)
        b = other[first : first + COMPARED].to(a.device, kind)
        if kind.is_complex:
            a, b = torch.view_as_real(a), torch.view_as_real(b)
        finite = torch.isfinite(a) & torch.isfinite(b)
        if not torch.equal(torch.nan_to_num(a[~finite], 1.5), torch.nan_to_num(b[~finite], 1.5)):
            return False, "infinities or NaN differ"
        if bool(finite.any()):
            a, b = a[finite], b[finite]
            difference = max(difference, float((a - b).abs().max()))
            scale = max(scale, float(torch.maximum(a.abs(), b.abs()).max()))
    if difference <= tolerance * scale:
        return True, ""
    return False, f"they differ by {difference:.3g} where the largest magnitude is {scale:.3g}"


# -- measuring ---------------------------------------------------------------------------------------------------------


class Flags:
    """What code may switch for the whole process, put back before each repetition, so that neither variant inherits
    what the other left."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        backends, cuda = torch.backends, torch.backends.cuda
        places = [(backends.cudnn, name) for name in ("benchmark", "deterministic", "enabled", "allow_tf32")]
        names = ("allow_tf32", *(f"allow_{t}_reduced_precision_reduction" for t in ("fp16", "bf16")))
        places += [(cuda.matmul, name) for name in names if hasattr(cuda.matmul, name)]
        switches: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
            (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
            (torch.get_num_threads, torch.set_num_threads),
            (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),  # which sets allow_tf32 as well
        ]
        switches += [
            (functools.partial(getattr, place, name), functools.partial(setattr, place, name)) for place, name in places
        ]
        switches += [
            (getattr(cuda, f"{name}_sdp_enabled"), getattr(cuda, f"enable_{name}_sdp"))
            for name in ("flash", "math", "mem_efficient", "cudnn")
            if hasattr(cuda, f"enable_{name}_sdp")
        ]
        if hasattr(torch._C, "_get_sdp_priority_order"):
            switches.append((torch._C._get_sdp_priority_order, torch._C._set_sdp_priority_order))
        for kind in ("cpu", "cuda") if hasattr(torch, "get_autocast_dtype") else ():  # torch before 2.4 asks for none
            casts = [(torch.is_autocast_enabled, torch.set_autocast_enabled),
                     (torch.get_autocast_dtype, torch.set_autocast_dtype)]  # fmt: skip
            switches += [(functools.partial(read, kind), functools.partial(write, kind)) for read, write in casts]
        switches.append((torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled))
        if hasattr(torch._C, "_check_sparse_tensor_invariants"):
            switches.append((torch._C._check_sparse_tensor_invariants, torch._C._set_check_sparse_tensor_invariants))
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            switches += [(torch.cuda.current_stream, torch.cuda.set_stream),
                         (torch.cuda.get_sync_debug_mode, torch.cuda.set_sync_debug_mode)]  # fmt: skip
        if "numpy" in sys.modules:
            numpy = sys.modules["numpy"]
            switches.append((numpy.geterr, lambda values: numpy.seterr(**values)))
        self._switches = [(read, write, read()) for read, write in switches]
        self._newer = getattr(cuda.matmul, "fp32_precision", None)
        self._dtype = torch.get_default_dtype()
        self._modes = self._left_on()

    def restore(self, placed: bool = False) -> None:
        """Put everything back.

        Args:
            placed: leave the default device, which a module that is kept has set when it was loaded.

        Raises:
            Failed: something was switched on that only whoever did so can switch off.
        """
        torch = self._torch
        torch.set_grad_enabled(True)
        torch.set_default_dtype(self._dtype)
        torch.use_deterministic_algorithms(False)
        chosen = getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None)
        if chosen is not None and not placed:
            torch.set_default_device(None)
        for read, write, value in self._switches:
            try:
                now = read()
            except RuntimeError:  # torch has two names for one switch, and does not read the older if the newer is set
                torch.backends.cuda.matmul.fp32_precision = self._newer
                now = read()
            if now != value:
                write(value)
        for name, mode in self._left_on().items():
            if mode != self._modes[name]:
                raise Failed(f"it leaves {name} on, which changes what runs after it")

    def _left_on(self) -> dict[str, Any]:
        autograd = self._torch._C._autograd
        hooks = getattr(autograd, "_top_saved_tensors_default_hooks", None)
        modes = getattr(self._torch._C, "_len_torch_function_stack", lambda: 0)()
        default = getattr(getattr(self._torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None)
        return {
            "inference mode": self._torch.is_inference_mode_enabled(),
            "a profiler": autograd._profiler_enabled(),
            "a mode": modes - (default is not None),  # a default device, which is put back, is one as well
            "hooks of saved tensors": hooks is not None and hooks(True) is not None,
        }


class Bench:
    """Measures the two variants of one experiment."""

    def __init__(self, torch: Any, experiment: dict[str, Any], device: Any, seconds: float, cores: Cores) -> None:
        self.torch = torch
        self.device = device
        self.cores = cores
        self.cuda = device.type == "cuda"
        self.seconds = seconds
        self.experiment = experiment
        self.compiles = experiment.get("criterion") == "compile"  # compiling is what is measured
        self.keep = "compile" in experiment.get("grants", ()) and not self.compiles
        self.recording = Recording()
        self.flags = Flags(torch)
        self.variants = self.both(device)
        self.inputs = Inputs(experiment, torch, device)
        self.sync = torch.cuda.synchronize if self.cuda else (lambda: None)
        self.clock = time.perf_counter
        self.early = _EarlyReadings(torch) if experiment.get("criterion") == "clock" else None
        self.phases: dict[str, float] = {}
        self.shared = False  # whether the calls of a stretch share their arguments
        self.alone = False  # whether the code is known to start no threads and no processes
        self.threads = count_threads()
        loaders = torch.utils.data.dataloader
        ends = ("__init__", "_shutdown_workers")
        self.starts = _MethodsWatch(loaders._MultiProcessingDataLoaderIter, ends, self.clock)
        self.fetches = _MethodsWatch(loaders._BaseDataLoaderIter, ("__next__",), self.clock)
        self.startups: dict[str, list[float]] = {"before": [], "after": []}  # seconds of each call

    def both(self, device: Any) -> tuple[Variant, Variant]:
        names = helpers(self.torch, device, self.recording)
        entry, allow = self.experiment["entry"], self.experiment.get("allow", ())
        made = [Variant(label, self.experiment[label], entry, self.keep, names, allow) for label in ("before", "after")]
        return made[0], made[1]

    def phase(self, name: str, started: float) -> None:
        """Keep how long a part of the experiment took, in seconds."""
        self.phases[name] = round(self.phases.get(name, 0.0) + self.clock() - started, 2)

    def prepare(self, variant: Variant, copies: int = 1) -> tuple[Callable[..., Any], list[tuple[Any, ...]]]:
        """The variant's entry in a fresh module, and fresh arguments for `copies` calls, or the same for all."""
        self.flags.restore(placed=self.keep)
        self.check_left()
        if self.compiles:
            self.torch._dynamo.reset()
        module = variant.load(self.inputs.stand_ins)
        arguments = [self.inputs.fresh(module) for _ in range(1 if self.shared else copies)]
        self.recording.rewind()
        self.inputs.seed()
        return variant.function(module), arguments * copies if self.shared else arguments

    def check_left(self) -> None:
        """See that no process that an earlier call started goes on beside the next.

        Raises:
            Failed: one does, though nothing of the earlier call is left; a module that is kept may keep its loader.
        """
        if not self.keep and multiprocessing.active_children():
            gc.collect()
            if multiprocessing.active_children():
                raise Failed("it leaves processes running, which slow down what runs after it")

    def call(self, variant: Variant) -> tuple[Any, tuple[Any, ...]]:
        """One call; its result and what it left of its arguments."""
        entry, (arguments,) = self.prepare(variant)
        result = entry(*arguments)
        self.sync()
        return result, arguments

    def sample(self, variant: Variant, copies: int) -> Sample:
        """The time of one call: `copies` calls one after the other, drained at both ends.

        Where they share their arguments, one goes before them, untimed: in life those are not seen for the first time.
        Starting and ending the workers of loaders is kept apart: it comes once for a pass over data that is far longer
        in life.
        """
        entry, calls = self.prepare(variant, copies)
        pulse = self.cores.settle(self.alone)
        if self.shared:
            entry(*calls[0])
        self.sync()
        with self.starts:
            started = self.clock()
            for arguments in calls:
                entry(*arguments)
            self.sync()
            taken = self.clock() - started
        self.startups[variant.label].append(self.starts.seconds / copies)
        return Sample((taken - self.starts.seconds) / copies, max(pulse, self.cores.pulse()))

    def is_alone(self) -> bool:
        """Whether the code, which has run, started no threads and no processes: neither workers nor a compiler."""
        started = count_threads() > self.threads or any(any(times) for times in self.startups.values())
        return not (started or self.keep or self.compiles)

    def may_share(self) -> bool:
        """Whether calls one after the other may be given the same arguments: none changes the shape of anything."""
        if self.compiles or self.keep or self.experiment.get("criterion") in ("growth", "reads"):
            return False
        for variant in self.variants:
            if variant.replays:
                return False
            entry, (arguments,) = self.prepare(variant)
            seen = []
            for _ in range(3):
                try:
                    result = entry(*arguments)
                except Exception:
                    return False
                seen.append([(x.shape, x.dtype) for x in tensors(self.torch, [result, arguments])])
            if any(shapes != seen[0] for shapes in seen):
                return False
        return True

    def run(self) -> dict[str, Any]:
        begun = self.clock()
        if self.inputs.source is None:
            trial = self.experiment.get("trial")
            self.fit(self.find() if trial is None else trial)
        self.phase("fit", begun)
        first = {}
        results = {}
        for variant in self.variants:
            started = self.clock()
            results[variant.label] = self.call(variant)
            first[variant.label] = self.clock() - started
        equal, difference = self.compare(results)
        if equal is False and self.experiment.get("probe"):
            raise Failed(f"what it was to be measured against computes something else: {difference}")
        outcome: dict[str, Any] = {"equal": equal, "difference": difference, "inputs": self.shown_inputs()}
        results.clear()
        self.phase("first", begun)
        begun = self.clock()
        copies = self.choose_copies()
        self.alone = self.is_alone()
        outcome.update(self.pairs(copies))
        self.phase("pairs", begun)
        outcome.update(
            calls_per_sample=copies["before"],
            shared=self.shared,
            settled={"sizes": self.inputs.sizes, "copies": copies, "shared": self.shared, "alone": self.alone},
        )
        for label in ("before", "after"):
            outcome[label]["first_us"] = first[label] * 1e6
        if self.experiment.get("criterion") == "reads":
            outcome["wrong_reads"] = self.wrong_reads()
        if self.experiment.get("criterion") == "clock":
            outcome["clock"] = self.clocks()
            outcome["unready"] = self.early.count if self.early is not None else 0
        self.observe(outcome)
        outcome["phases_s"] = self.phases
        return outcome

    def again(self, settled: dict[str, Any]) -> dict[str, Any]:
        """The times and their ratio once more, with all that another process has settled.

        Raises:
            Failed: the code does not accept here what it accepted there.
        """
        if self.inputs.source is None:
            self.inputs.sizes = settled["sizes"]
            outcome = self.attempt(self.experiment["trial"])
            if outcome.error is not None:
                raise Failed(self.told(outcome.error))
        self.shared, self.alone = settled["shared"], settled["alone"]
        for variant in self.variants:
            self.call(variant)
        return self.pairs(settled["copies"])

    def pairs(self, copies: dict[str, int]) -> dict[str, Any]:
        """Times of both codes, and their ratio."""
        self.record(copies["after"])
        gc.collect()
        gc.freeze()
        gc.disable()
        rounds = self.measure(copies)
        self.cores.release()
        gc.enable()
        series = [calm_seconds([sample for round_ in rounds for sample in round_[index]]) for index in (0, 1)]
        ratios = [compared(round_) for round_ in rounds]
        return {
            "rounds": len(rounds),
            "ratios": ratios,
            "ratio": interval([ratios]),
            **{
                label: {**spread(times), "startup_us": statistics.median(self.startups[label]) * 1e6 or None}
                for label, times in zip(("before", "after"), series)  # noqa: B905 (Python 3.9)
            },
        }

    def find(self) -> dict[str, Any]:
        """What the plan leaves open, decided on the host at small sizes: a trial that the code accepts.

        Raises:
            Failed: it accepted none; the text says what came of the best.
        """
        self.inputs.sizes, self.inputs.device = self.experiment["sizes"][-1], self.torch.device("cpu")
        device_variants, self.variants = self.variants, self.both(self.inputs.device)
        begun, used = self.clock(), time.process_time()
        start = self.experiment.get("trial") or {"dtype": self.experiment.get("dtype") or "float32"}

        def time_left() -> bool:
            """Of the processor, so that a busy machine finds the same; by the clock no more than twice as much."""
            return time.process_time() - used < TRIAL_SECONDS and self.clock() - begun < 2 * TRIAL_SECONDS

        def attempt(trial: dict[str, Any]) -> Outcome:
            try:
                with limited(2 * TRIAL_SECONDS):
                    outcome = self.attempt(trial)
                    for self.inputs.salt in range(1, SALTS) if outcome.error is None else ():
                        again = self.attempt(trial)  # what is accepted must not hang on the numbers that were drawn
                        outcome = outcome if again.error is None else again
                    return outcome
            except TooSlow:
                return Outcome(Failed("time limit: one call takes too long, even at small sizes"))
            finally:
                self.inputs.salt = 0

        with on_host(self.torch), one_thread(self.torch), without_cuda(self.torch):
            measured, self.flags = self.flags, Flags(self.torch)
            trial, outcome = search(attempt, start, time_left)
            self.flags = measured
        self.inputs.device, self.variants = self.device, device_variants
        if outcome.error is not None:
            raise Failed(self.told(outcome.error)) from outcome.error
        return trial

    def fit(self, trial: dict[str, Any]) -> None:
        """Choose the sizes, on the device: the largest at which a call takes no longer than there is room for.

        Raises:
            Failed: the code accepted none; the text says what came of the smallest.
        """
        sizes = self.experiment["sizes"]
        outcome = Outcome(Failed("there are no sizes"))
        accepted: dict[str, int] | None = None
        for index, chosen in enumerate(sizes):
            self.inputs.sizes = chosen
            try:
                with limited(CALL_SECONDS if index + 1 < len(sizes) else 8 * CALL_SECONDS):
                    outcome = self.attempt(trial)
            except TooSlow:
                outcome = Outcome(Failed("time limit: one call takes too long, even at small sizes"))
            if outcome.error is None:
                accepted = chosen
                if index + 1 == len(sizes) or not self.is_long():
                    return
            elif accepted is not None:
                break
            gc.collect()
        if accepted is None:
            assert outcome.error is not None
            raise Failed(self.told(outcome.error))
        self.inputs.sizes = accepted
        self.attempt(trial)

    def is_long(self) -> bool:
        """Whether a call of the code as written, which has run before, leaves room for few rounds, inputs and all."""
        started = self.clock()
        entry, (arguments,) = self.prepare(self.variants[0])
        entry(*arguments)
        self.sync()
        return self.clock() - started > LONG_SECONDS

    def told(self, error: BaseException) -> str:
        place = where(error)
        return f"{reason(error)}{f' at {place}' if place else ''}"

    def attempt(self, trial: dict[str, Any]) -> Outcome:
        """Run both variants with a trial: how far they came, and whether the first reached the flagged line."""
        self.inputs.trial, self.inputs.stems = trial, {}
        for _ in range(MAX_STEMS):
            self.inputs.asked = {}
            seen: set[int] = set()
            try:
                with self.eager(), self.watched(seen):
                    self.call(self.variants[0])
                first, last = self.experiment.get("rows") or (0, 0)
                if last and not seen.intersection(range(first, last + 1)):
                    error = Failed("the flagged line was not reached")
                    return Outcome(error, len(seen), frozenset(), self.inputs.asked, ended=True)
                with self.eager():
                    self.record(1)
                    self.call(self.variants[1])
                return Outcome(None, len(seen), frozenset(), self.inputs.asked)
            except NeedsStem as new:
                self.inputs.stems.setdefault(new.choice, []).append(new.stem)
            except PermissionError:
                raise
            except Exception as error:
                self.inputs.learn_widths(error)
                return Outcome(error, len(seen), self.names_near(error), self.inputs.asked)
        return Outcome(Failed("a stand-in for a network is called with ever new kinds of input"), 0, frozenset(), {})

    def names_near(self, error: BaseException) -> frozenset[str]:
        """The names that stand in the lines of the measured code that led to an error."""
        lines = self.experiment["before"].split("\n")
        rows = [f.lineno or 1 for f in traceback.extract_tb(error.__traceback__) if f.filename in MEASURED]
        return frozenset(re.findall(r"[A-Za-z_]\w*", " ".join(lines[row - 1] for row in rows if row <= len(lines))))

    @contextlib.contextmanager
    def eager(self) -> Iterator[None]:
        """While inputs are looked for, compiled code runs as it is written."""
        stance = getattr(self.torch.compiler, "set_stance", None)
        compiled = "compile" in self.experiment.get("grants", ())
        self.inputs.eager = True
        try:
            with stance("force_eager") if compiled and stance is not None else contextlib.nullcontext():
                yield
        finally:
            self.inputs.eager = False

    def record(self, copies: int) -> None:
        """Record what the repaired code replays, in the order in which the calls of a sample read it."""
        variant = self.variants[1]
        if not variant.replays:
            return
        entry, calls = self.prepare(variant, copies)
        self.recording.start()
        for arguments in calls:
            entry(*arguments)
        self.sync()
        self.recording.rewind()

    @contextlib.contextmanager
    def watched(self, seen: set[int]) -> Iterator[None]:
        """Collect the lines of the code as written that are run."""

        def trace(frame: Any, event: str, argument: Any) -> Any:
            if frame.f_code.co_filename != "<before>":
                return None
            if event == "line":
                seen.add(frame.f_lineno)
            return trace

        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(None)

    def shown_inputs(self) -> list[dict[str, str]] | None:
        """The arguments and where each comes from; None where the plan says it already."""
        if self.inputs.source is not None:
            return None
        made = self.inputs.fresh(self.variants[0].load(self.inputs.stand_ins))
        return [
            {"name": d["name"], "shown": shown(self.torch, value), "origin": d.get("origin", "")}
            for d, value in zip(self.experiment["arguments"], made)  # noqa: B905 (Python 3.9)
        ]

    def compare(self, results: dict[str, Any]) -> tuple[bool | None, str]:
        """Whether both variants computed the same: results and, above the template rung, what they left behind."""
        (one, left), (other, right) = results["before"], results["after"]
        equal = same(self.torch, one, other)
        if equal[0] is False or self.experiment["rung"] == "template":
            return equal
        before, after = tensors(self.torch, left), tensors(self.torch, right)
        state = same(self.torch, before, after)
        if state[0] is False and len(before) == len(after):
            return False, f"what is left in the arguments: {state[1]}"
        return equal

    def choose_copies(self) -> dict[str, int]:
        """How many calls of each variant make a timed stretch: enough for the clock, few enough for the memory."""
        taken = {variant.label: self.sample(variant, 1).seconds for variant in self.variants}
        for variant in self.variants if min(taken.values()) < 0.05 else ():
            taken[variant.label] = min(taken[variant.label], self.sample(variant, 1).seconds)
        longest, shortest = max(taken.values()), min(taken.values())
        together = min(int(self.experiment.get("calls", 1)), max(1, int(LONG_STRETCH / longest)))
        wanted = max(math.ceil(STRETCH / shortest), together)
        if self.keep:
            return dict.fromkeys(taken, min(wanted, 4))
        length = min(LONGER, self.seconds / 100)
        self.shared = shortest < length and self.may_share()
        if self.shared:
            copies = dict.fromkeys(taken, 1)
            for _ in range(2):  # a call among many takes less time than one alone
                copies = {k: max(together, min(MAX_SHARED, math.ceil(length / once))) for k, once in taken.items()}
                taken = {v.label: self.sample(v, copies[v.label]).seconds for v in self.variants}
            return copies
        if wanted == 1:
            return dict.fromkeys(taken, 1)
        size = self.inputs.size(self.inputs.fresh(self.variants[0].load(self.inputs.stand_ins)))
        return dict.fromkeys(taken, max(1, min(MAX_COPIES, wanted, COPY_BYTES // size)))

    def measure(self, copies: dict[str, int]) -> list[Round]:
        """Rounds of A B B A, after warm-up, until their ratio is narrow or time is up."""
        a, b = self.variants
        end = self.clock() + self.seconds
        warm_until = self.clock() + self.seconds / 4
        history: dict[str, list[float]] = {"before": [], "after": []}
        for turn in range(20):
            for variant in (a, b):
                history[variant.label].append(self.sample(variant, copies[variant.label]).seconds)
            steady = all(max(last) <= 1.1 * min(last) for last in (series[-3:] for series in history.values()))
            if (turn >= 2 and steady) or self.clock() > warm_until:
                break
        rounds: list[Round] = []
        check = 5
        for count in range(1, MAX_ROUNDS + 1):
            first, second, third, fourth = (self.sample(v, copies[v.label]) for v in (a, b, b, a))
            rounds.append(((first, fourth), (second, third)))
            if self.clock() > end and count >= (2 if self.compiles else 3):
                break
            if count >= check:
                check = math.ceil(count * 1.4)
                if is_narrow(interval([[compared(round_) for round_ in rounds]])):
                    break
            gc.collect(0)
        return rounds

    # -- passes of their own -------------------------------------------------------------------------------------------

    def observe(self, outcome: dict[str, Any]) -> None:
        """Add what a call of each variant does, besides how long it takes. What cannot be taken of it is None.

        The profiler comes last: any use of it, even for the host alone, has it listen to the device, and that slows
        each launch for as long as the process lives.
        """
        for take in (self.memory, self.waits, self.work, self.trace):
            for variant in self.variants:
                seen, started = outcome[variant.label], self.clock()
                try:
                    seen.update(take(variant, seen["median_us"] * 1e-6))
                except Exception as error:
                    seen.setdefault("missing", []).append(f"{take.__name__}: {describe(error)}")
                self.phase(take.__name__, started)

    def memory(self, variant: Variant, seconds: float) -> dict[str, Any]:
        """Peak bytes above what was there before the call, and growth per step after the first steps."""
        torch = self.torch
        entry, (arguments,) = self.prepare(variant)
        gc.collect()
        self.sync()
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
            base = torch.cuda.memory_allocated()
            current: Callable[[], int] = torch.cuda.memory_allocated
            meter: Any = contextlib.nullcontext()
        else:
            meter = _HostMeter(torch)
            base, current = 0, lambda: meter.live
        marks: list[int] = []
        with meter, steps(torch, lambda: marks.append(current() - base)):
            result = entry(*arguments)
            self.sync()
            peak = torch.cuda.max_memory_allocated() - base if self.cuda else meter.peak
            kept = current() - base
        del result
        return {
            "peak_bytes": max(0, peak),
            "kept_bytes": kept,
            "growth_bytes_per_step": slope(marks),
            "memory_curve": thin(marks, MAX_MARKS),
        }

    def waits(self, variant: Variant, seconds: float) -> dict[str, Any]:
        """How often and how long the host waited for the device, with the lines that did."""
        if not self.cuda:
            return {"waits": None, "wait_us": None}
        entry, (arguments,) = self.prepare(variant)
        self.sync()
        watch = _WaitWatch(self.torch, self.clock, timed=not self.keep)
        with watch:
            entry(*arguments)
        self.sync()
        if self.keep:
            return {"waits": watch.count, "wait_us": None}
        return {"waits": watch.count, "wait_us": watch.seconds * 1e6, "wait_places": watch.places()}

    def work(self, variant: Variant, seconds: float) -> dict[str, Any]:
        """FLOPs, bytes that the operators read and wrote, operators, and time spent waiting for batches."""
        if self.keep or seconds > LONG_CALL:
            return {}  # a mode would make the compiled code run uncompiled
        from torch.utils.flop_counter import FlopCounterMode

        entry, (arguments,) = self.prepare(variant)
        counter = FlopCounterMode(display=False)
        meter = _traffic_meter(self.torch)
        with self.fetches, counter, meter:
            entry(*arguments)
        self.sync()
        return {
            "flops": counter.get_total_flops(),
            "bytes": meter.bytes,
            "operators": meter.count,
            "fetch_us": self.fetches.seconds * 1e6,
        }

    def trace(self, variant: Variant, seconds: float) -> dict[str, Any]:
        """Kernels, time the device was busy, and the two timelines of one call."""
        from torch.profiler import ProfilerActivity, profile

        if seconds > LONG_CALL:
            return {}
        entry, (arguments,) = self.prepare(variant)
        self.sync()
        taken = profile(activities=[ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if self.cuda else []))
        guard = self.experiment["guard"]
        with guard.open():  # it loads libraries
            taken.start()
        try:
            with self.torch.profiler.record_function("torchlint-call"):
                entry(*arguments)
                self.sync()
        finally:
            with guard.open():
                taken.stop()
        with guard.open():
            path = os.path.join(os.getcwd(), "trace.json")
            taken.export_chrome_trace(path)
            with open(path, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            os.remove(path)
        return read_trace(events, self.cuda)

    def wrong_reads(self) -> dict[str, int]:
        """How many of ten calls of each variant gave another result than the repaired code does when drained.

        Before each, the same is called with other inputs, so that memory read too early holds other data.
        """
        truth, _ = self.call(self.variants[1])
        wrong = {}
        for variant in self.variants:
            wrong[variant.label] = 0
            for _ in range(10):
                entry, (arguments,) = self.prepare(variant)
                with self.torch.no_grad():
                    for tensor in tensors(self.torch, arguments):
                        if tensor.is_floating_point():
                            tensor.neg_()
                entry(*arguments)
                self.sync()
                wrong[variant.label] += same(self.torch, truth, self.call(variant)[0])[0] is False
        return wrong

    def clocks(self) -> dict[str, Any]:
        """Seconds that the flagged reading of a clock says have passed, in the code as written and as repaired.

        Of several readings, as in a loop, the median, and that of nine calls. Empty where nothing of the kind is read;
        "apart" says whether no call of the one said what a call of the other did.
        """
        reported: dict[str, list[Sample]] = {"before": [], "after": []}
        flagged: list[int] = []
        for variant in self.variants:
            for _ in range(9):
                watch = _ClockWatch(self.torch)
                with watch:
                    entry, (arguments,) = self.prepare(variant)
                    if self.shared:
                        entry(*arguments)
                        self.sync()
                    watch.spans.clear()
                    pulse = self.cores.settle(self.alone)
                    entry(*arguments)
                    self.sync()
                    pulse = max(pulse, self.cores.pulse())
                if variant is self.variants[0]:
                    flagged = watch.nearest((self.experiment.get("rows") or (0, 0))[1])
                # The repair adds a wait: the readings are as many, in rows of their own.
                with contextlib.suppress(IndexError):
                    read = statistics.median(watch.spans[i][1] for i in flagged)
                    reported[variant.label].append(Sample(read, pulse))
        self.cores.release()
        before, after = (calm_seconds(samples) for samples in reported.values())
        if not before or not after:
            return {}
        return {
            "before": statistics.median(before),
            "after": statistics.median(after),
            "apart": max(before) < min(after) or max(after) < min(before),
        }


class _EarlyReadings:
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


class _ClockWatch:
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


class _HostMeter:
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


def _traffic_meter(torch: Any) -> Any:
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


class _WaitWatch:
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


class _MethodsWatch:
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


ORDER = ("forward", "backward", "step")  # what a training step does, in its order


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


# -- statistics --------------------------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """Seconds of a call, and the slower of the loops that ran before and after it."""

    seconds: float
    pulse: float


Round = tuple[tuple[Sample, Sample], tuple[Sample, Sample]]  # both of the code as written, both of its repair


def compared(round_: Round) -> dict[str, float]:
    """A round's ratio, before over after, and the slowest of the loops beside its samples."""
    before, after = (statistics.mean(sample.seconds for sample in samples) for samples in round_)
    return {"ratio": before / after, "pulse": max(sample.pulse for samples in round_ for sample in samples)}


def calm_seconds(samples: list[Sample]) -> list[float]:
    """The seconds of the samples beside which the loop was as fast as ever or, where these are too few, of all."""
    fastest = min((sample.pulse for sample in samples), default=0.0)
    kept = [sample.seconds for sample in samples if sample.pulse <= CALM * fastest]
    return kept if len(kept) >= CALM_SAMPLES else [sample.seconds for sample in samples]


def interval(processes: Sequence[Sequence[dict[str, float]]]) -> dict[str, float]:
    """The median of the ratios of all rounds, and its 95 % interval, by drawing processes and then rounds of them.

    Each process counts as much as any other, however many rounds it had.

    A processor that others use as well slows both codes of a round, so that their ratio mostly stands, if less surely,
    but not where the host bounds one code and the device the other. So of a process a round weighs the less the slower
    the loop was beside it.

    Args:
        processes: of each process that measured, its rounds, as `compared` gives them.
    """
    groups = [[(one["ratio"], 1 / one["pulse"]) for one in rounds] for rounds in processes]
    draw = random.Random(0)
    medians = sorted(
        _median([draw.choices(rounds, k=len(rounds)) for rounds in draw.choices(groups, k=len(groups))])
        for _ in range(RESAMPLES)
    )
    return {
        "median": _median(groups),
        "low": medians[int(0.025 * RESAMPLES)],
        "high": medians[int(0.975 * RESAMPLES) - 1],
    }


def _median(groups: Sequence[Sequence[tuple[float, float]]]) -> float:
    """The middle one of all numbers with their weights, where those of each group together weigh the same."""
    weighed = []
    for group in groups:
        total = sum(weight for _, weight in group)
        weighed += [(number, weight / total) for number, weight in group]
    weighed.sort()
    half, passed = len(groups) / 2, 0.0
    for index, (number, weight) in enumerate(weighed):
        passed += weight
        if math.isclose(passed, half) and index + 1 < len(weighed):
            return (number + weighed[index + 1][0]) / 2
        if passed > half:
            return number
    return weighed[-1][0]


def is_narrow(ratio: dict[str, float]) -> bool:
    width = (ratio["high"] - ratio["low"]) / ratio["median"]
    clear = all(ratio["high"] < bound or ratio["low"] > bound for bound in CLEAR)
    within = ratio["low"] > CLEAR[0] and ratio["high"] < CLEAR[1]
    return width <= (NARROW if clear or within else NARROW / 2)


def spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    quarter = len(ordered) // 4
    return {"median_us": statistics.median(ordered) * 1e6, "iqr_us": (ordered[-1 - quarter] - ordered[quarter]) * 1e6}


def slope(marks: list[int]) -> float | None:
    """Bytes per step by the median of slopes between all pairs, the first fifth left out; None for under four steps."""
    tail = marks[len(marks) // 5 :] if len(marks) >= 10 else marks[1:]
    tail = thin(tail, 100)
    if len(tail) < 3:
        return None
    stride = max(1, len(marks) // 100) if len(marks) >= 100 else 1
    slopes = [(b - a) / (j - i) for i, a in enumerate(tail) for j, b in enumerate(tail) if j > i]
    return statistics.median(slopes) / stride


def thin(values: list[Any], limit: int) -> list[Any]:
    """At most `limit` of the values, evenly spread."""
    stride = max(1, math.ceil(len(values) / limit))
    return values[::stride]


# -- traces ------------------------------------------------------------------------------------------------------------

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


# -- the machine -------------------------------------------------------------------------------------------------------


def machine(torch: Any, device: Any) -> dict[str, Any]:
    """What was measured on: hardware, versions, and the ceilings that say which bottleneck a call is in.

    Bandwidth counts bytes read and written by a large copy; matmul rates are those of a large square product of random
    numbers; `launch_us` is the host's time for one small operator, `wait_us` that of reading one ready number.
    """
    cuda = device.type == "cuda"
    sync = torch.cuda.synchronize if cuda else (lambda: None)
    about: dict[str, Any] = {
        "device": device.type,
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda,
        "python": sys.version.split()[0],
        "threads": torch.get_num_threads(),
        "name": torch.cuda.get_device_name(device) if cuda else cpu_name(),
        "memory_bytes": torch.cuda.get_device_properties(device).total_memory if cuda else None,
        "driver": driver_version() if cuda else None,
        "capability": ".".join(map(str, torch.cuda.get_device_capability(device))) if cuda else None,
    }

    def best(work: Callable[[], Any], repeat: int = 5) -> float:
        work()
        sync()
        taken = []
        for _ in range(repeat):
            started = time.perf_counter()
            work()
            sync()
            taken.append(time.perf_counter() - started)
        return min(taken)

    block = torch.ones((1 << 30 if cuda else 1 << 26) // 4, device=device)
    target = torch.empty_like(block)
    about["bandwidth"] = 2 * block.numel() * 4 / best(lambda: target.copy_(block))
    width = 8192 if cuda else 512
    rates = {}
    for name in ("float32", "bfloat16", "float16") if cuda else ("float32",):
        a = torch.randn(width, width, device=device, dtype=getattr(torch, name))
        rates[name] = 2 * width**3 / best(lambda a=a: a @ a)  # type: ignore[misc]
        del a
    about["matmul_flops"] = rates
    small = torch.zeros(1, device=device)

    def launches() -> None:
        for _ in range(1000):
            small.add_(1.0)

    launches()
    sync()
    started = time.perf_counter()
    launches()
    about["launch_us"] = (time.perf_counter() - started) * 1e3
    sync()
    about["wait_us"] = best(small.item, 20) * 1e6
    if cuda:
        host = torch.empty(1 << 28, dtype=torch.uint8)
        about["pageable_copy"] = host.numel() / best(lambda: block.view(torch.uint8)[: host.numel()].copy_(host), 3)
        pinned = torch.empty(1 << 28, dtype=torch.uint8, pin_memory=True)
        about["pinned_copy"] = pinned.numel() / best(lambda: block.view(torch.uint8)[: pinned.numel()].copy_(pinned), 3)
    return about


def cpu_name() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return printable(line.split(":", 1)[1].strip(), 100)
    return "CPU"


def driver_version() -> str | None:
    with contextlib.suppress(OSError), open("/proc/driver/nvidia/version", encoding="utf-8", errors="replace") as file:
        words = file.readline().split()
        return next((word for word in words if word.count(".") >= 1 and word[0].isdigit()), None)
    return None


# -- the process -------------------------------------------------------------------------------------------------------


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
        if cores:  # the last is left to backward until its thread is known
            os.sched_setaffinity(0, cores[:-1])
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
    if device.type == "cuda":
        torch.cuda.manual_seed_all(0)
        torch.cuda.synchronize()


class TooSlow(BaseException):
    """A call that takes longer than a measurement has room for; not an Exception, so that code rarely catches it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooSlow in what takes longer. It chooses sizes; what ends an experiment is outside, in `supervise.py`."""

    def late(*_: Any) -> None:
        if sys.gettrace() is None:
            raise TooSlow
        # Raised out of a function that traces, it would end the tracing in the name of measured code, which may not.
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_REAL, 1e-3)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


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
    guard = spec["guard"] = Guard(granted, os.getcwd())
    tame(torch)
    confine(os.getcwd(), programs="compile" in granted)
    watched = functools.partial(landmarks, torch, "compile" in granted, HostEvent, Batches, Plain, Record)
    clean = watched()
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
    other = changed(clean, watched(), torch)
    if other is not None:
        raise Failed(f"it changed {other}")
    return outcome


def where(error: BaseException) -> str:
    """The line of the measured code that raised."""
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__, limit=-30)
    place = next((f"{f.filename.strip('<>')}:{f.lineno}" for f in reversed(frames) if f.filename.startswith("<")), "")
    return printable(place)

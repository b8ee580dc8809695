"""What measured code may switch in torch and NumPy, put back before each call.

Torch and the standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from torchlint.verify.failures import Failed

PLAIN = (int, float, str, bool, type(None))


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
            (torch.is_warn_always_enabled, torch.set_warn_always),
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
            switches.append((lambda: _plain(numpy.get_printoptions()), lambda values: numpy.set_printoptions(**values)))
        shown = vars(torch._tensor_str.PRINT_OPTS)
        switches.append((lambda: _plain(shown), shown.update))
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


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options of printing; what is no plain value, as no library sets them, for nothing that it could be equal to."""
    return {name: value if type(value) in PLAIN else object() for name, value in options.items()}

"""The words by which programs name accelerators: types of devices, methods that move to them, modules that run them.

Sources: the PyTorch documentation (torch 2.11), and the backends that rename `privateuse1`, whose methods and modules
torch generates: torch_npu, torch_mlu, torch_musa, Habana's bridge.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ACCELERATORS", "ASKED", "MOVES", "PLACING", "RUNTIMES", "of_runtime"]

# What stands in a device string before the number, but for the host.
ACCELERATORS: Final = ("cuda", "mps", "xpu", "npu", "hpu", "mlu", "xla", "musa", "privateuseone")
# Methods of tensors and modules that bring them to a device of that type.
MOVES: Final = ("cuda", "xpu", "npu", "hpu", "mlu", "musa")
PLACING: Final = ("to", *MOVES)  # those, and the one that is told where to
# Attributes of a tensor that say whether it is on a device of that type.
ASKED: Final = frozenset(f"is_{kind}" for kind in ACCELERATORS)
# Modules of torch that run a type of device: streams, events, memory, a wait for all of it.
RUNTIMES: Final = frozenset("cuda mps xpu npu hpu mlu musa mtia accelerator".split())
# What these backends' own packages call them.
_BRIDGES: Final = {
    "torch_npu.npu": "torch.npu",
    "torch_mlu.mlu": "torch.mlu",
    "torch_musa.musa": "torch.musa",
    "habana_frameworks.torch.hpu": "torch.hpu",
}


def of_runtime(qual: str) -> str:
    """A name of any such module as that of CUDA's, whose interface they share: what holds for one holds for all."""
    for bridge, module in _BRIDGES.items():
        if qual.startswith(bridge) and qual[len(bridge) :][:1] in ("", "."):
            qual = module + qual[len(bridge) :]
    head, _, rest = qual.removeprefix("torch.").partition(".")
    return qual if not qual.startswith("torch.") or head not in RUNTIMES else "torch.cuda" + (rest and f".{rest}")

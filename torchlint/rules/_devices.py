"""Which kind of accelerator a program is written for, as far as it says so: what to write there instead."""

from __future__ import annotations

from torchlint.knowledge.devices import ACCELERATORS, MOVES, RUNTIMES
from torchlint.semantics import sites
from torchlint.semantics.model import Model


def named_kinds(site: sites.Call) -> set[str]:
    """The types of devices that a call names: by its method, or as text."""
    texts = (argument.value.const for argument in site.arguments)
    kinds = {text.split(":", 1)[0] for text in texts if isinstance(text, str)} & set(ACCELERATORS)
    return kinds | ({site.method} if site.method in MOVES else set())


def runtime(model: Model) -> str:
    """The module that runs the devices that a file names: CUDA's, where it names none or several."""
    kinds = {kind for site in model.sites.calls for kind in named_kinds(site)}
    kind = kinds.pop() if len(kinds) == 1 else "cuda"
    return f"torch.{kind}" if kind in RUNTIMES else "torch.accelerator"

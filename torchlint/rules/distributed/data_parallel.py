"""TL903: one process that drives all devices."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.knowledge.devices import MOVES
from torchlint.knowledge.names import DATA_PARALLEL
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_NAMES_ONLY = frozenset(("cpu", "eval", "load_state_dict", "module", "state_dict", "to", *MOVES))


class DataParallel(Rule):
    code = "TL903"
    name = "data-parallel"
    bottleneck = "distributed"
    impact = Impact.HIGH
    summary = "One process drives all devices, and copies the model to them on every step"
    calls = (
        *DATA_PARALLEL,
        "torch.nn.parallel.data_parallel.DataParallel",
        "torch.nn.parallel.data_parallel",
        "torch.nn.parallel.data_parallel.data_parallel",
    )
    words = ("DataParallel", "data_parallel")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if site.function.kind is not Kind.MODULE and site.arguments:
            yield from self._report(site, model)

    def on_class(self, site: sites.Class, model: Model) -> Iterator[Report]:
        """A class of the file's own that is one: where it is made."""
        if site.info.is_a(*self.calls):
            for node in site.info.instances:
                made = model.call(node)
                if made is not None:
                    yield from self._report(made, model)

    def _report(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if surroundings.in_test(site.context) or model.autograd_off(site.context) or _is_unwrapped(site, model):
            return
        if _names_one_device(site):
            return  # then it calls the module as it is
        yield Report(
            site.node,
            f"{quote(site.node)} copies the model to every device on every step, from one Python process",
            "run one process a device with `DistributedDataParallel`",
            Confidence.SURE,
        )


def _names_one_device(site: sites.Call) -> bool:
    named = site.argument(1, "device_ids")
    return named is not None and isinstance(named.node, (cst.List, cst.Tuple)) and len(named.node.elements) == 1


def _is_unwrapped(site: sites.Call, model: Model) -> bool:
    """Whether the wrapper is only there to load or save under its names: nothing calls it, and it comes off again.

    Or nothing does anything with it.
    """
    used = {
        around.attr.value if isinstance(around := model.parent(read), cst.Attribute) else ""
        for read in model.uses.get(site.node, ())
        if not (isinstance(read, cst.Attribute) and read.attr.value == "module")
    }
    if not used:
        bound = model.parent(site.node)
        if site.context.owner is None or not isinstance(bound, cst.Assign):
            return False
        return isinstance(bound.targets[0].target, cst.Name)  # the name ends with its function
    return "module" in used and used <= _NAMES_ONLY

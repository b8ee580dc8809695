"""TL502: a loader feeds a device from memory that is not pinned."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.knowledge.names import LOADERS
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.rules.pipeline import _loaders as loaders
from torchlint.rules.pipeline import _transfers as transfers
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import DEVICE, HOST, Kind

Feeds = dict[cst.CSTNode, tuple[Confidence, cst.CSTNode]]


class LoaderWithoutPinnedMemory(Rule):
    code = "TL502"
    name = "loader-without-pinned-memory"
    bottleneck = "pipeline"
    summary = "A DataLoader feeds a CUDA device and does not pin its batches"
    fix_availability = FixAvailability.SOMETIMES
    words = loaders.WORDS

    def on_module(self, model: Model) -> Iterator[Report]:
        made = loaders.loader_calls(model)
        unpinned = [
            site
            for site in made
            if _is_unpinned(site, model)
            and not (_hands_out_lists(site) or _collates_on_device(site) or loaders.made_on_device(site))
        ]
        feeds = _feeds(model) if unpinned else {}
        for site in unpinned:
            if site.node not in feeds:
                continue
            confidence, copy = feeds[site.node]
            unknown = site.callee not in LOADERS and site.result.cls is None  # its options are its own
            if _holds_what_was_computed(site, model) or unknown:
                confidence = Confidence.POSSIBLE
            yield Report(
                site.node,
                f"{quote(site.node.func)} leaves its batches in ordinary memory: the host stages each copy to the "
                "device, and it cannot run beside computation",
                "set `pin_memory=True`, and copy with `non_blocking=True`",
                confidence,
                (("its batches go to the device here", copy),),
                _pin(site),
            )


def _is_unpinned(site: sites.Call, model: Model) -> bool:
    """Whether a loader is known not to pin: it is told not to, or nothing that it is given tells."""
    return site.result.pinned is False or loaders.option(site, "pin_memory", model) == (True, None)


def _hands_out_lists(site: sites.Call) -> bool:
    """Whether a batch is a list of samples as they are, of which nothing can be pinned: `collate_fn=list`."""
    collate = site.argument(6, "collate_fn")
    return collate is not None and collate.value.qual in ("list", "tuple")


def _collates_on_device(site: sites.Call) -> bool:
    """Whether the batches are on a device as they are made, where nothing can be pinned."""
    collate = (site.result.items or {}).get("collate_fn")
    function = collate.fn if collate is not None else None
    if collate is not None and function is None and collate.cls is not None:
        function = collate.cls.find_method("__call__")
    batch = function.returns if function is not None else None
    return batch is not None and batch.may_be_device


def _feeds(model: Model) -> Feeds:
    """The calls that make loaders whose batches go to a device, how sure that is, and where they go."""
    found: Feeds = {}

    def take(nodes: tuple[cst.CSTNode, ...], confidence: Confidence, place: cst.CSTNode) -> None:
        for node in nodes:
            if node not in found or found[node][0] < confidence:
                found[node] = (confidence, place)

    for site in (site for other in model.together for site in other.sites.calls):
        transfer = transfers.transfer_of(site)
        if transfer is not None and transfer.source.loaders:
            if transfers.reaches_device(transfer) is not None:
                once = not site.context.enclosing_loops() and model.hot(site.context) is None  # one batch, to look at
                take(transfer.source.loaders, Confidence.POSSIBLE if once else Confidence.LIKELY, site.node)
            continue
        if site.result.qual == "prepared" and site.result.kind is Kind.LOADER:
            take(site.result.origins, Confidence.LIKELY, site.node)
        for argument in site.arguments:
            value = argument.value
            if value.kind is Kind.LOADER and site.callee is None and site.target is None:
                # Handed to a trainer that is not read: it moves the batches, to wherever it trains.
                take(value.origins, Confidence.LIKELY if model.accelerated else Confidence.POSSIBLE, site.node)
            elif value.loaders and _trains_on_device(site, model):
                take(value.loaders, Confidence.LIKELY, site.node)
    for function in model.functions.values():
        for node, value, _ in function.return_sites:
            if value.kind is Kind.LOADER:
                take(value.origins, Confidence.POSSIBLE, node)
    return found


def _holds_what_was_computed(site: sites.Call, model: Model) -> bool:
    """Whether the samples are rows of tensors that may be on a device already, where none can be pinned."""
    dataset = (site.result.items or {}).get("dataset")
    made = model.call(dataset.origin) if dataset is not None and dataset.origin is not None else None
    if made is None or not (made.callee or "").endswith(".TensorDataset"):
        return False
    return any(given.value.kind is Kind.TENSOR and not given.value.device & HOST for given in made.arguments)


def _trains_on_device(site: sites.Call, model: Model) -> bool:
    """Whether a step on a device hands its batch to something that is not read, which must move it then."""
    if site.target is not None or (site.callee or "").startswith(("torch.", "numpy.")):
        return False
    hot = model.hot(site.context)
    return hot is not None and hot.trains and (model.accelerated or bool(site.function.device & DEVICE))


def _pin(site: sites.Call) -> NodeFix | None:
    named = site.argument(7, "pin_memory")
    message = "Add `pin_memory=True`"
    if named is not None:
        return NodeFix(Applicability.UNSAFE, message, (NodeEdit(named.node, "True"),))
    if not site.node.args:
        return None
    return NodeFix(Applicability.UNSAFE, message, (NodeEdit(site.node.args[-1].value, ", pin_memory=True", "after"),))

"""TL506: samples are put on the device inside a loader's worker process."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.knowledge.devices import PLACING
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.pipeline import _loaders as loaders
from torchlint.semantics import sites, surroundings
from torchlint.semantics.functions import FunctionInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import DEVICE, HOST


class CudaInWorker(Rule):
    code = "TL506"
    name = "cuda-in-worker"
    bottleneck = "pipeline"
    impact = Impact.HIGH
    summary = "A Dataset or collate function creates CUDA tensors in loader workers"
    words = ("Dataset", "DataLoader", "collate_fn")
    words_travel = True

    def on_module(self, model: Model) -> Iterator[Report]:
        in_workers = _in_workers(model)
        if not in_workers:
            return
        for site in model.sites.calls:
            confidence = in_workers.get(model.function_of(site.context))
            if confidence is None or not _goes_to_device(site):
                continue
            yield Report(
                site.node,
                f"{quote(site.node)} uses the device in a loader's worker: a forked worker cannot, and a spawned one "
                "makes a context of its own",
                "return host tensors, pin them in the loader, and move the batch in the training loop",
                confidence if site.result.device == DEVICE else min(confidence, Confidence.LIKELY),
            )


def _goes_to_device(site: sites.Call) -> bool:
    if not site.result.device & DEVICE or site.target is not None:
        return False
    if site.method in PLACING:
        return True
    return site.argument(None, "device") is not None and (site.callee or "").startswith("torch.")


def _told_the_host(site: sites.Call, model: Model) -> bool:
    """Whether the dataset of a loader was made with a device that is the host: `Rows(table, device="cpu")`."""
    given = site.argument(0, "dataset")
    if given is None:
        return False
    owner, near = site.context.owner, model.near(site.context)
    made = [given.node] if isinstance(given.node, cst.Call) else []
    for assign in near.looked_at().assigned(dotted(given.node) or ""):
        if assign.context.owner is owner and not assign.context.excludes(site.context):
            made += [assign.value_node] if isinstance(assign.value_node, cst.Call) else []
    calls = [call for node in made if (call := near.call(node)) is not None]
    devices = [call.argument(None, "device") for call in calls]
    return bool(devices) and all(device is not None and device.value.device == HOST for device in devices)


def _in_workers(model: Model) -> dict[FunctionInfo, Confidence]:
    """The functions that run in loader workers, and how sure that is."""
    found: dict[FunctionInfo, Confidence] = {}
    decided: set[FunctionInfo] = set()
    for site in loaders.loaders_reading(model):
        roots = loaders.sample_functions(site)
        decided.update(roots)
        known, workers = loaders.option(site, "num_workers", model)
        if workers is None and known or workers is not None and workers.const == 0:
            continue
        if _told_the_host(site, model):
            continue
        certain = workers is not None and isinstance(workers.const, int)
        for function in loaders.reached_from(roots):
            found[function] = max(
                found.get(function, Confidence.POSSIBLE), Confidence.SURE if certain else Confidence.LIKELY
            )
    for function in model.functions.values():
        # A Dataset whose loader is not seen.
        unseen = function.role is Role.WORKER and function not in decided and function.body is not None
        if unseen and not surroundings.in_test(function.body):  # type: ignore[arg-type]
            for inner in loaders.reached_from([function]):
                found.setdefault(inner, Confidence.POSSIBLE)
    return found

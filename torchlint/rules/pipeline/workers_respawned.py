"""TL507: a loader's workers are started again for each epoch, or hold too few batches."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability, Confidence
from torchlint.knowledge import names as known
from torchlint.rules._repairs import Unfit, add_argument, repair, tight
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule, RuleSet
from torchlint.rules.pipeline import _loaders as loaders
from torchlint.semantics import rounds, sites
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Value


class WorkersRespawned(Rule):
    code = "TL507"
    name = "workers-respawned"
    bottleneck = "pipeline"
    summary = "A loader's workers are started anew for each epoch, or hold one batch each"
    ruleset = RuleSet.EXTENDED
    fix_availability = FixAvailability.SOMETIMES
    torch = "1.7"
    words = loaders.WORDS

    def on_module(self, model: Model) -> Iterator[Report]:
        for site in loaders.loader_calls(model):
            _, workers = loaders.option(site, "num_workers", model)
            if workers is None or workers.const == 0:
                continue
            confidence = Confidence.LIKELY if isinstance(workers.const, int) else Confidence.POSSIBLE
            ahead = (site.result.items or {}).get("prefetch_factor")
            if ahead is not None and ahead.const == 1 and loaders.works_per_sample(site, model) is not None:
                yield Report(
                    site.node,
                    f"{quote(site.node.func)} lets each worker hold one batch and then stop (`prefetch_factor=1`)",
                    "leave `prefetch_factor` at its default of 2 or raise it",
                    confidence,
                )
                continue
            known, lasting = loaders.option(site, "persistent_workers", model)
            if not known or (lasting is not None and lasting.const is not False):
                continue
            epochs = next(filter(None, (_epochs_over(site, other) for other in model.together)), None)
            if epochs is not None:
                if any(_changes_its_dataset(site, epochs, other) for other in model.together):
                    continue
                assert epochs.loop is not None
                because = ("this loop runs through the loader once per epoch", epochs.loop.node)
            elif _is_given_to_trainer(site):
                assert site.context.owner is not None
                because = (
                    "a trainer runs through the loader of this method once per epoch",
                    site.context.owner.node,
                )
            else:
                continue
            yield Report(
                site.node,
                f"{quote(site.node.func)} starts its workers anew for each epoch, and the first batch waits",
                "set `persistent_workers=True`",
                confidence,
                (because,),
                _keep(site, workers),
            )


def _epochs_over(site: sites.Call, model: Model) -> Context | None:
    """The loop over epochs in which the loader is iterated."""
    for loop in model.sites.loops:
        if loop.iterable is not None and site.node in loop.iterable.origins:
            epochs = _epochs_around(loop.outer, set())
            if epochs is not None and not site.context.inside(epochs):
                return epochs
    return None


def _epochs_around(context: Context, seen: set[FunctionInfo]) -> Context | None:
    for link in context.chain():
        if link.scope is Scope.LOOP and rounds.iterates(link) is Iterates.EPOCHS:
            return link if link.loop is not None and link.loop.count != 1 else None
        if link.scope is Scope.FUNCTION:
            function = link.function
            assert function is not None
            if function in seen:
                return None
            seen.add(function)
            for caller in function.callers:
                found = _epochs_around(caller.context, seen)
                if found is not None:
                    return found
            return None
    return None


def _is_given_to_trainer(site: sites.Call) -> bool:
    """Whether the loader is made in a method by which a framework's trainer asks for the loader of its epochs."""
    owner = site.context.owner
    if owner is None or owner.cls is None:
        return False
    bases = (name.rsplit(".", 1)[-1] for name in owner.cls.base_names)
    return any(owner.name in known.EPOCH_LOADERS.get(base, ()) for base in bases)


def _changes_its_dataset(site: sites.Call, epochs: Context, model: Model) -> bool:
    """Whether the loop over epochs calls or sets something on the dataset: living workers would not see it."""
    dataset = site.argument(0, "dataset")
    name = dotted(dataset.node) if dataset is not None else None

    def is_dataset(node: cst.BaseExpression | None) -> bool:
        written = dotted(node) if node is not None else None
        return written is not None and (written == name or written.endswith(".dataset"))

    return any(is_dataset(call.receiver_node) and call.context.inside(epochs) for call in model.sites.calls) or any(
        isinstance(assign.target, cst.Attribute) and is_dataset(assign.target.value) and assign.context.inside(epochs)
        for assign in model.sites.assigns
    )


@repair
def _keep(site: sites.Call, workers: Value) -> NodeFix:
    """Keep the workers, where there are any: without them the loader refuses the option."""
    message = "Add `persistent_workers=True`"
    named = site.argument(None, "persistent_workers")
    wanted = "True"
    if not isinstance(workers.const, int):
        count = site.argument(None, "num_workers")
        if count is None:
            raise Unfit
        wanted = f"{tight(count.node)} > 0"
    if named is not None:
        return NodeFix(Applicability.UNSAFE, message, (NodeEdit(named.node, wanted),))
    return NodeFix(Applicability.UNSAFE, message, (add_argument(site.node, f"persistent_workers={wanted}"),))

"""TL510: a dataset keeps a Python object for each sample, and several workers read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.rules.pipeline import _loaders as loaders
from torchlint.semantics.functions import ClassInfo, Role
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import below
from torchlint.semantics.values import Kind, Value

# Calls that read a whole index into Python objects.
_INDEXES: Final = frozenset(
    "glob.glob json.load json.loads os.listdir pickle.load pickle.loads yaml.safe_load yaml.load".split()
)
_INDEX_METHODS: Final = frozenset("glob rglob iterdir readlines splitlines to_dict tolist".split())
_WRAPPERS: Final = frozenset("list sorted dict set tuple".split())
_ARRAYS: Final = frozenset({Kind.TENSOR, Kind.NDARRAY})


class DatasetPythonList(Rule):
    code = "TL510"
    name = "dataset-python-list"
    bottleneck = "pipeline"
    summary = "A Dataset keeps a Python object for each sample and is read by several workers"
    ruleset = RuleSet.EXTENDED
    words = loaders.WORDS
    words_travel = True

    def on_module(self, model: Model) -> Iterator[Report]:
        for cls, (confidence, loader) in _read_by_workers(model).items():
            for assign in model.sites.assigns:
                owner = assign.context.owner
                name = assign.name or ""
                if owner is None or owner.cls is not cls or assign.value_node is None or not name.startswith("self."):
                    continue
                attribute = name.removeprefix("self.")
                if _keeps_objects(assign.value_node, assign.value, model) and _is_read(cls, attribute):
                    yield Report(
                        assign.node,
                        f"`{name}` keeps a Python object for each sample: reading it changes reference counts, so "
                        "every worker ends with a copy of the whole",
                        "keep the index in one array, a byte buffer with offsets, or a memory-mapped table",
                        confidence,
                        (("several workers read it", loader),),
                    )
            yield from self._appended(cls, confidence, loader, model)

    def _appended(self, cls: ClassInfo, confidence: Confidence, loader: cst.CSTNode, model: Model) -> Iterator[Report]:
        """The same, where set-up appends one object after the other: `self.items.append((path, label))`."""
        seen: set[str] = set()
        for store in model.sites.stores:
            owner, name = store.context.owner, store.owner_name or ""
            if store.how != "append" or owner is None or owner.cls is not cls or not name.startswith("self."):
                continue
            if name in seen or owner.role is Role.WORKER or not store.context.enclosing_loops():
                continue
            if store.value.kind in _ARRAYS or not _is_read(cls, name.removeprefix("self.")):
                continue
            seen.add(name)
            yield Report(
                store.node,
                f"`{name}` gets a Python object for each sample: reading it changes reference counts, so every worker "
                "ends with a copy of the whole",
                "keep the index in one array, a byte buffer with offsets, or a memory-mapped table",
                confidence,
                (("several workers read it", loader),),
            )


def _read_by_workers(model: Model) -> dict[ClassInfo, tuple[Confidence, cst.CSTNode]]:
    """The Dataset classes that a loader with several workers reads."""
    found: dict[ClassInfo, tuple[Confidence, cst.CSTNode]] = {}
    for site in loaders.loaders_reading(model):
        dataset = (site.result.items or {}).get("dataset")
        if dataset is None or dataset.cls is None:
            continue
        known, workers = loaders.option(site, "num_workers", model)
        if workers is None:
            confidence = None if known else Confidence.POSSIBLE
        elif isinstance(workers.const, int):
            confidence = Confidence.LIKELY if workers.const > 1 else None
        else:
            confidence = Confidence.POSSIBLE
        if confidence is not None:
            found[dataset.cls] = max(
                found.get(dataset.cls, (confidence, site.node)), (confidence, site.node), key=lambda x: x[0]
            )
    return found


def _keeps_objects(node: cst.BaseExpression, value: Value, model: Model) -> bool:
    """Whether an expression gives a list or dictionary with as many Python objects as there are samples."""
    if isinstance(node, (cst.ListComp, cst.DictComp)):
        source = model.value(node.for_in.iter)
        few = source.kind is Kind.CONTAINER and (
            bool(source.items) or source.qual == "range" and isinstance(source.const, int)
        )
        element = value.elem
        return not few and not (element is not None and element.kind in _ARRAYS)
    if not isinstance(node, cst.Call):
        return False
    callee = model.resolve(node.func)
    if callee in _INDEXES:
        return True
    if callee in _WRAPPERS and node.args:
        return _keeps_objects(node.args[0].value, value, model) or _is_reader(node.args[0].value, model)
    return isinstance(node.func, cst.Attribute) and node.func.attr.value in _INDEX_METHODS


def _is_reader(node: cst.BaseExpression, model: Model) -> bool:
    """Whether iterating it reads rows of a file: `csv.reader(f)`, `map(json.loads, f)`, a generator."""
    if isinstance(node, cst.GeneratorExp):
        return True
    return isinstance(node, cst.Call) and model.resolve(node.func) in (
        "csv.reader",
        "csv.DictReader",
        "map",
        "open",
        "zip",
    )


def _is_read(cls: ClassInfo, attribute: str) -> bool:
    """Whether a sample is looked up in the attribute."""
    method = cls.find_method("__getitem__")
    return method is not None and any(
        isinstance(node, cst.Attribute) and dotted(node) == f"self.{attribute}" for node in below(method.node)
    )

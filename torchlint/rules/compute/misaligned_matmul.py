"""TL407: a layer's constant size misses the multiples that tensor cores work in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_SIZES: Final = {
    "Linear": ("in_features", "out_features"),
    "LazyLinear": ("out_features",),
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"), ("in_channels", "out_channels")),
}
_EMBEDDING: Final = ("num_embeddings", "embedding_dim")
_MULTIPLE: Final = 8  # elements of half precision in 16 bytes
_SMALL: Final = 64  # sizes below do not fill a tile anyway


class MisalignedMatmul(Rule):
    code = "TL407"
    name = "misaligned-matmul"
    bottleneck = "compute"
    summary = "A layer of constant size misses the tensor cores' multiples"
    ruleset = RuleSet.EXTENDED
    words = ("Linear", "Conv", "Embedding")

    def on_module(self, model: Model) -> Iterator[Report]:
        tied = _tied_embeddings(model)
        for site in model.sites.calls:
            prefix, _, layer = (site.callee or "").rpartition(".")
            names = _EMBEDDING if site.node in tied else _SIZES.get(layer) if prefix == "torch.nn" else None
            if names is None or surroundings.in_test(site.context) or model.is_test_file:
                continue
            size = _misaligned(site, names)
            if size is None:
                continue
            padded = -(-size // 64) * 64
            yield Report(
                site.node,
                f"{quote(site.node)} has a size of {size}, no multiple of {_MULTIPLE}: in half precision its products "
                "miss the tensor cores' fast kernels",
                f"pad it to {padded} and cut or mask what is too much",
                Confidence.LIKELY,
            )


def _misaligned(site: sites.Call, names: tuple[str, ...]) -> int | None:
    """The constant size that misses the multiples, where the others are not known to be small."""
    sizes = [
        argument.value.const for place, name in enumerate(names) if (argument := site.argument(place, name)) is not None
    ]
    numbers = [size for size in sizes if isinstance(size, int) and not isinstance(size, bool)]
    if any(size < _SMALL for size in numbers):
        return None
    return next((size for size in numbers if size % _MULTIPLE), None)


def _tied_embeddings(model: Model) -> set[cst.CSTNode]:
    """The calls that make an embedding whose weight is an output layer's as well."""
    found: set[cst.CSTNode] = set()
    for assign in model.sites.assigns:
        target, source = assign.target, assign.value_node
        if type(target) is not cst.Attribute or target.attr.value != "weight" or type(source) is not cst.Attribute:
            continue
        for node in (target.value, source.value):
            module = model.value(node)
            if module.kind is Kind.MODULE and module.qual == "torch.nn.Embedding" and module.origin is not None:
                found.add(module.origin)
    return found

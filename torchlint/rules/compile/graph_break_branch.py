"""TL802: Python control flow on tensor data in a compiled region."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.compile._regions import because, region
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind


class GraphBreakBranch(Rule):
    code = "TL802"
    name = "graph-break-branch"
    bottleneck = "compile"
    summary = "Python control flow on tensor data breaks the graph of a compiled region"
    torch = "2.0"
    words = ("compile",)
    words_travel = True

    def on_truth(self, site: sites.Truth, model: Model) -> Iterator[Report]:
        if site.how == "assert" or site.value.kind is not Kind.TENSOR or site.value.on_host:
            return
        # What a compiled function computes with the methods of tensors is one; what an object keeps may be anything.
        if site.value.conf is Confidence.POSSIBLE and (not site.value.dtype or isinstance(site.node, cst.Attribute)):
            return
        function = region(site.context, model, site.node)
        if function is None:
            return
        yield Report(
            site.node,
            f"the truth of {quote(site.node)} is data: it breaks the graph of `{function.qualname}` and waits for the "
            "device",
            "select with `torch.where`, multiply by the mask, or use `torch.cond`",
            max(site.value.conf, Confidence.LIKELY),
            because(function),
        )

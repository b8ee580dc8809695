"""TL801: a scalar read that breaks a compiled graph."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.compile._regions import because, is_full_graph, region
from torchlint.rules.sync._waits import as_number
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

_CONVERSIONS = ("int", "float", "bool", "complex")


class GraphBreakScalarRead(Rule):
    code = "TL801"
    name = "graph-break-scalar-read"
    bottleneck = "compile"
    summary = "A scalar read breaks the graph of a compiled region"
    torch = "2.0"
    calls = (".item", ".tolist", *_CONVERSIONS)
    words = ("compile",)
    words_travel = True

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        value = site.receiver
        if site.method is None:
            value = as_number(site.arguments[0].value, site.arguments[0].node) if site.arguments else None
        if value is None or value.kind is not Kind.TENSOR or value.on_host:
            return
        conf = value.conf if site.method is None else max(value.conf, Confidence.LIKELY)
        function = region(site.context, model)
        if function is None or is_full_graph(function) or self._captures(model):
            return
        yield Report(
            site.node,
            f"{quote(site.node)} breaks the graph of `{function.qualname}`: what comes before and after is compiled "
            "apart, with a wait for the device between",
            "keep the value a tensor, take sizes from shapes, or set `torch._dynamo.config.capture_scalar_outputs`",
            min(conf, Confidence.LIKELY) if value.conf is not Confidence.SURE else conf,
            because(function),
        )

    def _captures(self, model: Model) -> bool:
        return any(
            assign.qualified is not None
            and assign.qualified.endswith("capture_scalar_outputs")
            and assign.value.const is True
            for assign in model.sites.assigns
        )

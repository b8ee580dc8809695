"""TL803: printing, logging and clocks in a compiled region."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.compile._regions import because, behind_a_break, is_full_graph, region
from torchlint.semantics import sites
from torchlint.semantics.model import Model

_CALLS = (
    "print",
    "open",
    "warnings.warn",
    "time.sleep",
    "sys.stdout.write",
    "sys.stderr.write",
    *sorted(known.CLOCKS),
    *(f"logging.Logger.{name}" for name in sorted(known.LOG_METHODS)),
    *(f"logging.{name}" for name in sorted(known.LOG_METHODS)),
)


class GraphBreakSideEffect(Rule):
    code = "TL803"
    name = "graph-break-side-effect"
    bottleneck = "compile"
    summary = "Printing, logging or reading a clock breaks the graph of a compiled region"
    torch = "2.0"
    calls = _CALLS
    words = ("compile",)
    words_travel = True

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        function = region(site.context, model)
        if function is None or is_full_graph(function):
            return
        yield Report(
            site.node,
            f"{quote(site.node)} breaks the graph of `{function.qualname}`: "
            "what comes before and after is compiled apart",
            "move it out of the compiled region, or guard it with `torch.compiler.is_compiling()`",
            Confidence.POSSIBLE if behind_a_break(site.context, model) else Confidence.SURE,
            because(function),
        )

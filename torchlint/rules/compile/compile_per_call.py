"""TL804: compiling anew on every call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import Report, Rule
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind


class CompilePerCall(Rule):
    code = "TL804"
    name = "compile-per-call"
    bottleneck = "compile"
    impact = Impact.HIGH
    summary = "`torch.compile` is called anew on every step"
    torch = "2.0"
    calls = ("torch.compile", "torch.nn.Module.compile")
    words = ("compile",)

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if surroundings.in_test(site.context):
            return
        hot = model.hot(site.context)
        if hot is None or self._is_kept(site):
            return
        yield Report(
            site.node,
            f"{quote(site.node)} runs {often(hot)}: each call makes a new compiled function that must find or build "
            "its code again",
            "compile once, at construction or module level, and call the compiled function",
            Confidence.SURE
            if site.result.kind is not Kind.UNKNOWN or site.callee == "torch.compile"
            else Confidence.LIKELY,
            because(hot),
        )

    def on_function(self, site: sites.Function, model: Model) -> Iterator[Report]:
        """A decorator without a call, on a function that is defined on every step."""
        info = site.info
        place = info.context
        hot = model.hot(place) if place is not None and info.parent is not None else None
        if (
            place is None
            or hot is None
            or surroundings.in_test(place)
            or (info.name in model.function_of(place).returned and not self._is_made_anew(place, model))
        ):
            return
        for node, decorator in info.decorators:
            if decorator.qual == "torch.compile" and not isinstance(node, cst.Call):
                yield Report(
                    node,
                    f"`{info.name}` is defined and compiled {often(hot)}: each definition is a new function that must "
                    "find or build its code again",
                    "define it once, at module level or as a method, and pass what it closes over",
                    Confidence.SURE,
                    because(hot),
                )

    def _is_made_anew(self, place: Context, model: Model) -> bool:
        """Whether what a function returns is called where it is made, on every step: nobody keeps it."""
        maker = model.function_of(place)
        for caller in maker.callers:
            home = model.home.get(caller.node, model)
            used = home.parent(caller.node) if home.hot(caller.context) is not None else None
            if isinstance(used, cst.Call) and used.func is caller.node:
                return not maker.decorators
        return False

    def _is_kept(self, site: sites.Call) -> bool:
        """Whether the result goes where it stays: an attribute or an entry that is written once and read later."""
        statement = site.statement
        if isinstance(statement, cst.Assign) and statement.value is site.node:
            return any(isinstance(target.target, (cst.Attribute, cst.Subscript)) for target in statement.targets)
        return False

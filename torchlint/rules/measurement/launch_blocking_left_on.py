"""TL705: every launch made to wait, by the program itself."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Applicability, Confidence, Impact
from torchlint.rules._conditions import unconditional
from torchlint.rules._repairs import statement_fix
from torchlint.rules.base import FixAvailability, NodeEdit, NodeFix, Report, Rule
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind, Value

_VARIABLE = "CUDA_LAUNCH_BLOCKING"


class LaunchBlockingLeftOn(Rule):
    code = "TL705"
    name = "launch-blocking-left-on"
    bottleneck = "measurement"
    impact = Impact.HIGH
    summary = "The program makes the host wait for every kernel"
    fix_availability = FixAvailability.SOMETIMES
    calls = (".setdefault", ".update", "os.putenv")
    words = (_VARIABLE,)

    def on_subscript(self, site: sites.Subscript, model: Model) -> Iterator[Report]:
        if site.mode != "write" or site.written is None or model.resolve(site.node.value) != "os.environ":
            return
        key = site.indices[0][1] if site.indices else None
        if key is not None and key.const == _VARIABLE and not self._restored(site, model):
            fix = None
            if isinstance(site.statement, cst.Assign) and len(site.statement.targets) == 1:
                fix = NodeFix(Applicability.UNSAFE, "Remove it", (NodeEdit(site.statement, "", "delete"),))
            yield from self._report(site.node, _text(site), site.context, model, fix)

    def _restored(self, site: sites.Subscript, model: Model) -> bool:
        """Whether the same function takes the variable away again, or writes it once more."""
        for other in sites.around(model.sites.subscripts, site)[1]:
            key = other.indices[0][1] if other.indices else None
            if other.mode != "read" and key is not None and key.const == _VARIABLE:
                again = other.written is not None and _text(other).const
                if isinstance(again, str) and again not in ("", "0"):
                    continue  # switched on twice
                if other.context.owner is site.context.owner:
                    return True
        return any(
            call.callee in ("os.environ.pop", "os.unsetenv")
            and call.arguments
            and call.arguments[0].value.const == _VARIABLE
            and call.context.owner is site.context.owner
            for call in model.sites.calls
        )

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if site.callee not in ("os.environ.setdefault", "os.environ.update", "os.putenv"):
            return
        if site.method == "update":
            argument = site.argument(None, _VARIABLE)
            if argument is not None:
                yield from self._report(site.node, argument.value, site.context, model)
            table = site.argument(0)
            if table is not None and table.value.items and _VARIABLE in table.value.items:
                yield from self._report(site.node, table.value.items[_VARIABLE], site.context, model)
            return
        name, value = site.argument(0), site.argument(1)
        if name is not None and value is not None and name.value.const == _VARIABLE:
            yield from self._report(
                site.node, value.value, site.context, model, statement_fix("Remove it", site, model)
            )

    def _report(
        self, node: cst.CSTNode, value: Value, context: Context, model: Model, fix: NodeFix | None = None
    ) -> Iterator[Report]:
        if value.kind is not Kind.STRING or not isinstance(value.const, str) or value.const in ("", "0"):
            return
        if unconditional(context, model):
            yield Report(
                node,
                f"`{_VARIABLE}={value.const}` makes the host wait for every kernel, in every run",
                "set it in the shell when looking for an error, or behind a debugging option",
                Confidence.POSSIBLE if _is_on_request(context, model) else Confidence.SURE,
                fix=fix,
            )


def _is_on_request(context: Context, model: Model) -> bool:
    """Whether a function that nothing in sight calls makes everything deterministic, for who asks for that."""
    owner = context.owner
    return (
        owner is not None
        and not owner.callers
        and any(
            call.callee == "torch.use_deterministic_algorithms" and call.context.owner is owner
            for call in model.sites.calls
        )
    )


def _text(site: sites.Subscript) -> Value:
    """What is written: `str(1)` too is a literal."""
    written = site.written
    assert written is not None
    node = site.statement.value if isinstance(site.statement, cst.Assign) else None
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "str" and node.args:
        given = node.args[0].value
        if isinstance(given, cst.Integer):
            return written.but(const=given.value)
    return written

"""TL104: the value of a device tensor is turned into text on every step."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge.names import WARNING_METHODS
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.sync._waits import waits
from torchlint.semantics import sites
from torchlint.semantics.contexts import Scope
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import within
from torchlint.semantics.values import Kind, Value


class SyncFormat(Rule):
    code = "TL104"
    name = "sync-format"
    bottleneck = "sync"
    summary = "The value of a device tensor is turned into text on every step"

    def on_format(self, site: sites.Format, model: Model) -> Iterator[Report]:
        value = _printed(site.value)
        if value is None or _rarely_made(site, model):
            return
        wait = waits(model, value, site.context)
        if wait is None or (wait.hot is not None and wait.hot.phases):
            return  # once for a phase that goes through steps of its own, such as a validation
        confidence = wait.confidence
        if _is_exceptional(site, model):
            confidence = Confidence.POSSIBLE
        yield Report(
            site.node,
            f"the text of {quote(site.part)} is its value, so the host waits for the device {wait.often}",
            f"format it every so many steps, or keep {quote(site.part)} on the device until after the loop",
            confidence,
            wait.related,
        )


def _printed(value: Value) -> Value | None:
    """The tensor whose value shows in the text: the value itself or, in a container, what it holds."""
    if value.kind is Kind.CONTAINER and value.qual in ("list", "tuple", "dict"):
        return value.elem if value.elem is not None and value.elem.kind is Kind.TENSOR else None
    return value if value.is_tensor else None


def _rarely_made(site: sites.Format, model: Model) -> bool:
    """Whether the text is that of an error, is made only where debugging is on, or only when somebody asks for it."""
    if site.how == "logging" and isinstance(site.node, cst.Call) and isinstance(site.node.func, cst.Attribute):
        return site.node.func.attr.value == "debug"
    node: cst.CSTNode | None = site.node
    while node is not None and not isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
        before, node = node, model.parent(node)
        if isinstance(node, cst.Lambda) and not node.params.params:
            return True  # `check(holds, lambda: f"...")`: called where the check fails
        if isinstance(node, cst.Assert):
            return node.msg is before
    return isinstance(node, cst.Raise)


def _is_exceptional(site: sites.Format, model: Model) -> bool:
    """Whether the text is made where something is wrong: a warning behind a condition, a branch on a tensor's value."""
    tests: list[cst.CSTNode] = []
    for link in site.context.chain():
        if link.scope is Scope.BRANCH and link.test is not None:
            tests.append(link.test)
        if link.scope in (Scope.FUNCTION, Scope.LOOP):
            break
    if not tests:
        return False
    asked = {truth.node for truth in model.sites.truths if truth.value.kind is Kind.TENSOR}
    return _warns(site, model) or any(node in asked for node in within(tests))


def _warns(site: sites.Format, model: Model) -> bool:
    """Whether the text is that of a warning or an error in a log."""
    node: cst.CSTNode | None = site.node
    while isinstance(node, (cst.BaseExpression, cst.Arg, cst.BaseFormattedStringContent)):
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            if node.func.attr.value in WARNING_METHODS:
                return True
        node = model.parent(node)
    return False

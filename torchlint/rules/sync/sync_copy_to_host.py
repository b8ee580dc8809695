"""TL103: a device tensor is copied to the host on every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import quote
from torchlint.rules.base import Report, Rule
from torchlint.rules.sync._uses import feeds_host_code, inherent
from torchlint.rules.sync._waits import as_operand, waits
from torchlint.semantics import sites
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import within
from torchlint.semantics.values import HOST, MAYBE_TENSORS, MISSING, Kind, Value

_OFFLOADING: Final = frozenset(("cpu", "offload", "offloading"))


class SyncCopyToHost(Rule):
    code = "TL103"
    name = "sync-copy-to-host"
    bottleneck = "sync"
    summary = "A device tensor is copied to the host on every step"
    calls = (".cpu", ".to", ".type", ".tolist", ".copy_", ".numpy")
    words = ("cpu", "to", "type", "tolist", "copy_", "numpy")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        copied = _copied(site)
        if copied is None:
            return
        if copied.kind is Kind.UNKNOWN and site.method != "tolist":
            # Of what training code handles, tensors and structures of them move so; modules do not, step after step,
            # and of them nobody needs the result.
            if isinstance(model.parent(site.node), cst.Expr):
                return
            copied = as_operand(copied)
        if isinstance(model.parent(site.node), cst.Expr) and model.in_measurement(site.context):
            return  # nobody takes the copy: it is there to wait, or to warm up
        wait = waits(model, copied, site.context, by_method=True)
        if wait is None or inherent(model, site.node, site.context):
            return
        confidence = wait.confidence
        if copied.kind is Kind.UNKNOWN and model.uses_numpy and not copied.may_be_device:
            confidence = Confidence.POSSIBLE  # NumPy's arrays have `.tolist()` as well
        if _is_asked_for(site.context) or feeds_host_code(model, site.node):
            confidence = Confidence.POSSIBLE  # where the device cannot do the work, or hold the data, it is needed
        yield Report(
            site.node,
            f"{quote(site.node)} copies a tensor to the host and waits for the device {wait.often}",
            "keep the result on the device, and copy once after the loop, or into pinned memory without waiting",
            confidence,
            wait.related,
        )


def _copied(site: sites.Call) -> Value | None:
    """What the call copies to the host with a wait; None where it does not."""
    receiver = site.receiver
    if receiver is None:
        return None
    if site.method == "copy_":
        source = site.argument(0, "src")
        if receiver.kind is not Kind.TENSOR or not receiver.on_host or source is None or not source.value.is_tensor:
            return None
        return None if receiver.pinned and _non_blocking(site) else source.value
    if site.method == "tolist":
        return receiver
    if site.method == "numpy":
        force = site.argument(0, "force")
        return receiver if force is not None and force.value.const is True else None
    if receiver.kind not in MAYBE_TENSORS or site.result.device != HOST:
        return None
    if not receiver.may_be_device and _follows_a_tensor(site):
        return None  # where that tensor is on the host, this one is as well
    return None if _non_blocking(site) else receiver


def _follows_a_tensor(site: sites.Call) -> bool:
    """Whether the target is wherever another tensor lies: `x.to(y)`, `x.to(y.device)`."""
    target = site.argument(0, "device") or site.argument(None, "other")
    return target is not None and (
        target.value.is_tensor or (isinstance(target.node, cst.Attribute) and target.node.attr.value == "device")
    )


def _non_blocking(site: sites.Call) -> bool:
    argument = site.argument(None, "non_blocking")
    return argument is not None and argument.value.const in (True, MISSING)


def _is_asked_for(context: Context) -> bool:
    """Whether the copy is made behind an option that asks for it, to save the device's memory: `if cpu_cache:`."""
    for link in context.in_function():
        if link.scope is Scope.BRANCH and not link.negated and link.test is not None:
            names = [node.value for node in within([link.test]) if isinstance(node, cst.Name)]
            if any(_OFFLOADING & set(name.lower().split("_")) for name in names):
                return True
    return False

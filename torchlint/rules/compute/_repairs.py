"""What to write instead of settings and orders that make the device compute slowly or wrongly."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.findings import Applicability
from torchlint.rules._repairs import Unfit, add_argument, code, option_off, repair, spell
from torchlint.rules.base import NodeEdit, NodeFix
from torchlint.semantics import sites
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.values import Kind

_TAKE_DTYPE: Final = ("numpy.empty", "numpy.eye", "numpy.identity", "numpy.linspace", "numpy.ones", "numpy.zeros")


@repair
def disabled(site: sites.Call) -> NodeFix:
    """`GradScaler(..., enabled=False)`, which turns its calls into the plain ones."""
    return option_off(site, "enabled", "Pass `enabled=False`")


@repair
def unscaled(model: Model, clip: sites.Call) -> NodeFix:
    """`scaler.unscale_(optimizer)` in front of the clipping, where the file has one scaler that steps one optimizer."""
    steps = [
        site
        for site in model.sites.calls
        if site.method == "step" and site.receiver is not None and site.receiver.kind is Kind.SCALER and site.arguments
    ]
    names = {(dotted(site.receiver_node), dotted(site.arguments[0].node)) for site in steps if site.receiver_node}
    if len(names) != 1 or clip.statement is None or isinstance(clip.statement, cst.BaseCompoundStatement):
        raise Unfit
    scaler, optimizer = names.pop()
    if scaler is None or optimizer is None:
        raise Unfit
    here = model.function_of(clip.context)
    shared = [site for site in steps if model.function_of(site.context) is here]
    own = all(name.startswith("self.") for name in (scaler, optimizer))
    if not shared and not (own and all(model.function_of(site.context).cls is here.cls for site in steps)):
        raise Unfit
    line = f"{scaler}.unscale_({optimizer})"
    return NodeFix(Applicability.UNSAFE, f"Call `{line}` first", (NodeEdit(clip.statement, line, "line-before"),))


@repair
def allowed_tf32(node: cst.CSTNode) -> NodeFix:
    """The TF32 mode switched on where it is switched off."""
    message = "Let float32 products use TF32"
    if isinstance(node, cst.Assign):
        written = {"False": "True", '"ieee"': '"tf32"', "'ieee'": "'tf32'"}.get(code(node.value))
        if written is None:
            raise Unfit
        return NodeFix(Applicability.UNSAFE, message, (NodeEdit(node.value, written),))
    if isinstance(node, cst.Call) and len(node.args) == 1 and isinstance(node.args[0].value, cst.SimpleString):
        quote = node.args[0].value.quote
        return NodeFix(Applicability.UNSAFE, message, (NodeEdit(node.args[0].value, f"{quote}high{quote}"),))
    raise Unfit


@repair
def in_float32(model: Model, made: sites.Call | None) -> NodeFix:
    """`dtype=torch.float32` where a sum, and `dtype=np.float32` where an array is made."""
    if made is None:
        raise Unfit
    message = "Make it float32"
    option = made.argument(None, "dtype")
    if option is not None:
        if not isinstance(option.node, cst.Attribute):
            raise Unfit
        return NodeFix(Applicability.UNSAFE, message, (NodeEdit(option.node.attr, "float32"),))
    if made.opaque_arguments or not (made.callee or "").startswith(_TAKE_DTYPE):
        raise Unfit
    written, imports = spell(model, "numpy.float32")
    return NodeFix(Applicability.UNSAFE, message, (add_argument(made.node, f"dtype={written}"),), imports)

"""TL202: costly work stands in a loop in which its operands never change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence, Impact
from torchlint.rules._patterns import Operation, operation
from torchlint.rules._wording import because, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _repairs
from torchlint.rules.launch._bodies import body_of, bound_names, calls_in, names_read, names_written
from torchlint.semantics import hotness, sites
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.model import Model
from torchlint.semantics.names import within

_COSTLY: Final = frozenset(
    """matmul einsum linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d cdist baddbmm addmm
    scaled_dot_product_attention outer kron inv pinv svd eigh qr cholesky solve lstsq bilinear interpolate
    tensordot Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Bilinear""".split()
)
_PLAIN_CALLS: Final = frozenset("len int float min max range".split())
# Operations that draw other numbers on each call.
_RANDOM: Final = frozenset(
    """dropout dropout1d dropout2d dropout3d feature_dropout alpha_dropout rand randn randint randperm rand_like
    randn_like randint_like bernoulli multinomial normal poisson gumbel_softmax rrelu empty empty_like
    new_empty""".split()
)
_TRAINS: Final = frozenset({EffectKind.BACKWARD, EffectKind.OPTIMIZER_STEP})
_SHORT: Final = 1


class LoopInvariantOp(Rule):
    code = "TL202"
    name = "loop-invariant-op"
    bottleneck = "launch"
    summary = "Costly work stands in a loop in which its operands never change"
    fix_availability = FixAvailability.SOMETIMES
    words = ("for", "while")

    def on_loop(self, site: sites.Loop, model: Model) -> Iterator[Report]:
        facts = site.context.loop
        assert facts is not None
        hot = model.hot(site.context)
        if hot is None or hotness.in_test(site.context) or (facts.count is not None and facts.count <= _SHORT):
            return
        body = body_of(site)
        costly = [made for node in within(body) if (made := _costly(model, node)) is not None]
        if not costly or _trains(model, body):
            return
        written = names_written(model, body) | bound_names(site.target)
        reported: set[cst.CSTNode] = set()
        for made in costly:
            if made.node in reported or not _is_invariant(model, made.node, written):
                continue
            reported.update(within([made.node]))
            yield Report(
                made.node,
                f"{quote(made.node)} gives the same result in every round of the loop: nothing that it reads "
                "changes there",
                "compute it once before the loop",
                Confidence.LIKELY,
                Impact.MEDIUM,
                (("the loop", site.node), *because(hot)),
                _repairs.hoisted(model, made.node, site.node),
            )


def _costly(model: Model, node: cst.CSTNode) -> Operation | None:
    made = operation(model, node) if isinstance(node, (cst.Call, cst.BinaryOperation)) else None
    return made if made is not None and made.name in _COSTLY and model.value(node).is_tensor else None


def _trains(model: Model, body: list[cst.CSTNode]) -> bool:
    """Whether parameters change in the loop: then what is computed of them does."""
    for site in calls_in(model, body):
        if site.method in ("backward", "step") or (site.target is not None and hotness.does(site.target, _TRAINS)):
            return True
    return False


def _is_invariant(model: Model, node: cst.CSTNode, written: set[str]) -> bool:
    """Whether an expression reads nothing that the loop writes, and calls only operations that give the same again."""
    if names_read(node) & written:
        return False
    for inner in within([node]):
        if not isinstance(inner, cst.Call):
            if isinstance(inner, (cst.Await, cst.Yield, cst.NamedExpr)):
                return False
            continue
        made, site = operation(model, inner), model.call(inner)
        if made is None:
            callee = (site.callee or "") if site is not None else ""
            if callee not in _PLAIN_CALLS and not callee.startswith("math."):
                return False
        elif made.name in _RANDOM or (made.name[:1].isupper() and made.name not in _COSTLY) or made.in_place:
            return False
    return True

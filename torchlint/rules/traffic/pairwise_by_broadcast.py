"""TL311: distances of all pairs are computed by broadcasting the differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._patterns import (
    CASTS,
    Operation,
    called,
    consumers,
    first_operand,
    is_number,
    new_dimension,
    reach,
)
from torchlint.rules._repairs import Rewrite, Unfit, repair, spell
from torchlint.rules._wording import quote
from torchlint.rules.base import FixAvailability, NodeFix, Report, Rule, RuleSet
from torchlint.rules.traffic._repairs import code_of_index, sole
from torchlint.semantics import sites, surroundings
from torchlint.semantics.model import Model

_NORMS: Final = frozenset("norm vector_norm".split())
_POWERS: Final = frozenset("pow square abs".split())


class PairwiseByBroadcast(Rule):
    code = "TL311"
    name = "pairwise-by-broadcast"
    bottleneck = "traffic"
    summary = "Distances of all pairs are computed by broadcasting the differences"
    ruleset = RuleSet.EXTENDED
    fix_availability = FixAvailability.SOMETIMES
    calls = ("torch.sum", ".sum", "torch.norm", ".norm", "torch.linalg.norm", "torch.linalg.vector_norm")
    words = ("sum", "norm", "vector_norm")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = called(site)
        if made is None or not made.operands or not site.result.is_tensor or surroundings.in_test(site.context):
            return
        found = _summed_difference(model, made)
        if found is None:
            return
        difference, power = found
        yield Report(
            site.node,
            f"{quote(site.node)} stores {quote(difference.node)}, the differences of all pairs in every "
            "dimension, to sum them at once",
            "call `torch.cdist`, squared where squares are wanted: it stores one number a pair",
            Confidence.LIKELY,
            (("the differences", difference.node),),
            _repaired(model, made, difference, power),
        )


def _summed_difference(model: Model, made: Operation) -> tuple[Operation, Operation | None] | None:
    """The broadcast difference whose powers are summed over the last dimension, where nothing else reads it.

    With it comes the power, where it is not the norm's own.
    """
    inner = made.operands[0]
    between: Operation | None = None
    if made.name in _NORMS:
        dim = made.argument(2, "dim")
    elif made.name == "sum":
        dim = made.argument(1, "dim", "axis")
        found = reach(model, inner, lambda step: step.name in _POWERS, first_operand(CASTS))
        between = found.operations[0] if found is not None and found.certain and len(found.operations) == 1 else None
        if between is None or not between.operands or not _is_distance(model, between):
            return None
        inner = between.operands[0]
    else:
        return None
    if dim is None or model.value(dim).const not in (-1, 2):  # two batches of rows, and their dimensions
        return None
    found = reach(model, inner, lambda step: step.name == "sub", first_operand(CASTS))
    for difference in found.operations if found is not None else ():
        if not _is_pairwise(model, difference):
            continue
        reads = list(consumers(model, difference.node))
        if len(reads) == 1:
            return difference, between
    return None


def _is_distance(model: Model, between: Operation) -> bool:
    if between.name != "pow":
        return True
    power = between.operands[1] if len(between.operands) > 1 else None
    return power is not None and is_number(model, power, 2)


def _is_pairwise(model: Model, difference: Operation) -> bool:
    """Whether each side has a dimension of one where the other has its rows: `a[:, None] - b[None]`."""
    if len(difference.operands) < 2:
        return False
    places = [new_dimension(model, side) for side in difference.operands[:2]]
    return None not in places and places[0] != places[1]


@repair
def _repaired(model: Model, total: Operation, difference: Operation, power: Operation | None) -> NodeFix:
    """`torch.cdist(a, b)` for the norm of `a[:, None] - b[None]`, its square for the sum of squares."""
    left, right = difference.operands[:2]
    places = new_dimension(model, left), new_dimension(model, right)
    if places in ((1, 0), (2, 1)):
        rows = left, right
    elif places in ((0, 1), (1, 2)):
        rows = right, left  # the distance is the same from both sides
    else:
        raise Unfit
    if any(total.argument(None, name) is not None for name in ("keepdim", "dtype")) or difference.in_place:
        raise Unfit
    node, ending, norm = total.node, "", ""
    if total.name == "sum":
        if power is not None and power.name == "abs":
            norm = ", p=1.0"
        else:
            rooted = _rooted(model, total)
            node, ending = (total.node, ".square()") if rooted is None else (rooted, "")
    else:
        order = total.argument(1, "p", "ord")
        if order is not None and not is_number(model, order, 2):
            raise Unfit
    if not isinstance(node, cst.BaseExpression):
        raise Unfit
    rewrite = Rewrite(model, node)
    rewrite.spare(difference.node)
    one, other = (_without_new_dimension(model, rewrite, side) for side in rows)
    name, imports = spell(model, "torch.cdist")
    return rewrite.fix("Call `torch.cdist`", f"{name}({one}, {other}{norm}){ending}", imports)


def _rooted(model: Model, total: Operation) -> cst.CSTNode | None:
    """The square root of a sum, where that is all that is made of it."""
    found = list(consumers(model, total.node))
    root = found[0] if len(found) == 1 else None
    if root is None or root.in_place or root.operands[0] is not total.node:
        return None
    half = root.name == "pow" and len(root.operands) > 1 and is_number(model, root.operands[1], 0.5)
    return root.node if root.name == "sqrt" or half else None


def _without_new_dimension(model: Model, rewrite: Rewrite, side: cst.BaseExpression) -> str:
    """Rows, before they got a dimension of one."""
    made = sole(model, side, "unsqueeze", "index")
    if isinstance(made.node, cst.Subscript):
        parts = [code_of_index(part) for part in made.node.slice]
        if any(part not in (":", "None", "...") for part in parts) or parts.count("None") != 1:
            raise Unfit
    return rewrite.part(made.operands[0])

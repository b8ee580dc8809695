"""What einops gives: its operand with the axes that a pattern names, where the operand is."""

from __future__ import annotations

from torchlint.findings import Confidence
from torchlint.semantics import sites
from torchlint.semantics.values import HOST, MISSING, Kind, Value


def rank_of(pattern: object) -> int | None:
    """How many axes a pattern such as `b (h d) -> h b d` leaves; None where an ellipsis may stand for any number."""
    if not isinstance(pattern, str) or "->" not in pattern or "..." in pattern:
        return None
    axes = depth = 0
    for word in pattern.rpartition("->")[2].replace("(", " ( ").replace(")", " ) ").split():
        axes += depth == 0 and word != ")"
        depth += (word == "(") - (word == ")")
    return axes


def operand_of(site: sites.Call) -> Value | None:
    """The tensor that the call rearranges, or one of the list that it stacks; None where it is not known to be one."""
    given = site.argument(0, "tensor")
    value = given.value if given is not None else None
    if value is not None and value.kind is Kind.CONTAINER:
        value = value.elem
    return value if value is not None and (value.is_tensor or value.kind is Kind.NDARRAY) else None


def rearranged(site: sites.Call, operand: Value) -> Value:
    """What `rearrange` and `repeat` give: the same numbers."""
    pattern = site.argument(1, "pattern")
    rank = rank_of(pattern.value.const) if pattern is not None else None
    if operand.kind is Kind.NDARRAY:
        return Value(Kind.NDARRAY, device=HOST, dtype=operand.dtype, rank=rank, origins=(site.node,))
    conf = Confidence.LIKELY if operand.kind is Kind.BATCH else operand.conf
    return operand.but(
        kind=Kind.TENSOR, conf=conf, shape=None, rank=rank, origins=(site.node,), ident=None, const=MISSING, qual=None
    )

"""What the repairs of several traffic rules share."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.rules._patterns import Operation, alike, made_by, operation
from torchlint.rules._repairs import Unfit, code
from torchlint.semantics.model import Model
from torchlint.source import written

FUNCTIONAL: Final = "torch.nn.functional"


def sole(model: Model, expression: cst.BaseExpression, *names: str) -> Operation:
    """The one operation that made a value, which must have one of the names."""
    origins = made_by(model, expression)
    made = operation(model, origins[0]) if len(origins) == 1 else None
    if made is None or made.name not in names or made.in_place or not made.operands:
        raise Unfit
    return made


def dim_of(made: Operation, position: int = 1) -> cst.BaseExpression | None:
    return made.argument(position, "dim", "axis")


def code_of_index(part: cst.SubscriptElement) -> str:
    """An index as written, without white space."""
    return "".join(written.code(part.slice).split())


def is_in_place(model: Model, node: cst.CSTNode) -> bool:
    made = operation(model, node)
    return made is None or made.in_place


def is_value(model: Model, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """Whether two expressions are one value, and not a cast of it."""
    mine, its = model.value(one), model.value(other)
    if mine.origins == its.origins and mine.ident == its.ident and (mine.origins or mine.ident is not None):
        return True
    return alike(model, one, other)


def is_minus_infinity(number: cst.BaseExpression) -> bool:
    text = code(number).replace(" ", "").replace("'", '"').lower()
    return text in ('float("-inf")', '-float("inf")', "-math.inf", "-torch.inf", "-np.inf", "-numpy.inf")

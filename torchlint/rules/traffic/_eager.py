"""Whether code runs kernel by kernel, so that writing a fused operation out costs something."""

from __future__ import annotations

from torchlint.semantics import contexts
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import Role
from torchlint.semantics.model import Model


def eager(model: Model, context: Context) -> bool:
    """Whether the code is not compiled, not a test's reference, and not a hand-written autograd Function or optimizer."""
    if contexts.in_test(context) or model.compiled(context) is not None:
        return False
    return not model.is_role(context, Role.AUTOGRAD, Role.OPTIMIZER_STEP, Role.WORKER)

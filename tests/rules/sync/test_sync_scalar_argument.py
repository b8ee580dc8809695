"""TL108: which tensors in the place of a number are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

STEP = """
import torch

def ratio(v, w):
    return torch.dot(v.flatten(), w.flatten()) / w.norm()

class Own(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                g = p.grad
                r = ratio(g, p)
                {line}
"""


@pytest.mark.parametrize(
    "line",
    [
        "p.add_(g, alpha=r)",
        "p.sub_(g, alpha=-r)",
        "z = torch.add(p, g, alpha=r)",
        "p.addcmul_(g, g, value=r)",
        "p.addcdiv_(g, g, value=-r)",
        "z = torch.full((3,), r, device=p.device)",
        "z = torch.full_like(p, r)",
        "z = p.new_full((3,), r)",
        "z = p.masked_fill(g > 0, r)",
        "torch._foreach_add_([p], [g], alpha=r)",
    ],
)
def test_tensors_where_numbers_belong(line: str) -> None:
    check(STEP.format(line=f"{line}  # TL108"), "TL108")


@pytest.mark.parametrize(
    "line",
    [
        "p.add_(g, alpha=-group['lr'])",
        "p.add_(g * r)",
        "z = torch.lerp(p, g, r)",
        "p.fill_(0.0)",
        "z = p.clamp(min=r)",
        "z = torch.where(g > 0, r, p)",
        "z = p.masked_fill(g > 0, 1.0)",
        "p.add_(g, alpha=torch.tensor(0.1))",
        "p.add_(g, alpha=0.1)",
    ],
)
def test_numbers_and_operators_that_take_tensors(line: str) -> None:
    check(STEP.format(line=line), "TL108")

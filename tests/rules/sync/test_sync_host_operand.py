"""TL109: which indices and numbers on the host are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FORWARD = """
import numpy as np
import torch
from torch import nn

ORDER = [2, 0, 1]

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.register_buffer("perm", torch.tensor([2, 0, 1]))

    def forward(self, x, n: int):
        y = self.lin(x)
        v = y.flatten()
        k = y.argmax(-1)
        {line}
        return y
"""


@pytest.mark.parametrize(
    "line",
    [
        "z = y[[0, 2, 1]]",
        "z = y[:, [-1]]",
        "z = y[ORDER]",
        "z = y[torch.tensor([0, 1])]",
        "z = y[k, torch.arange(4)]",
        "z = y[np.arange(3)]",
        "z = y[[i for i in range(3)]]",
        "z = y[range(4), k]",
        "y[k] = 0.0",
        "v[3] = 0.5",
        "y[[0, 1]] = 1.0",
        "z = y[torch.unique(k.cpu())]",
    ],
)
def test_operands_on_the_host(line: str) -> None:
    check(FORWARD.format(line=f"{line}  # TL109"), "TL109")


PICKED = """
import torch
from torch import nn

class Layer(nn.Module):
    def forward(self, x, n: int):
        kept = made(x)
        mask = kept > 0.5
        return mask[torch.arange(n), kept.argmax(-1)].to({where}
"""


def test_what_is_moved_at_once_was_on_the_host_but_a_change_of_dtype_moves_nothing() -> None:
    check(PICKED.format(where="torch.int)  # TL109"), "TL109")
    check(PICKED.format(where="'cuda')"), "TL109")


@pytest.mark.parametrize(
    "line",
    [
        "z = y[0], y[0, 1], y[:, -1:], y[(0, 1)]",
        "z = y[k]",
        "z = [y[number] for number in torch.unique(k.cpu())]",
        "z = [y[i, j] for i, j in np.ndindex(2, 3)]",
        "z = y[np.argmax([1, 2])]",
        "z = y[torch.multinomial(y.squeeze().exp().cpu(), 1)[0]]",
        "z = y[torch.arange(4, device=y.device)]",
        "y[y > 0] = 0.0",
        "y[:, 0] = 1.0",
        "y[0] = 1.0",
        "y[..., -2:] = 0.5",
        "y[k] = y[k] * 2",
        "v[3] += 0.5",
        "z = np.zeros(4)[[0, 2]]",
        "z = torch.zeros(4)[[0, 2]]",
        "z = {'a': y}['a'], ORDER[0]",
        "h = y.cpu(); h[[0, 1]] = 0.0",
    ],
)
def test_what_needs_no_copy(line: str) -> None:
    check(FORWARD.format(line=line), "TL109")

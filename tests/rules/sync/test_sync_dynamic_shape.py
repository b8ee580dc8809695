"""TL105: which results of unknown size are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FORWARD = """
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

def wide(v):
    return v > 0

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x, n: int):
        y = self.lin(x)
        k = y.argmax(-1)
        {line}
        return y
"""


@pytest.mark.parametrize(
    "line",
    [
        "z = y[y > 0]",
        "z = y[~(y > 0)]",
        "z = y[wide(y)]",
        "z = y[:, k == 1]",
        "m = (y > 0) & (y < 1); z = y[m]",
        "y[y > 0] = y[y > 0] * 2",
        "y[y > 0] *= y.mean()",
        "y[wide(y)] = torch.zeros_like(y).sum()",
        "z = torch.nonzero(y)",
        "z = y.nonzero(as_tuple=True)",
        "z, = torch.where(y > 0)",
        "z = torch.argwhere(y)",
        "z = torch.masked_select(y, y > 0)",
        "z = torch.unique(k)",
        "z, c = k.unique(return_counts=True)",
        "z = torch.bincount(k, minlength=9)",
        "z = F.one_hot(k)",
        "z = y.repeat_interleave(k, dim=0)",
        "z = [r[r > 0] for r in y]",
        "find = torch.nonzero; z = find(y)",
    ],
)
def test_sizes_that_depend_on_data(line: str) -> None:
    check(FORWARD.format(line=f"{line}  # TL105"), "TL105")


@pytest.mark.parametrize(
    "line",
    [
        "z = y[k]",
        "z = y[0], y[:, 1:], y[..., None]",
        "y[y > 0] = 0.0",
        "y[y > 0] = torch.tensor(2.0)",
        "z = torch.where(y > 0, y, -y)",
        "z = y.masked_fill(y > 0, 1.0)",
        "z = F.one_hot(k, num_classes=n)",
        "z = F.one_hot(k, n)",
        "z = y.repeat_interleave(2, dim=0)",
        "z = y.repeat_interleave(k, dim=0, output_size=n)",
        "z = np.unique(np.arange(4)), np.nonzero(np.arange(4))",
        "t = torch.arange(4); z = t[t > 1]",
        "m = (y > 0).nonzero if n else None",
        "h = y.detach().cpu(); z = h[h > 0]",
        "z = [y][n > 0]",
    ],
)
def test_sizes_that_are_known(line: str) -> None:
    check(FORWARD.format(line=line), "TL105")


def test_an_index_that_takes_the_name_of_its_mask() -> None:
    check(
        """
        from torch import nn
        class Layer(nn.Module):
            def forward(self, x):
                m = x.detach() > 0
                m = m.nonzero().squeeze(1)  # TL105
                return x[m]
        """,
        "TL105",
    )


def test_data_frames_and_arrays_of_unknown_origin() -> None:
    check(
        """
        import pandas as pd
        import torch
        def run(net, feed, opt, frame: pd.DataFrame):
            for a in feed:
                net(a).mean().backward()
                opt.step()
                opt.zero_grad()
                names = frame["x"].unique()
                some = frame[frame["x"] > 3]
        """,
        "TL105",
    )

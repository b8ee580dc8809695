"""TL402, TL407, TL408: precision and sizes that the device pays for."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

HEAD = """
import numpy as np
import torch
from torch import nn
"""


@pytest.mark.parametrize(
    "made",
    [
        "torch.from_numpy(np.zeros((9, 9))).to(place)",
        "torch.from_numpy(np.random.randn(9, 9) * 2).cuda()",
        "torch.as_tensor(np.linspace(0, 1, 99), device=place)",
        "torch.from_numpy(rows.astype(np.float64)).to(place)",
        "torch.rand(64, 64, dtype=torch.float64, device=place)",
        "net.to(place).double()",
        "[torch.from_numpy(held(n)).to(place) for n in rows]",
    ],
)
def test_doubles_by_default_or_without_a_reason(made: str) -> None:
    check(
        f"{HEAD}\ndef held(n):\n    return np.ones(n)\n\ndef part(net, rows, place):\n    return {made}  # TL402\n",
        "TL402",
    )


@pytest.mark.parametrize(
    "made",
    [
        "torch.from_numpy(np.zeros((9, 9), dtype=np.float32)).to(place)",
        "torch.from_numpy(np.zeros((9, 9)).astype(np.float32)).to(place)",
        "torch.from_numpy(np.zeros((9, 9))).float().to(place)",
        "torch.from_numpy(np.zeros((9, 9))).to(place, torch.float32)",
        "torch.from_numpy(rows).to(place)",
        "torch.from_numpy(np.zeros((9, 9))).sum()",
        "torch.zeros((), dtype=torch.float64, device=place)",
        "torch.linalg.solve(net.to(place).double(), rows)",
    ],
)
def test_floats_host_values_single_numbers_and_solvers(made: str) -> None:
    check(f"{HEAD}\ndef part(net, rows, place):\n    return {made}\n", "TL402")


@pytest.mark.parametrize(
    "layer",
    [
        "nn.Linear(768, 50257)",
        "nn.Linear(300, 512)",
        "nn.Conv2d(130, 256, 3)",
        "nn.Linear(in_features=width, out_features=1001)",
    ],
)
def test_sizes_that_miss_the_multiples(layer: str) -> None:
    check(
        f"{HEAD}\nclass Net(nn.Module):\n"
        f"    def __init__(self, width):\n        super().__init__()\n        self.a = {layer}  # TL407\n",
        "TL407",
    )


@pytest.mark.parametrize(
    "layer",
    [
        "nn.Linear(768, 50304)",
        "nn.Linear(2048, 10)",
        "nn.Conv2d(3, 64, 7)",
        "nn.Embedding(50257, 768)",
        "nn.Linear(n, n)",
    ],
)
def test_sizes_that_fit_are_small_or_unknown(layer: str) -> None:
    check(f"{HEAD}\ndef make(n):\n    return {layer}\n", "TL407")


def test_an_embedding_that_is_a_product_too() -> None:
    check(
        f"""{HEAD}
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.words = nn.Embedding(50257, 768)  # TL407
        self.out = nn.Linear(768, 50264, bias=False)
        self.out.weight = self.words.weight
""",
        "TL407",
    )


@pytest.mark.parametrize("grow", ["total += net(x).mean()", "total = total + net(x).mean()"])
@pytest.mark.parametrize(
    ("dtype", "mark"), [("torch.bfloat16", "# TL408"), ("torch.float16", "# TL408"), ("torch.float32", "")]
)
def test_sums_in_half_precision(grow: str, dtype: str, mark: str) -> None:
    check(
        f"""{HEAD}
def run(net, opt, feed, place):
    total = torch.zeros((), dtype={dtype}, device=place)
    for x in feed:
        net(x).sum().backward()
        opt.step()
        {grow}  {mark}
    return total
""",
        "TL408",
    )


def test_a_residual_over_layers_is_short() -> None:
    check(
        f"""{HEAD}
class Net(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)
    def forward(self, x):
        x = x.to(torch.bfloat16)
        for part in self.parts:
            x = x + part(x)
        return x
""",
        "TL408",
    )

"""TL504: a copy from ordinary memory that is asked not to block."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

HEAD = """
import numpy as np
import torch
from torch.utils.data import DataLoader as Feed

def step(net, opt, part):
    net(part).sum().backward()
    opt.step()
"""


@pytest.mark.parametrize(
    "source",
    [
        "torch.from_numpy(a)",
        "torch.from_numpy(np.ascontiguousarray(a)).float()",
        "torch.stack([torch.from_numpy(r) for r in a])",
        "torch.zeros(1024, 1024)",
        "torch.tensor(a.tolist())",
        "torch.from_numpy(a).pin_memory().float().mul(2)",
        "table[n : n + 8]",
    ],
)
def test_memory_known_to_be_ordinary(source: str) -> None:
    check(
        f"""{HEAD}
def run(net, opt, arrays, place):
    table = torch.randn(100000, 64)
    for n, a in enumerate(arrays):
        step(net, opt, {source}.to(place, non_blocking=True))  # TL504
""",
        "TL504",
    )


def test_loaders_methods_and_comprehensions() -> None:
    check(
        f"""{HEAD}
class Memory:
    def __init__(self, held):
        self.held = held
    def draw(self, index):
        part = torch.from_numpy(self.held[index])
        return part.cuda(non_blocking=True)  # TL504

def learn(net, opt, rows, place):
    memory = Memory(rows)
    for b in Feed(rows, num_workers=4):
        parts = [p.to(place, non_blocking=True) for p in b]  # TL504
        step(net, opt, parts)
        step(net, opt, memory.draw([1, 2]))
""",
        "TL504",
    )


@pytest.mark.parametrize(
    "source",
    [
        "a",
        "torch.from_numpy(a).pin_memory()",
        "torch.zeros(64, 64, pin_memory=True)",
        "torch.zeros(64, 64, pin_memory=pin)",
        "torch.zeros(64, 64, device=place)",
        "pinned[n : n + 8]",
        "torch.as_tensor(a)",
    ],
)
def test_pinned_unknown_or_on_the_device(source: str) -> None:
    check(
        f"""{HEAD}
def run(net, opt, arrays, place, pin):
    pinned = torch.randn(100000, 64).pin_memory()
    for n, a in enumerate(arrays):
        step(net, opt, {source}.to(place, non_blocking=True))
""",
        "TL504",
    )


def test_once_is_not_hot_and_a_blocking_copy_promises_nothing() -> None:
    check(
        f"""{HEAD}
def run(net, opt, arrays, place):
    table = torch.from_numpy(arrays[0]).to(place, non_blocking=True)
    for a in arrays:
        step(net, opt, torch.from_numpy(a).to(place) + table)
""",
        "TL504",
    )


def test_a_few_numbers_are_possible() -> None:
    check(
        f"""{HEAD}
def run(net, opt, arrays):
    for a in arrays:
        step(net, opt, torch.tensor([1.0, 2.0]).cuda(non_blocking=True))  # TL504
""",
        "TL504",
        possible=True,
    )

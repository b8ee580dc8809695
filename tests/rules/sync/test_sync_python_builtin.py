"""TL107: which of Python's builtins over device values are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports

LOOP = """
import torch
from torch.nn import functional as F

def terms(nets, a):
    return [net(a).mean() for net in nets]

def run(net, feed, opt):
    net = net.cuda()
    for a in feed:
        y = net(a)
        q = y.mean()
        parts = terms([net, net], a.cuda())
        q.backward()
        opt.step()
        opt.zero_grad()
        {line}
"""


@pytest.mark.parametrize(
    "line",
    [
        "z = max(q, y.sum())",
        "z = max(q, 1.0)",
        "z = min(y.flatten())",
        "z = max([q, q * 2])",
        "z = max(p.grad.norm() for p in net.parameters())",
        "z = sorted([q, q * 2])",
        "z = any(y.flatten() > 0)",
        "z = all(r.isfinite().all() for r in y)",
        "z = sum(y.flatten())",
        "z = max({'a': q, 'b': q}.values())",
        "z = max(y.mean(0))",
        "big = max; z = big(q, y.sum())",
    ],
)
def test_builtins_over_the_device(line: str) -> None:
    check(LOOP.format(line=f"{line}  # TL107"), "TL107")


@pytest.mark.parametrize(
    "line",
    [
        "z = y.max(), torch.max(y), y.clamp(min=0), y.sum()",
        "z = max(a.shape), max(len(r) for r in y), max(1, 2)",
        "z = all(r.dim() == 1 for r in y)",
        "z = sum([q, q * 2])",
        "z = sum(parts)",
        "z = sorted(['a', 'b'])",
        "z = max([1.0, 2.0])",
        "z = max(torch.tensor([1, 2]))",
        "z = sorted(net.named_parameters(), key=lambda pair: pair[0])",
        "z = any(p.requires_grad for p in net.parameters())",
    ],
)
def test_builtins_over_the_host_and_short_sums(line: str) -> None:
    check(LOOP.format(line=line), "TL107")


def test_the_message_says_which_cost_it_is() -> None:
    ((_, waiting),) = reports(LOOP.format(line="z = max(y.flatten())"), "TL107")
    ((_, launching),) = reports(LOOP.format(line="z = sum(y.flatten())"), "TL107")
    assert "waits" in waiting.message
    assert "kernel" not in waiting.message
    assert "kernel" in launching.message
    assert "waits" not in launching.message

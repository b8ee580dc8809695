"""TL204: tensor arithmetic parameter by parameter on the hot path, and loops over parameters that are fine."""

from __future__ import annotations

import textwrap

import pytest

from tests.rules.helpers import check

TRAIN = """
import torch
from torch import nn

def run(net, slow, feed, opt):
    for u in feed:
        net(u).mean().backward()
        opt.step()
        work(net, slow)
"""
FIRES = {
    "a moving average": """
        @torch.no_grad()
        def work(a, b):
            for p, q in zip(a.parameters(), b.parameters()):  # TL204
                q.lerp_(p, 0.01)
        """,
    "by name, out of place, buffers behind": """
        def work(a, b):
            theirs = dict(a.named_parameters())
            with torch.no_grad():
                for key, q in b.named_parameters():  # TL204
                    q.data = 0.99 * q.data + 0.01 * theirs[key].data
        """,
    "state dictionaries": """
        def work(a, b):
            new = a.state_dict()
            for k, v in b.state_dict().items():  # TL204
                v.mul_(0.99).add_(0.01 * new[k])
        """,
    "state dictionaries by key": """
        def work(a, b):
            new, old = a.state_dict(), b.state_dict()
            for key in old:  # TL204
                old[key].copy_(0.9 * old[key] + 0.1 * new[key])
        """,
    "what a signature calls tensors, in pairs of a generator": """
        from itertools import zip_longest
        from typing import Iterable

        def pairs(*rows):
            end = object()
            for row in zip_longest(*rows, fillvalue=end):
                if end in row:
                    raise ValueError("unequal")
                yield row

        def blend(new: Iterable[torch.Tensor], old: Iterable[torch.Tensor], tau: float):
            for p, q in zip(new, old):  # TL204
                q.data.mul_(1 - tau).add_(p.data, alpha=tau)
            for p, q in pairs(new, old):  # TL204
                q.data.mul_(1 - tau).add_(p.data, alpha=tau)

        def work(a, b):
            blend(a.parameters(), b.parameters(), 0.1)
        """,
    "a norm in a comprehension": """
        def work(a, b):
            return torch.sqrt(sum(p.grad.pow(2).sum() for p in a.parameters()))  # TL204
        """,
    "the work of a parameter in a helper": """
        def blend(p, q):
            q.mul_(0.9)
            q.add_(p, alpha=0.1)

        def work(a, b):
            for p, q in zip(a.parameters(), b.parameters()):  # TL204
                blend(p.detach(), q)
        """,
    "decay over groups, in a method": """
        class Keeper:
            def __init__(self, net):
                self.held = [p for p in net.parameters() if p.requires_grad]

            def shrink(self):
                for p in self.held:  # TL204
                    p.data.mul_(0.999)

        def work(a, b):
            Keeper(a).shrink()
        """,
}
SILENT = {
    "flags and counts": """
        def work(a, b):
            for p in b.parameters():
                p.requires_grad_(False)
                p.grad = None
            return sum(p.numel() for p in a.parameters())
        """,
    "initial values": """
        class Net(nn.Module):
            def __init__(self, body):
                super().__init__()
                for p in body.parameters():
                    p.data.mul_(0.1)

        def work(a, b):
            pass
        """,
    "foreach does the rest": """
        def work(a, b):
            ps, qs = list(a.parameters()), list(b.parameters())
            if ps[0].is_cuda:
                torch._foreach_lerp_(qs, ps, 0.01)
            else:
                for p, q in zip(ps, qs):
                    q.lerp_(p, 0.01)
        """,
    "now and then": """
        def work(a, b):
            b.calls += 1
            if b.calls % 1000 == 0:
                for p, q in zip(a.parameters(), b.parameters()):
                    q.copy_(p)
        """,
    "numbers": """
        def work(a, b):
            return max(p.dim() * 2 + 1 for p in a.parameters())
        """,
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(TRAIN + textwrap.dedent(source), "TL204")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(source: str) -> None:
    check(TRAIN + textwrap.dedent(source), "TL204")


def test_an_optimizer_of_ones_own() -> None:
    check(
        """
        import torch

        class Plain(torch.optim.Optimizer):
            @torch.no_grad()
            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:  # TL204
                        if p.grad is not None:
                            p.add_(p.grad, alpha=-group["lr"])
        """,
        "TL204",
    )


def test_a_helper_for_other_files_is_only_possible() -> None:
    check(
        """
        import torch

        def soften(src, dst, tau):
            for a, b in zip(src.parameters(), dst.parameters()):  # TL204
                b.data.mul_(1 - tau).add_(tau * a.data)
        """,
        "TL204",
        possible=True,
    )

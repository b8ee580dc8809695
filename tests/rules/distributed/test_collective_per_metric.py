"""TL904: collectives that only report."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "one reduction a metric, and a barrier": """
import torch
import torch.distributed as dist
def mean_of(t):
    t = t.detach().clone()
    dist.all_reduce(t)  # TL904
    return t
class R:
    def fit(self, f, o, d):
        for b in d:
            c = f(b).mean()
            o.zero_grad()
            c.backward()
            o.step()
            self.show = mean_of(c)
            dist.barrier()  # TL904
""",
    "entries of a dictionary": """
import torch
import torch.distributed as dist
def fit(f, o, d):
    for b in d:
        c = f(b)
        c.mean().backward()
        o.step()
        with torch.no_grad():
            seen = {"mean": c.detach().mean(), "spread": c.detach().std()}
        for name in ("mean", "spread"):
            dist.reduce(seen[name], dst=0)  # TL904
        yield seen
""",
}

SILENT = {
    "the gradients themselves, as one": """
import torch
import torch.distributed as dist
def step(net, opt, loader, world):
    net.cuda()
    for x in loader:
        net(x.cuda()).mean().backward()
        params = [p for p in net.parameters() if p.grad is not None]
        flat = torch.cat([p.grad.flatten() for p in params])
        dist.all_reduce(flat)
        flat /= world
        for p, g in zip(params, flat.split([p.numel() for p in params])):
            p.grad = g.reshape(p.shape)
        opt.step()
""",
    "statistics that the output is made with": """
import torch
import torch.distributed as dist
class Norm(torch.nn.Module):
    def forward(self, x):
        stats = [x.detach().mean(0), x.detach().var(0)]
        dist.all_reduce(stats[0])
        dist.all_reduce(stats[1])
        return (x - stats[0]) / stats[1].sqrt()
def fit(o, d):
    net = Norm().cuda()
    for b in d:
        net(b.cuda()).mean().backward()
        o.step()
""",
    "what sets the rate, under another name": """
import torch
import torch.distributed as dist
class Agent:
    def train(self, feed, world):
        self.net.cuda()
        for x in feed:
            out = self.net(x.cuda())
            out.mean().backward()
            self.opt.step()
            with torch.no_grad():
                kl = out.var()
            mean = kl
            dist.all_reduce(kl)
            mean /= world
            self.rate, self.bonus = self.schedule.update(self.rate, self.bonus, mean.item())
""",
    "what decides whether all of them step": """
import math
import torch
from torch import distributed as dist
def go(f, o, d):
    for b in d:
        f(b).mean().backward()
        n = torch.nn.utils.clip_grad_norm_(f.parameters(), 1.0)
        dist.all_reduce(n)
        if math.isnan(n):
            print("skipped")
        else:
            o.step()
""",
    "on logging steps, after the loop, and where it computes": """
import torch
from torch import distributed as dist
def go(f, o, d):
    for i, (b, m) in enumerate(d):
        n = m.sum()
        dist.all_reduce(n)
        c = (f(b) * m).sum() / n
        o.zero_grad()
        c.backward()
        o.step()
        if i % 50 == 0:
            s = c.detach()
            dist.all_reduce(s)
    dist.barrier()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL904")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL904")

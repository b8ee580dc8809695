"""TL601: a running sum that keeps graphs."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "neutral names, in a function": """
import torch as th
def go(f, o, d):
    a = 0
    for b in d:
        c = f(b).mean()
        o.zero_grad()
        c.backward()
        o.step()
        a += c  # TL601
    return a / 7
""",
    "a method adds to an attribute": """
import torch
class R:
    def __init__(self, f, o):
        self.f, self.o, self.sum = f, o, 0.0
    def one(self, b):
        c = self.f(b).mean()
        self.o.zero_grad()
        c.backward()
        self.o.step()
        self.sum = c + self.sum  # TL601
    def all(self, d):
        for b in d:
            self.one(b)
""",
    "a loop over a loader without a backward": """
from torch.utils.data import DataLoader
from torch import nn
def score(rows):
    net = nn.Linear(3, 1).cuda()
    total = 0.0
    for x in DataLoader(rows):
        total += net(x.cuda()).square().mean()  # TL601
    print(total)
""",
    "an entry of a dictionary": """
import torch
def go(f, o, d):
    seen = {"loss": 0.0}
    for b in d:
        c = f(b).mean()
        o.zero_grad()
        c.backward()
        o.step()
        seen["loss"] += c  # TL601
    return seen
""",
    "a record that forward keeps and never reads": """
import torch
class N(torch.nn.Module):
    def note(self, y):
        self.sums += y  # TL601
    def forward(self, x):
        y = self.v(x).mean()
        self.note(y)
        return y
    def mean(self, n):
        return self.sums / n
""",
}

SILENT = {
    "detached, or read": """
import torch
def go(f, o, d):
    a = e = 0.0
    for b in d:
        c = f(b).mean()
        o.zero_grad()
        c.backward()
        o.step()
        a += c.detach()
        e += c.item()
    return a, e
""",
    "the sum is what backward runs on": """
import torch
def go(f, o, d):
    for b in d:
        a = 0.0
        for piece in b:
            a += f(piece).mean()
        o.zero_grad()
        a.backward()
        o.step()
""",
    "autograd is off in the caller": """
import torch
def add(f, d):
    a = 0.0
    for b in d:
        a += f(b).mean()
    return a
def run(f, d):
    with torch.no_grad():
        return add(f, d)
""",
    "counts beside a loss, summed before": """
import torch
def go(f, o, d):
    seen = 0
    for b in d:
        now = 0
        for part in b:
            loss, count = f(part)
            now += count
            loss.backward()
        o.step()
        o.zero_grad()
        seen += now
    return seen
""",
    "a helper detaches what it takes of an attached argument, and adds what came in detached": """
import torch
class P:
    def flat(self, y, **k):
        return torch.cat([g.reshape(-1) for g in torch.autograd.grad(y, self.a.parameters(), **k)])
    def product(self, v, k):
        return self.flat((k * v).sum(), retain_graph=True).detach() + v * 0.1
    def solve(self, b, k):
        x, p = torch.zeros_like(b), b.clone()
        for _ in range(10):
            z = self.product(p, k)
            x += z.dot(p) * p
            p = z
        return x
    def learn(self, d):
        for s in d:
            y = self.a(s).mean()
            g = self.flat(y, retain_graph=True).detach()
            self.solve(g, self.flat(y.square(), create_graph=True))
            y.backward()
            self.o.step()
""",
    "gradients of a list of outputs become a part of the step's loss": """
import torch
class N(torch.nn.Module):
    def training_step(self, x, i):
        g = 0
        for y in self(x):
            g = g + torch.autograd.grad(y, x["a"], torch.ones_like(y), create_graph=True)[0]
        return self(x)[0].mean() * g.clamp_max(0).mean()
""",
    "the state of a recurrence, which the next round of forward computes with": """
import torch
class N(torch.nn.Module):
    def start(self, x):
        self.sums = torch.zeros_like(x)
    def note(self, a):
        self.sums += a
    def forward(self, q):
        a = torch.softmax(self.v(torch.cat((q, self.sums), dim=1)), -1)
        self.note(a)
        return a
""",
    "a search, whose starter turns autograd off": """
import torch
class S:
    def __init__(self, n):
        self.joint = torch.nn.Linear(n, n)
    def greedy(self, x):
        score = torch.zeros(1)
        while True:
            top, k = torch.max(self.joint(x), -1)
            score += top
            if k == 0:
                break
""",
    "what a loss gives beside itself": """
def go(f, g, o, d, scale):
    m = {}
    for b in d:
        loss, reward = g(f(b))
        m["reward"] += (scale * reward.mean())
        loss = scale * loss.mean()
        loss.backward()
        o.step()
""",
    "counts have no graph": """
import torch
def go(f, o, d):
    right = 0
    for b, y in d:
        z = f(b)
        loss = z.mean()
        o.zero_grad()
        loss.backward()
        o.step()
        right += (z.argmax(1) == y).sum()
    return right
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL601")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL601")

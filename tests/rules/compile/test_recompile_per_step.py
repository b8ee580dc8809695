"""TL805: compiling again on every step."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a counter that a helper of the forward moves": """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)
        self.n = 0
    def bump(self):
        self.n = self.n + 1  # TL805
    def forward(self, x):
        self.bump()
        return self.fc(x) * (1 if self.n > 5 else 2)
net = Net().cuda()
net.compile()
def go(loader):
    for x in loader:
        net(x).sum().backward()
""",
    "a counter that the loop sets": """
import torch
class Sched(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Linear(3, 3)
        self.now = 0
    def forward(self, x):
        return self.w(x) * min(1.0, self.now / 100)
def train(loader, opt):
    m = Sched()
    fast = torch.compile(m)
    for i, x in enumerate(loader):
        m.now = i  # TL805
        loss = fast(x).sum()
        loss.backward()
        opt.step()
""",
    "a global": """
import torch
STEP = 0
@torch.compile
def decay(w, g):
    return w - g / (STEP + 1)
def run(w, grads):
    global STEP
    opt = torch.optim.SGD([w], 0.1)
    for g in grads:
        w = decay(w, g)
        w.sum().backward()
        STEP += 1  # TL805
""",
    "a list that grows by a sum": """
import torch
def fuse(feats):
    return torch.cat(feats, 1)
fuse = torch.compile(fuse)
def loop(net, x, n):
    seen = []
    net.cuda()
    for _ in range(n):
        x = net(x)
        seen = seen + [x]
        x = fuse(seen)  # TL805
    return x
""",
    "a sequence that grows under CUDA graphs": """
import torch
@torch.no_grad()
def generate(model, ids, n):
    step = torch.compile(model, mode="reduce-overhead")
    for _ in range(n):
        logits = step(ids)[:, -1]  # TL805
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], dim=1)
    return ids
""",
    "a loop that is unrolled": """
import torch
@torch.compile
def tick(x, k):
    for _ in range(k):
        x = x * 2
    return x
def go(net, x, n):
    net.cuda()
    for i in range(n):
        x = tick(net(x), i)  # TL805
    return x
""",
    "a cache in the module": """
import torch
class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = []
        self.p = torch.nn.Linear(2, 2)
    def forward(self, x):
        self.keys.append(self.p(x))  # TL805
        return torch.stack(self.keys).sum(0)
m = torch.compile(Cache())
""",
    "a text with a counter": """
import torch
fwd = torch.compile(lambda x, tag: x * 2, fullgraph=True)
def go(net, loader):
    for i, x in enumerate(loader):
        loss = net(fwd(x, f"step {i}")).sum()  # TL805
        loss.backward()
""",
    "a counter under dynamic=False": """
import torch
class T:
    def __init__(self, model):
        self.model = torch.compile(model, dynamic=False)
    def fit(self, loader, opt):
        for i, x in enumerate(loader):
            loss = self.model(x, i)  # TL805
            loss.backward()
            opt.step()
""",
}

SILENT = {
    "a number as an argument": """
import torch
@torch.compile
def f(x, i):
    return x * i
def go(net, loader):
    for i, x in enumerate(loader):
        net(f(x, i)).sum().backward()
""",
    "a float attribute, and a counter nobody reads": """
import torch
class A(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.t = 1.0
        self.calls = 0
    def forward(self, x):
        return x * self.t
def go(loader):
    a = A()
    m = torch.compile(a)
    for x in loader:
        m(x).sum().backward()
        a.t *= 0.99
        a.calls += 1
""",
    "an object that is no module": """
import torch
class P:
    def __init__(self):
        self.k = 0
    @torch.compile
    def f(self, x):
        self.k += 1
        return x * self.k
""",
    "a module that is not compiled": """
import torch
class N(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 0
    def forward(self, x):
        self.k += 1
        return x
n = N()
""",
    "a window of one size": """
import torch
@torch.compile(dynamic=False)
def win(x):
    return x * 2
def go(net, xs, n, w):
    net.cuda()
    for i in range(n):
        net(win(xs[i : i + w])).sum().backward()
""",
    "a list of the step's own": """
import torch
@torch.compile
def g(parts):
    return torch.stack(parts)
def go(net, loader):
    for x in loader:
        parts = []
        for k in range(3):
            parts.append(x * k)
        net(g(parts)).sum().backward()
""",
    "a list that each forward begins anew": """
import torch
class E(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = []
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2)])
    def forward(self, x):
        self.out = []
        for l in self.layers:
            x = l(x)
            self.out.append(x)
        return torch.stack(self.out)
m = torch.compile(E())
""",
    "symbolic sizes": """
import torch
@torch.compile(dynamic=True)
def h(x):
    return x * 2
def go(net, x, n):
    net.cuda()
    for t in range(n):
        net(h(x[:, :t])).sum().backward()
""",
    "a trainer's own counter": """
import torch
class W(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
    def forward(self, x):
        return self.fc(x)
class Tr:
    def __init__(self):
        self.m = torch.compile(W())
        self.step = 0
        self.hist = []
    def fit(self, loader, opt):
        for x in loader:
            l = self.m(x).sum()
            l.backward()
            opt.step()
            self.step += 1
            self.hist.append(l.detach())
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL805")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL805")

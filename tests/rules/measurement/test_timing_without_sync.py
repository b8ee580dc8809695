"""TL701: clocks read before the work is done."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "around a module, neutral names": """
import time, torch
def go(f, x):
    f.cuda()
    a = time.perf_counter()
    y = f(x.cuda())
    b = time.perf_counter()
    return y, b - a  # TL701
""",
    "in a method, by an alias of the clock": """
from time import monotonic as now
import torch
class W:
    def __init__(self, f):
        self.f = f.to("cuda")
        self.spent = 0.0
    def one(self, x):
        began = now()
        y = self.f(x)
        self.spent += now() - began  # TL701
        return y
""",
    "the wait comes before the work": """
import time, torch
def go(a):
    a = a.cuda()
    torch.cuda.synchronize()
    t = time.time()
    c = a @ a
    return c, time.time() - t  # TL701
""",
}

SILENT = {
    "a checkpoint, which writes files": """
import time
import torch
class Recipe:
    def save_checkpoint(self):
        torch.save({k: v.half() for k, v in self.net.cuda().state_dict().items()}, "x")
    def train(self, d):
        for x in d:
            self.net(x).mean().backward()
            self.o.step()
        t = time.perf_counter()
        self.save_checkpoint()
        print(time.perf_counter() - t)
""",
    "set-up, which reads files": """
import time
import torch
class Recipe:
    def setup(self):
        self._net()
    def _net(self):
        t = time.perf_counter()
        self.net = torch.nn.Linear(3, 3).cuda()
        self.out = self.net(torch.zeros(3, device="cuda"))
        print(time.perf_counter() - t)
""",
    "the wait and the reading stand in a helper that is called now and then": """
import time, torch
class W:
    def __init__(self, f):
        self.f = f.to("cuda")
    def say(self):
        torch.cuda.synchronize()
        print(time.time() - self.began)
    def steps(self, x):
        for i in range(1000):
            x = self.f(x)
            if i % 100 == 0:
                self.say()
    def run(self, x):
        self.began = time.time()
        self.steps(x)
""",
    "waited for by a helper, by a copy, by a read": """
import time, torch
def wait():
    torch.cuda.synchronize()
def go(f, x):
    f, x = f.cuda(), x.cuda()
    t = time.time()
    f(x)
    wait()
    first = time.time() - t
    t = time.time()
    f(x).cpu()
    second = time.time() - t
    t = time.time()
    f(x).sum().item()
    return first, second, time.time() - t
""",
    "host work": """
import time, torch
def load(path):
    t = time.time()
    rows = [line.split() for line in open(path)]
    print(time.time() - t)
    return rows
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL701")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL701")

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
    "each token is read where a generator makes it": """
import time, torch
def tokens(net, ids, n):
    for _ in range(n):
        ids = net(ids).argmax(-1)
        if ids.item() == 2:
            return
        yield ids
def generate(net, ids, n):
    return torch.cat(list(tokens(net, ids, n)))
def main(net, prompts):
    net.cuda()
    for ids in prompts:
        t = time.perf_counter()
        out = generate(net, ids.cuda(), 100)
        print(time.perf_counter() - t, out.shape)
""",
    "the images of the round before are on the host, and training calls it now and then": """
import time, torch
def render(net, poses):
    shots = []
    t = time.time()
    for i, pose in enumerate(poses):
        print(i, time.time() - t)
        t = time.time()
        shots.append(net(pose).cpu().numpy())
    return shots
def train(net, opt, loader, poses):
    net.cuda()
    for i, x in enumerate(loader):
        net(x.cuda()).mean().backward()
        opt.step()
        if i % 1000 == 0:
            render(net, poses)
        if i % 5000 == 0:
            render(net, poses[:2])
""",
    "losses go into a tensor of the host": """
import time, torch
def validate(net, loader, n):
    net.cuda()
    losses = torch.zeros(n)
    t = time.perf_counter()
    for i in range(n):
        losses[i] = net(loader[i].cuda()).mean()
    print(time.perf_counter() - t)
    return losses.mean()
""",
    "something unknown is read": """
import time, torch
def fit(net, loader, mean):
    net.cuda()
    for x in loader:
        t = time.perf_counter()
        mean.update(net(x.cuda()).mean())
        print(mean.compute().item(), time.perf_counter() - t)
""",
    "the rate since the beginning, in a loop of no torch": """
import time, torch
def run(envs, buffer, learn, n):
    began = time.time()
    for step in range(n):
        obs = torch.as_tensor(envs.step(step), device="cuda")
        buffer.add(obs)
        if step % 10 == 0:
            print(step / (time.time() - began))
""",
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

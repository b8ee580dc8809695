"""TL702: benchmarks that time the first call."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a block of runs": """
import time, torch
def bench(model, n=100):
    model.cuda().eval()
    x = torch.randn(8, 3, 224, 224, device="cuda")
    with torch.no_grad():
        torch.cuda.synchronize()
        t0 = time.time()
        for _ in range(n):
            _ = model(x)
        torch.cuda.synchronize()
        t1 = time.time()
    print("ms", (t1 - t0) / n * 1000)  # TL702
""",
    "a mean of samples": """
import time, torch
def bench(model, x, n=100):
    times = []
    for _ in range(n):
        torch.cuda.synchronize()
        s = time.perf_counter()
        model(x)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - s)  # TL702
    return sum(times) / len(times)
""",
    "a method, by an alias of the clock": """
from time import perf_counter as now
import torch
class Speed:
    def __init__(self, net, size):
        self.net = net.to("cuda")
        self.x = torch.zeros(size, device="cuda")
    def run(self, k):
        a = now()
        for _ in range(k):
            self.net(self.x)
        torch.cuda.synchronize()
        return k / (now() - a)  # TL702
""",
    "events at the top of a script": """
import torch
a = torch.randn(4096, 4096, device="cuda")
b = torch.randn(4096, 4096, device="cuda")
s = torch.cuda.Event(enable_timing=True)
e = torch.cuda.Event(enable_timing=True)
s.record()
for _ in range(100):
    torch.matmul(a, b)
e.record()
torch.cuda.synchronize()
print(s.elapsed_time(e) / 100)  # TL702
""",
    "a clock that waits, given to by a caller": """
import torch, time
def clock():
    torch.cuda.synchronize()
    return time.perf_counter()
def measure(fn, args, reps):
    t = clock()
    for _ in range(reps):
        fn(*args)
    return (clock() - t) / reps  # TL702
def main():
    x = torch.randn(5, device="cuda")
    print(measure(torch.sin, (x,), 10))
""",
    "two variants in a loop": """
import torch, time
def compare(eager, x):
    fast = torch.compile(eager)
    out = {}
    for name, f in (("eager", eager), ("compiled", fast)):
        torch.cuda.synchronize()
        t = time.perf_counter()
        for _ in range(20):
            f(x)
        torch.cuda.synchronize()
        out[name] = (time.perf_counter() - t) / 20  # TL702
    return out
""",
    "samples that a caller takes": """
import torch, time
def once(fn, x):
    torch.cuda.synchronize()
    t = time.time()
    fn(x)
    torch.cuda.synchronize()
    return time.time() - t  # TL702
def mean(fn, x):
    return sum(once(fn, x) for _ in range(10)) / 10
""",
    "forward and backward, inline": """
import torch, time
def train_bench(net, x, y, loss_fn, steps=20):
    net.cuda()
    start = time.monotonic()
    for _ in range(steps):
        loss_fn(net(x.cuda()), y.cuda()).backward()
    torch.cuda.synchronize()
    took = time.monotonic() - start  # TL702
    return steps / took
""",
    "lists of events": """
import torch
def events(module, x, n=30):
    begins = [torch.cuda.Event(enable_timing=True) for _ in range(n)]
    ends = [torch.cuda.Event(enable_timing=True) for _ in range(n)]
    for i in range(n):
        begins[i].record()
        module(x)
        ends[i].record()
    torch.cuda.synchronize()
    ms = [b.elapsed_time(e) for b, e in zip(begins, ends)]  # TL702
    return sum(ms) / n
""",
    "an operator": """
import torch, timeit
def gemm(m, dev):
    a = torch.rand(m, m).to(dev)
    torch.cuda.synchronize()
    s = timeit.default_timer()
    for _ in range(10):
        c = a @ a
    torch.cuda.synchronize()
    return timeit.default_timer() - s  # TL702
""",
    "a while loop": """
import torch, time
def throughput(model, batch):
    model = model.cuda().half()
    n = 0
    start = time.time()
    while n < 50:
        with torch.inference_mode():
            model(batch)
        n += 1
    torch.cuda.synchronize()
    return n / (time.time() - start)  # TL702
""",
}

SILENT = {
    "the epochs of a training that steps in another method": """
import time, torch
class Agent:
    def __init__(self, net, opt):
        self.net, self.opt = net.cuda(), opt
    def update(self, x):
        self.net(x.cuda()).mean().backward()
        self.opt.step()
    def play(self, x):
        return self.net(x.cuda()).cpu()
    def epoch(self, x, n):
        began = time.perf_counter()
        seen = self.play(x)
        played = time.perf_counter()
        for _ in range(n):
            self.update(seen)
        torch.cuda.synchronize()
        return played - began, time.perf_counter() - played
    def train(self, feed):
        for x in feed:
            print(self.epoch(x, 4))
""",
    "a loop before": """
import time, torch
def bench(model, x, n=100):
    for _ in range(10):
        model(x)
    torch.cuda.synchronize()
    t = time.time()
    for _ in range(n):
        model(x)
    torch.cuda.synchronize()
    return (time.time() - t) / n
""",
    "the clock starts after some rounds": """
import time, torch
def bench(model, x, n=100, burn=10):
    for i in range(n + burn):
        if i == burn:
            torch.cuda.synchronize()
            t = time.time()
        model(x)
    torch.cuda.synchronize()
    return (time.time() - t) / n
""",
    "the first samples are cut off": """
import time, torch
def bench(model, x, n=100):
    ts = []
    for i in range(n):
        t = time.time()
        model(x)
        torch.cuda.synchronize()
        ts.append(time.time() - t)
    return sum(ts[5:]) / (n - 5)
""",
    "a reference run before": """
import time, torch
def bench(model, x, n=100):
    ref = model(x)
    torch.cuda.synchronize()
    t = time.time()
    for i in range(n):
        model(x)
    torch.cuda.synchronize()
    return ref, time.time() - t
""",
    "a decoding loop": """
import time, torch
def decode(model, ids, n):
    torch.cuda.synchronize()
    t = time.time()
    for _ in range(n):
        logits = model(ids)
        ids = torch.cat([ids, logits[:, -1:].argmax(-1)], 1)
    torch.cuda.synchronize()
    return ids, n / (time.time() - t)
""",
    "training on the whole graph": """
import time, torch
def gcn(net, feats, adj, y, opt, epochs):
    t = time.time()
    for _ in range(epochs):
        opt.zero_grad()
        loss = (net(feats, adj) - y).pow(2).mean()
        loss.backward()
        opt.step()
    torch.cuda.synchronize()
    print(time.time() - t)
""",
    "a helper that warms up": """
import time, torch
def warm(fn, *a):
    for _ in range(3):
        fn(*a)
    torch.cuda.synchronize()
def go(fn, x):
    warm(fn, x)
    t = time.time()
    for _ in range(30):
        fn(x)
    torch.cuda.synchronize()
    return time.time() - t
""",
    "the same timing, thrown away": """
import time, torch
def _time(fn, x, n):
    torch.cuda.synchronize()
    t = time.time()
    for _ in range(n):
        fn(x)
    torch.cuda.synchronize()
    return (time.time() - t) / n
def bench(fn, x):
    _time(fn, x, 5)
    return _time(fn, x, 100)
""",
    "evaluation over a loader": """
import time, torch
def evaluate(model, loader):
    t = time.time()
    for x in loader:
        model(x.cuda())
    torch.cuda.synchronize()
    return time.time() - t
""",
    "one stage of a program": """
import time, torch
def stage(pipe, image):
    torch.cuda.synchronize()
    t = time.time()
    out = pipe(image)
    torch.cuda.synchronize()
    print("took", time.time() - t)
    return out
""",
    "an object that a caller primes": """
import time, torch
class B:
    def __init__(self, net):
        self.net = net.cuda()
        self.x = torch.zeros(1, 3, device="cuda")
    def prime(self):
        self.net(self.x)
    def go(self):
        torch.cuda.synchronize()
        t = time.perf_counter()
        for _ in range(9):
            self.net(self.x)
        torch.cuda.synchronize()
        return time.perf_counter() - t
def main(net):
    b = B(net)
    b.prime()
    print(b.go())
""",
    "host code": """
import time
def host(fn, xs):
    t = time.time()
    for _ in range(100):
        fn(xs)
    return time.time() - t
""",
    "a simulator": """
import time, torch
def rollout(env, policy, n):
    t = time.time()
    obs = env.reset()
    for _ in range(n):
        a = policy(obs)
        obs, r, d, _ = env.step(a)
    return n / (time.time() - t)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL702")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL702")

"""Calls before the clock, the first spans dropped, and torch's own timer."""

import time

import torch
from torch.utils import benchmark


@torch.inference_mode()
def dropped(net, x, runs=10, skip=3):
    net, x = net.cuda().eval(), x.cuda()
    spans = []
    for k in range(runs + skip):
        torch.cuda.synchronize()
        t0 = time.perf_counter()
        net(x)
        torch.cuda.synchronize()
        if k >= skip:
            spans.append(time.perf_counter() - t0)
    return sorted(spans)[len(spans) // 2]


def proper(net, x):
    return benchmark.Timer("net(x)", globals={"net": net, "x": x}).blocked_autorange().median


def once(net, path):
    t0 = time.time()
    net.load_state_dict(torch.load(path, weights_only=True))
    torch.cuda.synchronize()
    print("loaded in", time.time() - t0)


def timed_after_copies(net, sample, runs):
    taken = []
    for _ in range(5):
        net(sample.cuda()).cpu()
    for _ in range(runs):
        begin = time.perf_counter()
        net(sample.cuda()).cpu()
        taken.append(time.perf_counter() - begin)
    return min(taken)

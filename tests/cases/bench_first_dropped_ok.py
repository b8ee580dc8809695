"""Samples of which the first do not count: cut from an array, taken from a list; and a profiler of a few steps."""

import time

import numpy as np
import torch
from torch import nn


@torch.inference_mode()
def cut(net: nn.Module, x, rounds):
    net, x = net.cuda().eval(), x.cuda()
    spans = np.zeros(rounds)
    for k in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        net(x)
        torch.cuda.synchronize()
        spans[k] = time.perf_counter() - begin
    return spans[10:].mean()


@torch.inference_mode()
def popped(net: nn.Module, x, rounds):
    net, x = net.cuda().eval(), x.cuda()
    spans = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        net(x)
        torch.cuda.synchronize()
        spans.append(time.perf_counter() - begin)
    spans.pop(0)
    return sum(spans) / len(spans)


def profiled(net: nn.Module, feed, opt):
    net = net.cuda()
    with torch.profiler.profile(with_stack=True) as seen:
        for k, x in enumerate(feed):
            if k > 5:
                break
            opt.zero_grad()
            net(x.cuda()).mean().backward()
            opt.step()
    seen.export_chrome_trace("steps.json")

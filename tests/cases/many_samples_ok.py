"""The middle and the spread of many runs."""

import statistics
import time

import torch


@torch.inference_mode()
def bench(net, x):
    net, x = net.cuda().eval(), x.cuda()
    for _ in range(5):
        net(x)
    spans = []
    for _ in range(50):
        torch.cuda.synchronize()
        t0 = time.perf_counter()
        net(x)
        torch.cuda.synchronize()
        spans.append(time.perf_counter() - t0)  # no TL709
    return statistics.median(spans), statistics.quantiles(spans)

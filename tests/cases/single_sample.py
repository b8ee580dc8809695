"""One run is all that a benchmark reports."""

import time

import torch


@torch.inference_mode()
def bench(net, x):
    net, x = net.cuda().eval(), x.cuda()
    for _ in range(5):
        net(x)
    torch.cuda.synchronize()
    t0 = time.perf_counter()
    net(x)
    torch.cuda.synchronize()
    print("latency", time.perf_counter() - t0)  # TL709?

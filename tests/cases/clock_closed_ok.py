"""Intervals that hold a wait, or no device work, or whole epochs, and those that only the host's work has."""

import time

import torch


@torch.inference_mode()
def latency(net, x, runs=20):
    net, x = net.cuda().eval(), x.cuda()
    for _ in range(3):
        net(x)
    torch.cuda.synchronize()
    t0 = time.perf_counter()
    for _ in range(runs):
        net(x)
    torch.cuda.synchronize()
    return (time.perf_counter() - t0) / runs


def load(net, path):
    t0 = time.time()
    state = torch.load(path, map_location="cpu", weights_only=True)
    net.load_state_dict(state)
    print("read in", time.time() - t0)


def fit(net, opt, feed, epochs):
    net = net.cuda()
    for epoch in range(epochs):
        began = time.time()
        total = torch.zeros((), device="cuda")
        for x, y in feed:
            opt.zero_grad()
            out = torch.nn.functional.mse_loss(net(x), y)
            out.backward()
            opt.step()
            total += out.detach()
        print(epoch, total.item(), time.time() - began)


def waiting_for_data(net, feed):
    net = net.cuda()
    spent, mark = 0.0, time.time()
    for x in feed:
        spent += time.time() - mark
        with torch.inference_mode():
            net(x.cuda(non_blocking=True))
        mark = time.time()
    return spent


def timed(x, place):
    net, x = torch.nn.Linear(64, 64).to(place), x.to(place)
    spent, begin, end = 0.0, None, None
    if place.type == "cuda":
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        net(x)
        end.record()
    else:
        mark = time.perf_counter()
        net(x)
        spent = time.perf_counter() - mark
    return spent, begin, end

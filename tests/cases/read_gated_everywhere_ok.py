"""Reads that are gated, of the host, at an epoch's end, or what decides a stop."""

import torch
from torch import nn


class Watch:
    def __init__(self, every):
        self.every = every

    def due(self, k):
        return k % self.every == 0

    def show(self, k, value):
        if self.due(k):
            print(k, value.item())


def fit(net: nn.Module, opt, feed, epochs, watch: Watch):
    net.cuda()
    for epoch in range(epochs):
        total = torch.zeros((), device="cuda")
        for k, (x, y) in enumerate(feed):
            out = nn.functional.cross_entropy(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
            opt.zero_grad()
            out.backward()
            opt.step()
            total += out.detach()
            watch.show(k, out.detach())
            rows = int(x.shape[0])
            share = float(rows) / len(feed)
            if k == 0:
                print("first", out.item(), share)
        print(epoch, total.item() / len(feed))

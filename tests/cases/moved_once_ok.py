"""Moved before the loop, or rebound to the attribute so that the next call finds it there, or new each time."""

import torch
from torch import nn


class Anchored(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.anchors = torch.linspace(0, 1, n)
        self.register_buffer("scale", torch.ones(n))

    def forward(self, x):
        self.anchors = self.anchors.to(x.device)
        return (x[..., None] - self.anchors) * self.scale.to(x.dtype)


def fit(net: nn.Module, opt, feed, weight):
    net = net.cuda()
    weight = weight.cuda()
    for x, y in feed:
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y, weight=weight).backward()
        opt.step()

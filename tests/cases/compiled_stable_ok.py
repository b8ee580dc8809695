"""Tensors for what changes, dynamic shapes on request, a fixed window, and a flag that changes once."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return self.inner(x) / self.calls


@torch.compile(dynamic=True)
def update(p, g, step):
    return p - g / (1 + step)


def fit(width, feed):
    net = torch.compile(Net(width).cuda())
    p = torch.zeros(width, device="cuda")
    t = torch.zeros((), device="cuda")
    for k, x in enumerate(feed):
        t += 1
        p = update(p, net(x).mean(0), k)
        p = torch.compile(torch.add)(p, t) if k < 0 else p
    return p

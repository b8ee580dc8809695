"""A compiled step is given the number of the step, and an attribute that counts."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # TL805
        return self.inner(x) / self.calls


@torch.compile
def update(p, g, step, rate):
    return p - rate / (1 + 0.01 * step) * g


def fit(width, feed):
    net = torch.compile(Net(width).cuda())
    p = torch.zeros(width, device="cuda")
    for k, x in enumerate(feed):
        g = net(x).mean(0)
        p = update(p, g, k, 0.1)  # TL805?
    return p

"""A fresh function is compiled on every call, in a loop, and in a property."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    @property
    def fast(self):
        return torch.compile(self.inner)  # TL804

    def forward(self, x):
        act = torch.compile(lambda t: t * torch.sigmoid(t))  # TL804
        return act(self.fast(x))


def fit(net, opt, feed):
    net = net.cuda()
    for x, y in feed:
        step = torch.compile(nn.functional.mse_loss)  # TL804
        opt.zero_grad()
        step(net(x), y).backward()
        opt.step()

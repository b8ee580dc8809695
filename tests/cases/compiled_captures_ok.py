"""Sizes, numbers and flags of Python in a compiled region; reads outside of it, or captured on request."""

import torch
from torch import nn


class Cut(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net, self.width = nn.Linear(width, width), width

    def forward(self, x, n: int):
        if self.training and x.shape[0] > 1:
            x = x * float(n) / int(x.shape[-1])
        return self.net(x[:, :n])


def fit(net, opt, feed, every):
    net = torch.compile(net.cuda())
    for k, (x, y) in enumerate(feed):
        out = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        out.backward()
        opt.step()
        if k % every == 0:
            print(k, out.item())


cut = torch.compile(Cut(8).cuda())

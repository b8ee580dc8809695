"""Tables that NumPy computes from sizes in each forward, and arrays of data, which are none."""

import numpy as np
import torch
from torch import nn


def distances(size):
    places = np.arange(0, size)
    return torch.from_numpy(places[:, None] - np.tile(places, (size, 1)))


class Places(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weigh = nn.Embedding(512, width)

    def forward(self, x):
        away = distances(x.shape[1]).to(x.device)  # TL508?
        return x + self.weigh(away.abs()).sum(1)


def noise(size):
    return torch.from_numpy(np.random.randn(size, size)).float().to("cuda")  # no TL508


def last_only(net, opt, feed):
    net = net.cuda()
    for x in feed:
        parts, states = net(x.cuda())
        loss = parts.mean() + sum(state.pow(2).mean() for state in states[-1:])
        opt.zero_grad()
        loss.backward()
        opt.step()

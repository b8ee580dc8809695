"""A window is computed from a formula on the host, and a weight by arithmetic, on every call."""

from math import exp

import torch
from torch import nn
from torch.nn import functional as F


def bell(size, sigma):
    line = torch.Tensor([exp(-((x - size // 2) ** 2) / (2 * sigma**2)) for x in range(size)])
    return line / line.sum()


def window(size, channels):
    line = bell(size, 1.5).unsqueeze(1)
    return line.mm(line.t())[None, None].expand(channels, 1, size, size).contiguous()


class Blur(nn.Module):
    def __init__(self, size=11):
        super().__init__()
        self.size = size

    def forward(self, x):
        kernel = window(self.size, x.size(1)).to(x.device)  # TL508
        return F.conv2d(x, kernel, padding=self.size // 2, groups=x.size(1))


class Fit:
    def __init__(self, net, opt, steps, device="cuda"):
        self.net, self.opt, self.steps, self.k = net.to(device), opt, steps, 0
        self.device = device

    def weight(self):
        return min(1.0, self.k / self.steps)

    def step(self, x):
        self.k += 1
        rec, kl = self.net(x)
        beta = torch.tensor(self.weight()).to(self.device)  # TL207
        loss = rec + beta * kl
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def lengths(batch, device):
    return torch.tensor([len(row) for row in batch]).float().to(device)

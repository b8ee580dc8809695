"""Factories fill the host's memory, and the result is moved."""

import torch
from torch import nn


class Start(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        h = torch.zeros(x.size(0), self.width).to(x.device)  # TL508
        at = torch.arange(x.size(1)).cuda()  # TL508
        noise = torch.randn(x.shape).type_as(x)  # TL508?
        return h, at, x + noise


def latents(n, device="cuda"):
    z = torch.rand(n, 4, 64, 64)
    z = z.to(device)  # TL508
    return z


def table(n, width, base=10000.0):
    rates = 1.0 / base ** (torch.arange(0, width, 2).float() / width)
    angles = torch.outer(torch.arange(n).float(), rates)
    return angles.cos(), angles.sin()


class Turn(nn.Module):
    def forward(self, x):
        cos, sin = table(x.size(1), 64)
        cos, sin = cos.to(x.device), sin.to(x.device)  # TL508
        return x * cos + x.flip(-1) * sin


class Windows:
    def window(self, kind, length):
        if kind == "hann":
            return torch.hann_window(length)
        raise NotImplementedError(kind)

    def set_up(self, kind, length, device):
        self.held = self.window(kind, length).to(device)  # TL508

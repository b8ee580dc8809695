"""Angles are computed on the host by two methods, one of which the other calls by name, and moved in each call."""

import torch
from torch import nn


class Waves(nn.Module):
    def __init__(self, width, both):
        super().__init__()
        self.width, self.both = width, both
        self.mix = nn.Linear(width, width)

    @staticmethod
    def angles(places, speeds, count=None):
        turned = torch.outer(places, speeds)
        waves = torch.cat([turned.sin(), turned.cos()], dim=-1)[:, None]
        if count is not None:
            waves = waves.expand(-1, count, -1)
        return waves

    def table(self, n, count):
        steps = torch.arange(0, self.width, 2.0)
        speeds = 1 / torch.pow(10000, steps / self.width)
        if self.both:
            there, back = torch.arange(n, -n, -1.0), torch.arange(-n, n, 1.0)
            waves = torch.cat([self.angles(there, speeds, count), self.angles(back, speeds, count)], dim=1)
        else:
            waves = self.angles(torch.arange(n, -1, -1.0), speeds, count)
        return waves

    def forward(self, x):
        waves = self.table(x.shape[0], x.shape[1])
        waves = waves.to(x.device)  # TL508
        return self.mix(x) + waves[: x.shape[0]]


def bump(size, sigma):
    x = torch.arange(size).float() - size // 2
    g = torch.exp(-(x**2) / (2 * sigma**2))
    return g / g.sum()


def blurred(image):
    kernel = bump(11, 1.5).to(image.device)  # TL508
    return torch.nn.functional.conv1d(image, kernel.expand(1, 1, -1))


class Blur(torch.nn.Module):
    def forward(self, image):
        return blurred(image)

"""Gates by another tensor, or by a network that ends in a sigmoid, are no activation."""

from torch import nn
import torch


class SE(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.fc = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, c, 1), nn.Sigmoid())
        self.conv = nn.Conv2d(c, c, 3)

    def forward(self, x):
        a = self.conv(x)
        return x * self.fc(x) + a.sigmoid().mean() * a


class GLU(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, 1)
        return a * torch.sigmoid(b)


class Spatial(nn.Module):
    def forward(self, x):
        m = x.mean(1, keepdim=True)
        return x * torch.sigmoid(m)

"""Hard swish, GELU from the left, and a norm by its standard deviation."""

from torch import nn
import torch


def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x / 1.4142135623730951))  # TL305


def hswish(x):
    return x * torch.nn.functional.relu6(x + 3) / 6  # TL305?


def softplus(x):
    return torch.log(1 + torch.exp(x))  # TL305?


class LayerNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.a = nn.Parameter(torch.ones(d))
        self.b = nn.Parameter(torch.zeros(d))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.a * (x - mean) / (std + self.eps) + self.b  # TL304?


class LN2d(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(c))

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        return (x - u) / torch.sqrt(s + 1e-6) * self.weight[:, None, None]

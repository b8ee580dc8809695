"""Activations written out: the smooth step, both forms of the gaussian unit, and the softplus gate."""

import math

import torch
from torch import nn


def gauss(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))  # TL305


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)  # TL305


class Error(nn.Module):
    def forward(self, x):
        return x * 0.5 * (1.0 + torch.erf(x / 1.4142135))  # TL305


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))  # TL305


class Feed(nn.Module):
    def forward(self, x):
        return gelu(x)


class Mish(nn.Module):
    def forward(self, x):
        return x * nn.functional.softplus(x).tanh() + gauss(x)  # TL305

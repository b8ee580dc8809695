"""The plain twin of a forward that calls a kernel, to check it by."""

import ext
import torch
from torch import nn


class HeadNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x, cache=None):
        ext.head_norm(x, self.weight, x)
        return x

    def forward_torch(self, x, cache=None):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight

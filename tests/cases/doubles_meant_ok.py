"""Doubles on the host, doubles with a reason, and arrays that are cast first."""

import numpy as np
import torch
from torch import nn


def gradcheck(fn):
    x = torch.randn(4, 4, dtype=torch.float64, device="cuda", requires_grad=True)
    return torch.autograd.gradcheck(fn, (x,))


def host(values):
    total = torch.tensor(values, dtype=torch.float64).cumsum(0)
    return total.numpy()


def sent(values: np.ndarray):
    a = torch.from_numpy(np.linspace(0, 1, 10).astype(np.float32)).cuda()
    b = torch.from_numpy(np.linspace(0, 1, 10)).float().cuda()
    c = torch.tensor(np.zeros(10, dtype=np.int64), device="cuda")
    d = torch.as_tensor(np.random.rand(3), dtype=torch.float32, device="cuda")
    return a, b, c, d


class Running(nn.Module):
    def forward(self, x):
        # The sum of squares of millions of values cancels in single precision.
        return x.double().square().sum().sqrt().float()

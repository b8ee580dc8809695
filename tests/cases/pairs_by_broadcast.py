"""All distances by broadcasting, with a root and for one norm."""

import torch
from torch import nn


class Nearest(nn.Module):
    def forward(self, a, b):
        gap = a.unsqueeze(1) - b.unsqueeze(0)
        far = gap.pow(2).sum(-1).sqrt()  # TL311
        also = ((a[:, None, :] - b[None, :, :]) ** 2).sum(dim=2)  # TL311
        return far.argmin(1), also.argmin(1)


class Codes(nn.Module):
    def __init__(self, n, width):
        super().__init__()
        self.book = nn.Parameter(torch.randn(n, width))

    def forward(self, x):
        return torch.norm(x[:, None] - self.book[None], dim=-1).argmin(-1)  # TL311

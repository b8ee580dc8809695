"""Layer and root norms written out, with helpers and a reshaping."""

import torch
from torch import nn


class Centre(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        spread = x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) / torch.sqrt(spread + self.eps) * self.gain + self.shift  # TL304


class Root(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def _norm(self, x):
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6)  # TL304

    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.gain

"""Tables in buffers, kept after the first call, and those that follow the input."""

import torch
from torch import nn


class Kept(nn.Module):
    def __init__(self, dim, longest):
        super().__init__()
        rate = 10000.0 ** (-torch.arange(0, dim, 2) / dim)
        self.register_buffer("angle", torch.outer(torch.arange(longest).float(), rate))
        self._mask = None

    def mask(self, n, device):
        if self._mask is None or self._mask.size(-1) < n:
            self._mask = torch.full((n, n), float("-inf"), device=device).triu(1)
        return self._mask[:n, :n]

    def forward(self, x, t):
        angle = self.angle[: x.shape[1]]
        code = torch.outer(t.float(), angle[0])  # no TL210
        return x * angle.cos() + code.mean() + self.mask(x.shape[1], x.device).exp().mean()

"""Linear algebra that was measured not to wait."""

import torch
from torch import nn


class Flow(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.eye(d))

    def forward(self, z):
        sign, logdet = torch.linalg.slogdet(self.w)
        q, r = torch.linalg.qr(self.w)
        low, info = torch.linalg.cholesky_ex(self.w @ self.w.T)
        out = torch.linalg.solve_triangular(low, z.T, upper=False)
        n = torch.linalg.norm(self.w) + torch.linalg.vector_norm(z) + torch.linalg.det(self.w)
        return q @ out, logdet, n

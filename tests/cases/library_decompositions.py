"""Decompositions and comparisons that wait, in a module, a regulariser and a whitening."""

import torch
from torch import nn


class Whiten(nn.Module):
    def root(self, cov):
        value, vector = torch.linalg.eigh(cov)  # TL111
        return vector * value.clamp(min=1e-5).rsqrt() @ vector.mT

    def forward(self, x):
        x = x - x.mean(0)
        return x @ self.root(x.mT @ x / x.shape[0])


class Rank(nn.Module):
    def forward(self, w, ref):
        sv = torch.linalg.svdvals(w)  # TL111?
        u, s, vh = torch.linalg.svd(w, full_matrices=False)  # TL111
        low = torch.linalg.cholesky(w.mT @ w)  # TL111
        same = torch.allclose(w, ref)  # TL111
        return sv.sum() + s.sum() + u.sum() + vh.sum() + low.sum(), same

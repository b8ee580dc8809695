"""Shares by exponentials and their sum, in helpers, with the largest taken out first, and of a part."""

import torch
from torch import nn


def shares(score, dim=-1):
    e = (score - score.max(dim=dim, keepdim=True).values).exp()
    return e / e.sum(dim, keepdim=True)  # TL301


class Gate(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.score = nn.Linear(width, n)

    def forward(self, x):
        raw = self.score(x).exp()
        total = raw.sum(dim=-1, keepdim=True)
        first = torch.div(raw, total)  # TL301
        return first + shares(self.score(x))


class Contrast(nn.Module):
    def forward(self, near, others):
        e = torch.exp(torch.cat([near, others], 1))
        own = e[:, 0] / e.sum(1)  # TL301
        pairs = torch.exp(near @ others.T)
        both = pairs.diagonal() / pairs.sum(1)  # TL301
        return own + both

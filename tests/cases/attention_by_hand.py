"""Attention written out with a scale, a mask, dropout, in helpers."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def attend(q, k, v, mask=None):
    score = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        score = score.masked_fill(mask == 0, -1e9)
    weight = F.softmax(score, dim=-1)  # TL302
    return torch.matmul(weight, v)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.dim = heads, width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, self.dim).permute(2, 0, 3, 1, 4)
        w = (q @ k.transpose(-1, -2)) * self.dim**-0.5
        w = self.drop(w.softmax(dim=-1))  # TL302
        return (w @ v).transpose(1, 2).reshape(b, n, c) + attend(q, k, v).flatten(1, 2).mean()

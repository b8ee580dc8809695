"""Weights that are returned or regularised, another normalisation, a dispatch, a matrix product of shares.

Channels that attend to channels, which sum over all places, and shares of classes that weigh masks by query.
"""

import torch
from torch import nn
from torch.nn import functional as F


class Shown(nn.Module):
    def forward(self, q, k, v):
        weight = (q @ k.mT / q.size(-1) ** 0.5).softmax(-1)
        self.last = weight
        return weight @ v


class Entropy(nn.Module):
    def forward(self, q, k, v):
        weight = (q @ k.mT).softmax(-1)
        cost = -(weight * weight.square()).sum(-1).mean()
        return weight @ v, cost


class Linear(nn.Module):
    def forward(self, q, k, v):
        return q.softmax(-1) @ (k.softmax(-2).mT @ v)


class Chosen(nn.Module):
    def __init__(self, flash):
        super().__init__()
        self.flash = flash and hasattr(F, "scaled_dot_product_attention")

    def forward(self, q, k, v):
        if self.flash:
            return F.scaled_dot_product_attention(q, k, v)
        return torch.softmax(q @ k.mT / q.size(-1) ** 0.5, dim=-1) @ v


class Head(nn.Module):
    def forward(self, x, table):
        return x.softmax(-1) @ table


class Channels(nn.Module):
    def forward(self, x):
        b, c, h, w = x.size()
        q, v = x.view(b, c, -1), x.view(b, c, -1)
        k = x.view(b, c, -1).permute(0, 2, 1)
        weight = torch.softmax(torch.bmm(q, k), dim=-1)
        return torch.bmm(weight, v).view(b, c, h, w) + x


class Masks(nn.Module):
    def forward(self, queries, classes, masks):
        score = torch.einsum("bqc,nc->bqn", queries, classes)
        share = F.softmax(score, dim=-1)[..., :-1]
        return torch.einsum("bqc,bqhw->bchw", share, masks.sigmoid())

"""A triangle is built for fused attention, by three spellings."""

import torch
from torch import nn
from torch.nn import functional as F


def triangle(n, device):
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()  # TL306


class One(nn.Module):
    def forward(self, q, k, v):
        mask = triangle(q.size(-2), q.device)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Two(nn.Module):
    def __init__(self, longest):
        super().__init__()
        self.register_buffer("mask", torch.triu(torch.full((longest, longest), float("-inf")), diagonal=1))  # TL306

    def forward(self, q, k, v):
        n = q.shape[-2]
        return F.scaled_dot_product_attention(q, k, v, self.mask[:n, :n])


class Three(nn.Module):
    def forward(self, q, k, v):
        at = torch.arange(q.shape[-2], device=q.device)
        keep = at[:, None] >= at[None, :]  # TL306
        return F.scaled_dot_product_attention(q, k, v, attn_mask=keep, dropout_p=0.0)

"""Causal masks made in steps: filled in place, compared with numbers, kept in a buffer."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def lm_attention(q, k, v):
    L = q.shape[-2]
    bias = torch.zeros(L, L, dtype=q.dtype, device=q.device)
    keep = torch.ones(L, L, dtype=torch.bool, device=q.device).tril(diagonal=0)  # TL306
    bias.masked_fill_(keep.logical_not(), float("-inf"))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=0.0)


class Model(torch.nn.Module):
    def forward(self, q, k, v):
        i = torch.arange(q.size(-2), device=q.device)
        allowed = i.view(1, -1) <= i.view(-1, 1)  # TL306
        return F.scaled_dot_product_attention(q, k, v, allowed[None, None])


class Right(torch.nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=q.size(-2) > 1)


def attn(q, k, v):
    n = q.shape[-2]
    tri = torch.ones((n, n), device=q.device).triu(1).bool()  # TL306
    mask = torch.zeros((n, n), device=q.device).masked_fill(tri, float("-inf"))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def attn2(q, k, v):
    s = q.size(2)
    m = torch.where(torch.tril(torch.ones(s, s, device=q.device)) == 1, 0.0, -1e9)  # TL306
    return F.scaled_dot_product_attention(q, k, v, attn_mask=m)


class Causal(nn.Module):
    def __init__(self, d, h, block):
        super().__init__()
        self.h = h
        self.attn = nn.Linear(d, 3 * d)
        self.register_buffer("bias", torch.tril(torch.ones(block, block)).view(1, 1, block, block))  # TL306

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.attn(x).split(C, dim=2)
        q = q.view(B, T, self.h, -1).transpose(1, 2)
        k = k.view(B, T, self.h, -1).transpose(1, 2)
        v = v.view(B, T, self.h, -1).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[:, :, :T, :T].bool())
        return y.transpose(1, 2).contiguous().view(B, T, C)

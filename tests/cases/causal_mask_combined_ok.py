"""Triangles joined with padding, windows, offsets of a cache, and masks that callers give."""

import torch
from torch import nn
from torch.nn import functional as F


class Padded(nn.Module):
    def forward(self, q, k, v, pad):
        n = q.size(-2)
        mask = torch.ones(n, n, dtype=torch.bool, device=q.device).tril() & pad[:, None, None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Window(nn.Module):
    def forward(self, q, k, v, width):
        n = q.size(-2)
        mask = torch.ones(n, n, dtype=torch.bool, device=q.device).tril().triu(-width)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Cached(nn.Module):
    def forward(self, q, k, v):
        n, m = q.size(-2), k.size(-2)
        mask = torch.ones(n, m, dtype=torch.bool, device=q.device).tril(diagonal=m - n)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Given(nn.Module):
    def forward(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask) + F.scaled_dot_product_attention(
            q, k, v, is_causal=True
        )


class Positions(nn.Module):
    def __init__(self, longest):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest, dtype=torch.bool)))

    def forward(self, q, k, v, where):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[None, None, where])


class Both(nn.Module):
    def __init__(self, longest):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest, dtype=torch.bool)))

    def forward(self, q, k, v):
        n = q.size(-2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[:n, :n])
        return out, self.mask[:n, :n].float().mean()

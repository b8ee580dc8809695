"""Grouped attention by the option, and repeats for other ends."""

import torch
from torch import nn
from torch.nn import functional as F


class Grouped(nn.Module):
    def forward(self, q, k, v, n):
        out = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        wide = out.repeat_interleave(n, dim=0)  # no TL307
        return wide + q.expand(n, -1, -1, -1)  # no TL307

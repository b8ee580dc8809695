"""Selections of fixed size, fills by masks, three-argument where, one_hot with classes, sizes that are given."""

import torch
from torch import nn
from torch.nn import functional as F


class Pick(nn.Module):
    def forward(self, x, mask, gold, total):
        x = x.masked_fill(~mask, 0.0)
        x[mask] = 0.0
        y = torch.where(mask, x, -x)
        top = x.flatten().topk(4).indices
        hard = F.one_hot(gold, num_classes=10)
        long = gold.repeat_interleave(3)
        sized = torch.repeat_interleave(x, gold, dim=0, output_size=total)
        return y[0], x.flatten()[top], hard, long, sized, x[:, 1:3], x[..., None]

"""A detection loss skips images without boxes by asking the mask of them."""

import torch
from torch import nn
from torch.nn import functional as F


class BoxTerm(nn.Module):
    def forward(self, pred, gold, score):
        keep = score > 0.5
        if keep.any():  # TL102
            gap = F.l1_loss(pred, gold, reduction="none").sum(-1)
            return (gap * keep).sum() / keep.sum()
        return pred.sum() * 0.0


class Masked(nn.Module):
    def forward(self, x, mask):
        assert mask.max() <= 1  # TL102
        return x * mask if (mask > 0).all() else x.clamp(min=0) * mask  # TL102

"""Logits in, probabilities that are mixed first, clamped scores, other losses."""

import torch
from torch import nn
from torch.nn import functional as F


class Judge(nn.Module):
    def forward(self, logits, gold, share):
        right = F.binary_cross_entropy_with_logits(logits, gold)
        mixed = logits.sigmoid() * share + (1 - share) * 0.5
        soft = F.binary_cross_entropy(mixed, gold)
        plain = F.mse_loss(torch.sigmoid(logits), gold)
        return right + soft + plain + F.binary_cross_entropy(share, gold)

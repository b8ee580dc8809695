"""Counting and repeating by what the device holds, in a criterion's method."""

import torch
from torch import nn
from torch.nn import functional as F


class Balanced(nn.Module):
    def spread(self, values, counts):
        return torch.repeat_interleave(values, counts)  # TL105

    def forward(self, logits, gold):
        seen, counts = gold.unique(return_counts=True)  # TL105
        share = torch.bincount(gold, minlength=10)  # TL105
        hard = F.one_hot(gold)  # TL105
        wide = self.spread(seen, counts)
        return (
            F.cross_entropy(logits, gold, weight=1.0 / share.clamp(min=1)) + hard.float().mean() + wide.float().mean()
        )


class OfGraphs(torch.nn.Module):
    def forward(self, data):
        x, batch = data.x, data.batch
        kinds = torch.nn.functional.one_hot(data.kind)  # TL105
        alone = torch.unique(batch)  # TL105
        return x * kinds + alone.numel()

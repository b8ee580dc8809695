"""Rows of a batch are packed image by image, and a loss is taken class by class, each sorting its own errors."""

import torch
from torch import nn


class Keypoints(nn.Module):
    def __init__(self, sigmas):
        super().__init__()
        self.register_buffer("sigmas", sigmas)

    def pack(self, points, owner, most):
        packed = points.new_zeros(len(self.sigmas), most, points.shape[1])
        for i in range(packed.shape[0]):  # TL201
            mine = points[owner == i]  # TL105
            packed[i, : mine.shape[0]] = mine
        return packed

    def forward(self, points, owner, masks, pred):
        packed = self.pack(points, owner, 32)
        if masks.any():  # TL102
            return (packed[masks] - pred).square().mean()  # TL105?
        return pred.sum() * 0


def lovasz(soft, gold):
    losses = []
    for c in range(soft.shape[1]):  # TL201
        hit = (gold == c).float()
        errors, order = torch.sort((hit - soft[:, c]).abs(), descending=True)
        hit = hit[order]
        grad = 1.0 - (hit.sum() - hit.cumsum(0)) / (hit.sum() + (1.0 - hit).cumsum(0))
        grad[1:] = grad[1:] - grad[:-1]
        losses.append((errors * grad).sum())
    return torch.stack(losses).mean()


class Lovasz(nn.Module):
    def forward(self, soft, gold):
        return lovasz(soft, gold)


class Experts(nn.Module):
    def __init__(self, experts):
        super().__init__()
        self.experts = nn.ModuleList(experts)

    def forward(self, x):
        y = self.experts[0](x)
        for expert in self.experts:
            y = y + 0 * sum(p.sum() for p in expert.parameters())
        return y


class Matched(torch.nn.Module):
    def forward(self, ours, theirs):
        nearest = torch.bmm(ours, theirs.transpose(1, 2)).argmax(2)
        picked = []
        for i in range(ours.size(0)):  # TL201
            picked.append(theirs[i][nearest[i]])
        return torch.stack(picked) - ours

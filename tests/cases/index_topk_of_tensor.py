"""The number of candidates is computed on the device."""

import torch
from torch import nn


class Assign(nn.Module):
    def forward(self, cost, iou):
        dynamic_k = iou.topk(10, dim=1).values.sum(1).int().clamp(min=1)
        picks = []
        for gt in range(cost.size(0)):
            _, pos = torch.topk(cost[gt], k=dynamic_k[gt], largest=False)  # TL106
            picks.append(pos)
        return picks

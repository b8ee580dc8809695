"""A bound on the device beside a number, and two on the device."""

import torch
from torch import nn


class Clip(nn.Module):
    def forward(self, x, target):
        hi = x.detach().abs().max()
        y = torch.clamp(x, 0.0, hi)  # TL108
        z = x.clamp(min=0, max=hi)  # TL108
        w = x.clamp(max=hi)
        v = torch.clamp(x, min=-hi, max=hi)
        noise = torch.randn_like(x).normal_(std=hi)  # TL108
        return y + z + w + v + noise

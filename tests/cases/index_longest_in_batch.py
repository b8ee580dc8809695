"""The longest length of the batch cuts it, though it stands on the device."""

import torch
from torch import nn


class Packer(nn.Module):
    def longest(self, mask):
        return mask.sum(-1).max()

    def forward(self, x, mask):
        n = self.longest(mask)
        return x[:, :n] * torch.arange(n, device=x.device)[None, :, None]  # TL106?

"""A masked fill whose value stands on the device."""

import torch
from torch import nn


class Level(nn.Module):
    def forward(self, x, keep):
        return torch.masked_fill(x, ~keep, x.mean()) + x.masked_fill(keep, x.amax())  # TL108

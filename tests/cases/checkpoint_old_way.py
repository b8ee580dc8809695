"""Activations are recomputed by the older implementation, also by a partial and an alias."""

import functools

import torch
import torch.utils.checkpoint as cp
from torch import nn
from torch.utils.checkpoint import checkpoint


class Deep(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x, mask):
        for layer in self.layers:
            x = checkpoint(layer, x, mask)  # TL608
            x = cp.checkpoint(layer, x, mask, use_reentrant=True)  # TL608
        return cp.checkpoint_sequential(self.layers, 2, x)  # TL608
